/**
 * How often one may try to sign in: with one name from one address, from one address with whatever names, and over all. Counted in
 * PostgreSQL, so that all instances count together. An address of IPv6 is its /64 network, which is one customer's.
 */
import { DatabaseError } from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { createHash } from 'node:crypto';
import type { Rate } from '../platform/environment';
import { KnownError } from '../core/model/errors';
import type { Database } from '../database/connection';
import { Unavailable } from '../database/refusals';

export interface LoginRates {
  /** Tries with one name from one address that failed or still run. */
  loginRate: Rate;
  /** The same from one address with whatever names. */
  loginRateAddress: Rate;
  /** The same from everywhere. */
  loginRateTotal: Rate;
}

const EVERYWHERE = 'all';

export class LoginLimit {
  private readonly name: RateLimiterPostgres;
  private readonly address: RateLimiterPostgres;
  private readonly total: RateLimiterPostgres;
  /** Tries that were not even looked at. */
  refused = 0;

  constructor(database: Database, { loginRate, loginRateAddress, loginRateTotal }: LoginRates) {
    const limiter = (keyPrefix: string, { points, seconds }: Rate) =>
      new RateLimiterPostgres({
        storeClient: database.pool,
        storeType: 'pool',
        tableName: 'login_attempt',
        tableCreated: true,
        keyPrefix,
        points,
        duration: seconds,
      });
    this.name = limiter('login', loginRate);
    this.address = limiter('login-address', loginRateAddress);
    this.total = limiter('login-total', loginRateTotal);
  }

  /** Runs a try if there may be one more; TOO_MANY_REQUESTS with `retryAfter` in seconds once there were too many. */
  async attempt<T>(address: string, username: string, signIn: () => Promise<T>): Promise<T> {
    // A digest, because names have any length and characters.
    const name = createHash('sha256')
      .update(JSON.stringify([address, username]))
      .digest('base64url');
    const counted: (() => Promise<unknown>)[] = [];
    // Whoever signs in, or is refused here, has guessed nothing: many people may do so behind one address.
    const giveBack = () => Promise.all(counted.map((give) => give()));
    try {
      counted.push(() => this.address.reward(address));
      await this.address.consume(address);
      await this.name.consume(name);
      counted.push(() => this.total.reward(EVERYWHERE));
      await this.total.consume(EVERYWHERE);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error instanceof DatabaseError ? error : new Unavailable(error);
      await giveBack();
      this.refused += 1;
      const retryAfter = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      throw new KnownError('TOO_MANY_REQUESTS', `Request was throttled. Expected available in ${retryAfter} seconds.`, { retryAfter });
    }
    const result = await signIn();
    await Promise.all([giveBack(), this.name.reward(name)]);
    return result;
  }
}
