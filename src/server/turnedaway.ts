/** Reporting of requests rejected by admission control: their access-log line, and the raw 503 response to a WebSocket handshake. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { MAX_LOGGED } from '../exchange/observation';
import { REQUEST_ID, type Origin } from '../exchange/origin';
import { TURNED_AWAY } from '../platform/logging';

/** Logs one line. Rejected requests are not authenticated, so only method, path and client address are known. */
export function noteTurnedAway(request: IncomingMessage, reason: string, origin: Origin, log: Logger): void {
  if (!log.isLevelEnabled('info')) return;
  const { method, url } = request;
  const path = url!.split('?', 1)[0]!.slice(0, MAX_LOGGED);
  const address = origin.address(request).slice(0, MAX_LOGGED);
  log.info({ id: request.headers[REQUEST_ID], method, path, status: 503, address, why: reason }, TURNED_AWAY);
}

export function closeSocket(request: IncomingMessage, socket: Duplex): void {
  const id = String(request.headers[REQUEST_ID]);
  socket.end(`HTTP/1.1 503 Service Unavailable\r\nX-Request-Id: ${id}\r\nRetry-After: 2\r\nConnection: close\r\n\r\n`);
}
