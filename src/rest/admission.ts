/** Who may call which route, and with which methods. */
import { notAllowed, notPermitted, notSignedIn } from './errors';
import type { Request } from './request';
import type { Route } from './routes';

/** Methods that change nothing. */
export const SAFE = ['GET', 'HEAD', 'OPTIONS'];

/** Who may call a route at all, and with which methods. */
export function admit(route: Route, { method, signedIn, exchange }: Pick<Request, 'method' | 'signedIn' | 'exchange'>): void {
  if ('endpoint' in route && route.kind !== 'free') {
    const { view, resource } = route.endpoint;
    if (resource.owned && !signedIn) throw notSignedIn();
    if (view.permits && !SAFE.includes(method)) {
      if (!signedIn) throw notSignedIn();
      if (!view.permits.includes(method)) throw notPermitted();
    }
    const changes = !SAFE.includes(method);
    const refused = (resource.owned || changes) && resource.group && exchange.lacking?.(resource.group, changes ? 'write' : 'read');
    if (refused) throw refused;
  }
  if (!route.allow.includes(method)) throw notAllowed(method);
}

/** Whether the route knows the method and lets people who are signed in use it. */
export const may = (route: Route, method: string): boolean =>
  route.allow.includes(method) &&
  !('endpoint' in route && route.kind !== 'free' && !(route.endpoint.view.permits?.includes(method) ?? true));
