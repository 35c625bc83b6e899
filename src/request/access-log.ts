/**
 * Observes requests: when a response is closed, writes a line to the access log, updates metrics
 * and ends the trace.
 */
import type { ServerResponse } from 'node:http';
import { REQUEST_LOG_MESSAGE } from '../shared/logging';
import { routeTemplate } from '../telemetry/route-templates';
import { truncateClientAddress, type RequestHead } from './forwarded-headers';
import type { RequestContext } from './request-context';
import type { Services } from './services';
import { isEventStream } from './slow-requests';

/** Maximum length of a path or operation name in the log, which clients can choose freely. */
export const MAX_LOGGED_TEXT_LENGTH = 200;

/**
 * Observes a request until its response is closed. Headers, bodies and query strings are never
 * logged, because they may contain secrets.
 */
export function observeRequest(
  request: RequestHead,
  response: ServerResponse,
  requestContext: RequestContext,
  { log, metrics, tracing, slowRequests }: Services,
): void {
  const { request: requestInfo, session } = requestContext;
  const isLogged = log.isLevelEnabled('info');
  const trace = tracing?.beginTrace(request);

  requestInfo.trace = session.trace = trace;
  const method = request.method!;
  // The path is read before the response, because Express changes the URL while it routes the
  // request.
  const path = request.url!.split('?', 1)[0]!.slice(0, MAX_LOGGED_TEXT_LENGTH);

  response.once('close', () => {
    const ms = performance.now() - requestInfo.startedAt;
    const { id, clientAddress } = requestInfo;
    const { operationName, route, viewer } = requestContext;
    const status = response.statusCode;
    const fields = {
      id,
      method,
      path,
      status,
      user: viewer?.id ?? null,
      address: truncateClientAddress(clientAddress),
      operation: operationName?.slice(0, MAX_LOGGED_TEXT_LENGTH),
      ms: Math.round(ms * 10) / 10,
      statements: session.statementCount,
    };

    if (isLogged) log.info(fields, REQUEST_LOG_MESSAGE);
    if (!isEventStream(response)) slowRequests.record(fields);

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
      context: requestContext,
      restRoute: route,
      operationName,
      durationMs: ms,
    });
  });
}
