/**
 * Rate limiter for sign-in attempts: per user name and address, per address, and in total.
 * PostgreSQL holds the counters, so that all instances share them. IPv6 addresses are grouped by
 * /64 network, which belongs to one customer.
 */
import { DatabaseError } from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { createHash } from 'node:crypto';
import type { RateLimitSetting } from '../shared/setting-parsers';
import { ClientError, InvalidInput } from '../engine/declare/errors';
import type { Database } from '../database/connection';
import { DatabaseUnavailable } from '../database/errors';
import { ConcurrencyLimiter } from '../shared/limiter';
import { MAX_QUEUED_CHECKS, MAX_QUEUE_WAIT_MS, runQueued } from './passwords';

interface LoginRates {
  /** Limit on failed and running attempts per user name and address. */
  loginRate: RateLimitSetting;

  /** Limit on failed and running attempts per address, for all user names. */
  loginRateAddress: RateLimitSetting;

  /** Limit on failed and running attempts in total. */
  loginRateTotal: RateLimitSetting;
}

const ALL_ATTEMPTS_KEY = 'all';

/** Recognises a wrong user name or password, at a sign-in or at a change of the password. */
const isCredentialError = (error: unknown): boolean =>
  error instanceof InvalidInput ||
  (error instanceof ClientError && error.extensions.code === 'UNAUTHENTICATED');

export class LoginRateLimiter {
  private readonly usernameLimiter: RateLimiterPostgres;
  private readonly addressLimiter: RateLimiterPostgres;
  private readonly totalLimiter: RateLimiterPostgres;
  private readonly attemptLimiter = new ConcurrencyLimiter<string>({
    slots: Infinity,
    slotsPerClient: 1,
    maxQueuedPerClient: MAX_QUEUED_CHECKS,
    maxWaitMs: MAX_QUEUE_WAIT_MS,
  });

  /** Attempts rejected without checking the password. */
  rejectedAttemptCount = 0;

  constructor(database: Database, { loginRate, loginRateAddress, loginRateTotal }: LoginRates) {
    const createLimiter = (keyPrefix: string, { points, seconds }: RateLimitSetting) =>
      new RateLimiterPostgres({
        storeClient: database.pool,
        storeType: 'pool',
        tableName: 'login_attempt',
        tableCreated: true,
        keyPrefix,
        points,
        duration: seconds,
      });

    this.usernameLimiter = createLimiter('login', loginRate);
    this.addressLimiter = createLimiter('login-address', loginRateAddress);
    this.totalLimiter = createLimiter('login-total', loginRateTotal);
  }

  /**
   * Runs a sign-in, or throws TOO_MANY_REQUESTS with `retryAfter` in seconds. The attempts of one
   * address run one after the other: each counts as failed until it has succeeded, so many at once
   * would exceed the limits although all passwords are right.
   */
  attemptSignIn<T>(address: string, username: string, signIn: () => Promise<T>): Promise<T> {
    return runQueued(this.attemptLimiter, address, () =>
      this.attemptUnqueued(address, username, signIn),
    );
  }

  /** Like `attemptSignIn`, for a sign-in that waits for another server and would block the queue. */
  async attemptUnqueued<T>(
    address: string,
    username: string,
    signIn: () => Promise<T>,
  ): Promise<T> {
    // The counter's key is a hash, because user names can have any length and any characters.
    const addressAndNameKey = createHash('sha256')
      .update(JSON.stringify([address, username]))
      .digest('base64url');
    const refunds: (() => Promise<unknown>)[] = [];
    // Removes an attempt from the counters. Successful attempts do not count, because many people
    // may share an address; nor do attempts beyond a limit. If the database fails during the
    // removal, the attempt counts.
    const refundAll = () => Promise.allSettled(refunds.map((refund) => refund()));

    const consume = async (limiter: RateLimiterPostgres, key: string) => {
      refunds.push(() => limiter.reward(key));
      await limiter.consume(key);
    };

    try {
      await consume(this.addressLimiter, address);
      await consume(this.usernameLimiter, addressAndNameKey);
      await consume(this.totalLimiter, ALL_ATTEMPTS_KEY);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) {
        throw error instanceof DatabaseError ? error : new DatabaseUnavailable(error);
      }

      await refundAll();
      this.rejectedAttemptCount += 1;
      const retryAfter = Math.max(1, Math.ceil(error.msBeforeNext / 1000));

      throw new ClientError(
        'TOO_MANY_REQUESTS',
        `Request was throttled. Expected available in ${retryAfter} seconds.`,
        { retryAfter },
      );
    }

    try {
      const result = await signIn();

      await refundAll();
      return result;
    } catch (error) {
      // Other errors do not count, because they do not reveal whether the password is right.
      if (!isCredentialError(error)) await refundAll();
      throw error;
    }
  }
}
