/** Rejects WebSocket handshakes. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { REQUEST_ID_HEADER } from './forwarded-headers';

type RejectionStatus =
  | '400 Bad Request'
  | '403 Forbidden'
  | '404 Not Found'
  | '426 Upgrade Required'
  | '503 Service Unavailable';

/** Time for a client to receive the rejection before the connection is closed. */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Rejects a WebSocket handshake and closes the connection, to which the timeouts of Node's HTTP
 * server no longer apply.
 */
export function rejectWebSocketHandshake(
  request: IncomingMessage,
  socket: Duplex,
  status: RejectionStatus,
): void {
  const headers = [
    `X-Request-Id: ${String(request.headers[REQUEST_ID_HEADER])}`,
    'Connection: close',
  ];

  if (status.startsWith('426')) headers.push('Upgrade: websocket');
  if (status.startsWith('503')) headers.push('Retry-After: 2');
  const closeTimer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS).unref();

  socket.once('close', () => clearTimeout(closeTimer));
  socket.end(`HTTP/1.1 ${status}\r\n${headers.join('\r\n')}\r\n\r\n`, () => socket.destroy());
}
