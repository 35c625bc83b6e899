/**
 * Logs a warning in production if credentials arrive in clear text: over plain HTTP from another
 * host.
 */
import type { Logger } from 'pino';
import type { Config } from '../shared/config';
import type { ForwardedHeaders, RequestHead } from './forwarded-headers';

const WARNING_INTERVAL_MS = 60_000;

export class ClearTextWarning {
  private lastWarningAt = -Infinity;

  constructor(
    private readonly config: Pick<Config, 'production'>,
    private readonly forwardedHeaders: ForwardedHeaders,
    private readonly log: Logger,
  ) {}

  /**
   * Logs the warning if the request was sent in clear text. Called wherever a token or password is
   * received.
   */
  warnIfClearText(request: RequestHead): void {
    if (!this.config.production || this.forwardedHeaders.isEncryptedOrLocal(request)) return;
    const now = performance.now();

    if (now - this.lastWarningAt < WARNING_INTERVAL_MS) return;
    this.lastWarningAt = now;
    this.log.warn(
      { address: this.forwardedHeaders.clientAddress(request) },
      'received a token or password over plain HTTP from another host: enable HTTPS with TLS_CERT and TLS_KEY, or list the HTTPS proxy in TRUSTED_PROXIES',
    );
  }
}
