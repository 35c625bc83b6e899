/** Rejection of requests before they are handled: the line in the access log, and the response to a WebSocket handshake. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { MAX_LOGGED_TEXT_LENGTH } from '../request/accesslog';
import { REQUEST_ID_HEADER, type ClientOrigin } from '../request/clientorigin';
import { REJECTED_REQUEST_LOG_MESSAGE } from '../platform/logging';

/** Writes a line to the access log. The user is unknown, because rejected requests are not authenticated. */
export function logRejectedRequest(request: IncomingMessage, reason: string, clientOrigin: ClientOrigin, log: Logger): void {
  if (!log.isLevelEnabled('info')) return;
  const { method, url } = request;
  const path = url!.split('?', 1)[0]!.slice(0, MAX_LOGGED_TEXT_LENGTH);
  const address = clientOrigin.clientAddress(request).slice(0, MAX_LOGGED_TEXT_LENGTH);
  log.info({ id: request.headers[REQUEST_ID_HEADER], method, path, status: 503, address, reason }, REJECTED_REQUEST_LOG_MESSAGE);
}

export function rejectWebSocketHandshake(
  request: IncomingMessage,
  socket: Duplex,
  status: '403 Forbidden' | '503 Service Unavailable',
): void {
  const headers = [`X-Request-Id: ${String(request.headers[REQUEST_ID_HEADER])}`, 'Connection: close'];
  if (status.startsWith('503')) headers.push('Retry-After: 2');
  socket.end(`HTTP/1.1 ${status}\r\n${headers.join('\r\n')}\r\n\r\n`);
}
