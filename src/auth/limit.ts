/** How often one may try to sign in, counted in PostgreSQL so that all instances count together. */
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { createHash } from 'node:crypto';
import { KnownError } from '../core/errors';
import type { Database } from '../database/connection';

export class LoginLimit {
  private readonly limiter: RateLimiterPostgres;

  constructor(database: Database, { points, seconds }: { points: number; seconds: number }) {
    this.limiter = new RateLimiterPostgres({
      storeClient: database.pool,
      storeType: 'pool',
      tableName: 'login_attempt',
      tableCreated: true,
      keyPrefix: 'login',
      points,
      duration: seconds,
    });
  }

  /** Counts one attempt; TOO_MANY_REQUESTS with `retryAfter` in seconds once there were too many. */
  async count(address: string, username: string): Promise<void> {
    // A digest, because names have any length and characters.
    const key = createHash('sha256')
      .update(JSON.stringify([address, username]))
      .digest('base64url');
    try {
      await this.limiter.consume(key);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const retryAfter = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      throw new KnownError('TOO_MANY_REQUESTS', `Request was throttled. Expected available in ${retryAfter} seconds.`, { retryAfter });
    }
  }
}
