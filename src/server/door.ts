/** Requests that are refused before they are begun, because there is no time for them: counted, and one line of the log each. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { MAX_LOGGED } from '../exchange/observation';
import { REQUEST_ID, type Origin } from '../exchange/origin';
import { TURNED_AWAY } from '../platform/logging';

export type Why = 'pressure' | 'late' | 'leaving';

export class Door {
  /** How many, by the reason. */
  readonly turnedAway: Record<Why, number> = { pressure: 0, late: 0, leaving: 0 };

  constructor(
    private readonly origin: Origin,
    private readonly log: Logger,
  ) {}

  /** Nothing is known of it but what it says of itself, and who has connected. */
  turnAway(request: IncomingMessage, why: Why): void {
    this.turnedAway[why] += 1;
    if (!this.log.isLevelEnabled('info')) return;
    const { method, url } = request;
    const path = url!.split('?', 1)[0]!.slice(0, MAX_LOGGED);
    const address = this.origin.address(request).slice(0, MAX_LOGGED);
    this.log.info({ id: request.headers[REQUEST_ID], method, path, status: 503, address, why }, TURNED_AWAY);
  }

  /** The same for one that wants to become a WebSocket. */
  close(request: IncomingMessage, socket: Duplex, why: Why): void {
    this.turnAway(request, why);
    const id = String(request.headers[REQUEST_ID]);
    socket.end(`HTTP/1.1 503 Service Unavailable\r\nX-Request-Id: ${id}\r\nRetry-After: 2\r\nConnection: close\r\n\r\n`);
  }
}
