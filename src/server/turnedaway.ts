/** Who is turned away before anything is done for them: one line of the log each, and for what wants to become a WebSocket an answer by hand. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { MAX_LOGGED } from '../exchange/observation';
import { REQUEST_ID, type Origin } from '../exchange/origin';
import { TURNED_AWAY } from '../platform/logging';

/** Nothing is known of it but what it says of itself, and who has connected. */
export function noteTurnedAway(request: IncomingMessage, why: string, origin: Origin, log: Logger): void {
  if (!log.isLevelEnabled('info')) return;
  const { method, url } = request;
  const path = url!.split('?', 1)[0]!.slice(0, MAX_LOGGED);
  const address = origin.address(request).slice(0, MAX_LOGGED);
  log.info({ id: request.headers[REQUEST_ID], method, path, status: 503, address, why }, TURNED_AWAY);
}

export function closeSocket(request: IncomingMessage, socket: Duplex): void {
  const id = String(request.headers[REQUEST_ID]);
  socket.end(`HTTP/1.1 503 Service Unavailable\r\nX-Request-Id: ${id}\r\nRetry-After: 2\r\nConnection: close\r\n\r\n`);
}
