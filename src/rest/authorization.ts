/** Authorization of REST requests: which client may call a route, and with which HTTP methods. */
import { methodNotAllowedError, notPermittedError, notSignedInError } from './errors';
import type { RestRequest } from './request';
import { READ_METHODS, type Route } from './routes';

export function authorizeRequest(
  route: Route,
  { method, isSignedIn, context }: Pick<RestRequest, 'method' | 'isSignedIn' | 'context'>,
): void {
  if (route.endpoint) {
    const { view, resource } = route.endpoint;
    const isWrite = !READ_METHODS.includes(method);
    const permittedMethods = isWrite ? view.permittedMethods : undefined;

    if ((resource.isOwned || permittedMethods) && !isSignedIn) throw notSignedInError();
    if (permittedMethods && !permittedMethods.includes(method)) throw notPermittedError();
    const accessError =
      (resource.isOwned || isWrite) &&
      resource.scopeGroup &&
      context.authentication.missingScopeError(resource.scopeGroup, isWrite ? 'write' : 'read');

    if (accessError) throw accessError;
  }

  if (!route.allowedMethods.includes(method)) throw methodNotAllowedError(method);
}

/** Whether a route supports an HTTP method and permits it to signed-in users. */
export const permitsMethod = ({ allowedMethods, endpoint }: Route, method: string): boolean =>
  allowedMethods.includes(method) && (endpoint?.view.permittedMethods?.includes(method) ?? true);
