/** Says in the log when a secret crossed the network in clear text. */
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Config } from '../platform/config';
import type { Origin } from './origin';

/** One line tells the operator; one for each request would only fill the disk. */
const PAUSE_MS = 60_000;

export class Exposure {
  private warned = -Infinity;

  constructor(
    private readonly config: Pick<Config, 'production'>,
    private readonly origin: Origin,
    private readonly log: Logger,
  ) {}

  /** Call it where a token or a password has arrived. */
  check(request: IncomingMessage): void {
    if (!this.config.production || this.origin.isPrivate(request)) return;
    const now = performance.now();
    if (now - this.warned < PAUSE_MS) return;
    this.warned = now;
    this.log.warn(
      { address: this.origin.address(request) },
      'a token or password came over plain HTTP from another host: serve https with TLS_CERT and TLS_KEY, or name the proxy that does in TRUSTED_PROXIES',
    );
  }
}
