/** Observability of requests: when a response is closed, writes a line to the access log, updates metrics and ends the trace. */
import type { ServerResponse } from 'node:http';
import { REQUEST_LOG_MESSAGE } from '../platform/logging';
import { routeTemplate } from '../telemetry/routetemplates';
import type { RequestHead } from './forwardedheaders';
import type { RequestContext } from './requestcontext';
import type { Services } from './services';

/** Maximum number of characters of a path or an operation name in the log. Clients can choose both freely. */
export const MAX_LOGGED_TEXT_LENGTH = 200;
/** Maximum length of a logged client address: that of the longest IPv6 address, without its zone, which may have any length. */
const MAX_ADDRESS_LENGTH = 45;
export const truncateClientAddress = (address: string): string =>
  address.slice(0, MAX_ADDRESS_LENGTH);

/** Observes a request until its response is closed. The access log never contains headers, bodies or query strings, because they may contain secrets. */
export function logAndMeasureRequest(
  request: RequestHead,
  response: ServerResponse,
  requestContext: RequestContext,
  { log, metrics, tracing }: Pick<Services, 'log' | 'metrics' | 'tracing'>,
): void {
  const { requestInfo, resolverContext } = requestContext;
  const isLogged = log.isLevelEnabled('info');
  const trace = tracing?.beginTrace(request);
  requestInfo.trace = resolverContext.session.trace = trace;
  if (!isLogged && !metrics && !trace) return;
  const method = request.method!;
  // The path is read now instead of after the response, because Express changes the URL while it routes the request.
  const path = request.url!.split('?', 1)[0]!.slice(0, MAX_LOGGED_TEXT_LENGTH);
  response.once('close', () => {
    const ms = performance.now() - requestInfo.startedAt;
    const { viewer, session } = resolverContext;
    const { id, clientAddress } = requestInfo;
    const { operationName, route } = requestContext;
    const status = response.statusCode;
    if (isLogged)
      log.info(
        {
          id,
          method,
          path,
          status,
          user: viewer?.id ?? null,
          address: truncateClientAddress(clientAddress),
          operation: operationName?.slice(0, MAX_LOGGED_TEXT_LENGTH),
          ms: Math.round(ms * 10) / 10,
          statements: session.statementCount,
        },
        REQUEST_LOG_MESSAGE,
      );
    trace?.end({
      method,
      route: routeTemplate(request, route),
      status,
      attributes: {
        'url.path': path,
        'client.address': truncateClientAddress(clientAddress),
        'user.id': viewer?.id,
        'fitgraph.request.id': id,
      },
    });
    metrics?.recordResponse({
      request,
      response,
      context: resolverContext,
      restRoute: route,
      operationName,
      durationMs: ms,
    });
  });
}
