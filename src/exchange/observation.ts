/** What is told of a request once it is over: the line that the log has of it, what metrics count, and its trace. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from '../core/context';
import { REQUEST } from '../platform/logging';
import type { Route } from '../rest/routes';
import { routeOf } from '../telemetry/routes';
import type { Dependencies } from './exchange';

/** Of a path and of an operation's name, as the log has them; clients choose both. */
export const MAX_LOGGED = 200;
/** The longest IPv6 address; a zone, which follows it, may have any length. */
const MAX_ADDRESS = 45;
export const shownAddress = (address: string): string => address.slice(0, MAX_ADDRESS);

interface Observed {
  request: IncomingMessage;
  services: Pick<Dependencies, 'log' | 'metrics' | 'tracing'>;
  context: Context;
  /** By `performance.now()`. */
  began: number;
  address: string;
  /** Known by the time that it is over. */
  told: { readonly id: string; readonly operation?: string | null; readonly route?: Route };
}

/** One line a request; never a header, a body or a query, which may hold secrets. And what metrics count. */
export function observe(response: ServerResponse, { request, services, context, began, address, told }: Observed): void {
  const { log, metrics, tracing } = services;
  const isLogged = log.isLevelEnabled('info');
  const trace = tracing?.begin(request);
  context.trace = context.session.trace = trace;
  if (!isLogged && !metrics && !trace) return;
  const method = request.method!;
  // express rewrites the URL while it looks for a handler.
  const path = request.url!.split('?', 1)[0]!.slice(0, MAX_LOGGED);
  response.once('close', () => {
    const ms = performance.now() - began;
    const { viewer, session } = context;
    const { id, operation, route } = told;
    const status = response.statusCode;
    if (isLogged)
      log.info(
        {
          id,
          method,
          path,
          status,
          user: viewer?.id ?? null,
          address: shownAddress(address),
          operation: operation?.slice(0, MAX_LOGGED),
          ms: Math.round(ms * 10) / 10,
          statements: session.statements,
        },
        REQUEST,
      );
    trace?.end({
      method,
      route: routeOf(request, route),
      status,
      attributes: {
        'url.path': path,
        'client.address': shownAddress(address),
        'user.id': viewer?.id,
        'fitgraph.request.id': id,
      },
    });
    metrics?.answered({ request, response, context, rest: route, operation, ms });
  });
}
