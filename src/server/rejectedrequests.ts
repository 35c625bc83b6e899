/** Lines in the access log about requests that are rejected before they are handled. */
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { MAX_LOGGED_TEXT_LENGTH } from '../request/accesslog';
import { REQUEST_ID_HEADER, type ForwardedHeaders } from '../request/forwardedheaders';
import { REJECTED_REQUEST_LOG_MESSAGE } from '../platform/logging';

/** Writes a line to the access log. The user is unknown, because rejected requests are not authenticated. */
export function logRejectedRequest(request: IncomingMessage, reason: string, forwardedHeaders: ForwardedHeaders, log: Logger): void {
  if (!log.isLevelEnabled('info')) return;
  const { method, url } = request;
  const path = url!.split('?', 1)[0]!.slice(0, MAX_LOGGED_TEXT_LENGTH);
  const address = forwardedHeaders.clientAddress(request).slice(0, MAX_LOGGED_TEXT_LENGTH);
  log.info({ id: request.headers[REQUEST_ID_HEADER], method, path, status: 503, address, reason }, REJECTED_REQUEST_LOG_MESSAGE);
}
