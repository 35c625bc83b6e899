/** Observability of a request: when its response closes, writes the access log, updates metrics and ends its trace. */
import type { ServerResponse } from 'node:http';
import type { Context } from '../core/context';
import { REQUEST_MESSAGE } from '../platform/logging';
import type { Route } from '../rest/routes';
import { routeTemplate } from '../telemetry/routetemplates';
import type { RequestHead } from './clientorigin';
import type { RequestServices } from './requestcontext';

/** Maximum length in the log of a path or an operation name, which clients choose. */
export const MAX_LOGGED_LENGTH = 200;
/** Length of the longest IPv6 address without its zone, which may have any length. */
const MAX_ADDRESS_LENGTH = 45;
export const truncateAddress = (address: string): string => address.slice(0, MAX_ADDRESS_LENGTH);

interface ObservedRequest {
  request: RequestHead;
  services: Pick<RequestServices, 'log' | 'metrics' | 'tracing'>;
  context: Context;
  /** By `performance.now()`. */
  startedAt: number;
  address: string;
  /** Read when the response closes. */
  result: { readonly id: string; readonly operation?: string | null; readonly route?: Route };
}

/** Registers the observers. The access log never contains headers, bodies or query strings, which may hold secrets. */
export function observeRequest(
  response: ServerResponse,
  { request, services, context, startedAt, address, result }: ObservedRequest,
): void {
  const { log, metrics, tracing } = services;
  const isLogged = log.isLevelEnabled('info');
  const trace = tracing?.begin(request);
  context.trace = context.session.trace = trace;
  if (!isLogged && !metrics && !trace) return;
  const method = request.method!;
  // Read now, because Express rewrites the URL while routing.
  const path = request.url!.split('?', 1)[0]!.slice(0, MAX_LOGGED_LENGTH);
  response.once('close', () => {
    const ms = performance.now() - startedAt;
    const { viewer, session } = context;
    const { id, operation, route } = result;
    const status = response.statusCode;
    if (isLogged)
      log.info(
        {
          id,
          method,
          path,
          status,
          user: viewer?.id ?? null,
          address: truncateAddress(address),
          operation: operation?.slice(0, MAX_LOGGED_LENGTH),
          ms: Math.round(ms * 10) / 10,
          statements: session.statements,
        },
        REQUEST_MESSAGE,
      );
    trace?.end({
      method,
      route: routeTemplate(request, route),
      status,
      attributes: {
        'url.path': path,
        'client.address': truncateAddress(address),
        'user.id': viewer?.id,
        'fitgraph.request.id': id,
      },
    });
    metrics?.answered({ request, response, context, rest: route, operation, ms });
  });
}
