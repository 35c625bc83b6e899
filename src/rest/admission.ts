/** Who may call which route, and with which methods. */
import { notAllowed, notPermitted, notSignedIn } from './errors';
import type { Request } from './request';
import { SAFE, type Route } from './routes';

export function admit(route: Route, { method, signedIn, exchange }: Pick<Request, 'method' | 'signedIn' | 'exchange'>): void {
  if (route.endpoint) {
    const { view, resource } = route.endpoint;
    const changes = !SAFE.includes(method);
    const permits = changes ? view.permits : undefined;
    if ((resource.owned || permits) && !signedIn) throw notSignedIn();
    if (permits && !permits.includes(method)) throw notPermitted();
    const refused = (resource.owned || changes) && resource.group && exchange.lacking?.(resource.group, changes ? 'write' : 'read');
    if (refused) throw refused;
  }
  if (!route.allow.includes(method)) throw notAllowed(method);
}

/** Whether the route knows the method and lets people who are signed in use it. */
export const may = ({ allow, endpoint }: Route, method: string): boolean =>
  allow.includes(method) && (endpoint?.view.permits?.includes(method) ?? true);
