/**
 * Rate limit by query cost: a leaky bucket per signed-in user and per network of anonymous clients, in the units of `core/operation/cost.ts`. An
 * operation reserves its estimated cost before it runs; afterwards the actual cost is charged. Each instance decides by the buckets in its memory.
 * Instances periodically exchange the spent cost through the database, in one statement for all buckets and outside of requests.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Context, RateBudget, BudgetState, CostReservation } from '../core/context';
import { BYTES_PER_COST_UNIT } from '../core/operation/argumentcost';
import type { OperationCost } from '../core/operation/cost';
import type { Database } from '../database/connection';
import type { DatabaseSession } from '../database/session';
import { CAPACITY_SECONDS, LeakyBucket } from './leakybucket';

/** Cost units per second that leak out of a rate-limit bucket, by kind of client. */
export interface CostRates {
  readonly user: number;
  readonly anonymous: number;
}

const MAX_BUCKETS = 50_000;
const COST_SHARING_INTERVAL_MS = 5_000;
/** Minimum cost that is reported to the other instances, as a fraction of the capacity of its bucket. */
const MIN_REPORTED_COST_FRACTION = 0.01;
const STORED_BUCKET_RETENTION = '1 hour';
const COST_PER_STATEMENT = 5;
/** Cost of a row that was read. It is more than that of an object of the response, because a row usually has more than ten fields. */
const COST_PER_ROW = 2;
/**
 * Cost of an object of the response. A response may have more objects than rows were read, for example one language repeated in a list. The higher of
 * the two costs is charged.
 */
const COST_PER_OBJECT = 1;
/**
 * Price of database time beyond FREE_DATABASE_MS_PER_STATEMENT per statement: one second costs as much as leaks out of its bucket in this number of
 * seconds.
 */
const DATABASE_TIME_COST_FACTOR = 2;
const FREE_DATABASE_MS_PER_STATEMENT = 20;
/** Maximum time for which an operation waits for the reservations of running operations to be replaced by their actual cost. */
const MAX_SETTLEMENT_WAIT_MS = 5_000;
/**
 * Price of time in which a request blocks all others (parsing, validation): one second costs as much as leaks out of its bucket in this number of seconds.
 */
const BLOCKING_TIME_COST_FACTOR = 5;

/**
 * Charges the cost of one request to the bucket of its user or network. The bucket is determined at the first charge, because the user is not known
 * before authentication.
 */
class RequestBudget implements RateBudget {
  private bucket?: LeakyBucket;
  private chargedCost = 0;
  private unsettledCost = 0;

  constructor(
    private readonly limiter: CostLimiter,
    private readonly findBucket: () => LeakyBucket,
    private readonly session: DatabaseSession,
  ) {}

  async reserve({
    total: estimatedTotal,
    nonRefundableCost = 0,
  }: OperationCost): Promise<CostReservation> {
    const bucket = (this.bucket ??= this.findBucket());
    // Within a transaction, an operation does not wait until its bucket has room, because other requests would then wait for its connection and locks.
    const maxWaitMs = this.session.isInTransaction ? 0 : MAX_SETTLEMENT_WAIT_MS;
    const reservedCost = await bucket
      .reserve(estimatedTotal, this.chargedCost, this.unsettledCost, maxWaitMs)
      .catch(this.countRejectionAndRethrow);
    this.chargedCost += estimatedTotal;
    this.unsettledCost += reservedCost;
    const usedCostOf = this.measureUse(bucket);
    return {
      settle: (objectCount = 0) => {
        const usedCost = nonRefundableCost + usedCostOf(objectCount);
        bucket.settle(reservedCost, usedCost);
        this.unsettledCost -= reservedCost;
        this.chargedCost += usedCost - estimatedTotal;
      },
    };
  }

  beginUnreserved(): CostReservation {
    const usedCostOf = this.measureUse((this.bucket ??= this.findBucket()));
    return { settle: (objectCount = 0) => this.spend(usedCostOf(objectCount)) };
  }

  /** Returns a function that computes the cost of what the session has used since this call. */
  private measureUse({ rate }: LeakyBucket): (objectCount: number) => number {
    const { statementCount: initialStatementCount, rowCount, statementMs } = this.session;
    return (objectCount) => {
      const statementCount = this.session.statementCount - initialStatementCount;
      const databaseMs = this.session.statementMs - statementMs;
      const excessDatabaseMs = Math.max(
        0,
        databaseMs - statementCount * FREE_DATABASE_MS_PER_STATEMENT,
      );
      const costOfReads = Math.max(
        (this.session.rowCount - rowCount) * COST_PER_ROW,
        objectCount * COST_PER_OBJECT,
      );
      return (
        statementCount * COST_PER_STATEMENT +
        costOfReads +
        (excessDatabaseMs / 1000) * DATABASE_TIME_COST_FACTOR * rate
      );
    };
  }

  chargeResponseBytes(bytes: number): void {
    this.spend(bytes / BYTES_PER_COST_UNIT);
  }

  chargeMilliseconds(ms: number): void {
    this.bucket ??= this.findBucket();
    this.spend((ms / 1000) * BLOCKING_TIME_COST_FACTOR * this.bucket.rate);
  }

  /** Charges cost that has already been caused, even beyond the capacity. An overdrawn bucket delays later operations. */
  private spend(cost: number): void {
    (this.bucket ??= this.findBucket()).spend(cost);
    this.chargedCost += cost;
  }

  requireRemainingBudget(): void {
    this.bucket ??= this.findBucket();
    try {
      this.bucket.requireCapacity();
    } catch (error) {
      this.countRejectionAndRethrow(error);
    }
  }

  private readonly countRejectionAndRethrow = (error: unknown): never => {
    this.limiter.rejectedCount += 1;
    throw error;
  };

  get budgetState(): BudgetState | undefined {
    if (!this.bucket) return undefined;
    const { capacity, rate } = this.bucket;
    const level = this.bucket.currentLevel();
    return {
      cost: Math.ceil(this.chargedCost),
      limit: capacity,
      remaining: Math.max(0, Math.floor(capacity - level)),
      resetSeconds: Math.ceil(level / rate),
    };
  }
}

/** Returns the RateLimit headers (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/). */
export function rateLimitHeaders(budget: RateBudget | undefined): Record<string, string> {
  const bucketState = budget?.budgetState;
  if (!bucketState) return {};
  const { cost, limit, remaining, resetSeconds: seconds } = bucketState;
  // `c`, the cost of this request, is a custom parameter, which the draft permits.
  return {
    'RateLimit-Policy': `"cost";q=${limit};w=${CAPACITY_SECONDS}`,
    RateLimit: `"cost";r=${remaining};t=${seconds};c=${cost}`,
  };
}

/**
 * SQL: for each bucket, subtracts from the stored level what has leaked since its last update, and adds what this instance has spent or refunded. The stored
 * level is read when its row is locked, so that concurrent statements of several instances add up. They lock the rows in the same order.
 */
const SHARE_SPENT_COST_SQL = `WITH spending AS (SELECT * FROM unnest($1::text[], $2::float8[], $3::float8[]) AS x("key", "spent", "rate"))
  INSERT INTO "budget" AS b ("key", "level", "rate")
    SELECT t."key", greatest(0, t."spent"), t."rate"
    FROM spending t ORDER BY t."key"
  ON CONFLICT ("key") DO UPDATE SET "rate" = EXCLUDED."rate", "at" = now(),
    "level" = greatest(0, (SELECT s."spent" FROM spending s WHERE s."key" = b."key") + greatest(0, b."level" - extract(epoch FROM now() - b."at") * b."rate"))
  RETURNING "key", "level"`;

export class CostLimiter {
  private readonly buckets = new LRUCache<string, LeakyBucket>({ max: MAX_BUCKETS });
  private costSharingTimer?: NodeJS.Timeout;
  /** Number of operations that were rejected because their estimated cost could not be reserved, for metrics. */
  rejectedCount = 0;

  /** `rates`: cost units per second, by kind of client. If undefined, the cost of operations is not limited. */
  constructor(
    private readonly database: Database,
    private readonly rates: CostRates | undefined,
    private readonly log: Logger,
  ) {}

  start(): void {
    if (!this.rates) return;
    const shareSpentCostOrWarn = () =>
      this.shareSpentCost().catch((error) =>
        this.log.warn({ err: error }, 'sharing budgets with other instances failed'),
      );
    this.costSharingTimer = setInterval(
      () => void shareSpentCostOrWarn(),
      COST_SHARING_INTERVAL_MS,
    ).unref();
  }

  stop(): void {
    clearInterval(this.costSharingTimer);
  }

  get bucketCount(): number {
    return this.buckets.size;
  }

  /** Returns the budget of a request; undefined if there is no limit. */
  budgetFor(context: Context, clientNetwork: string): RateBudget | undefined {
    const { rates } = this;
    if (!rates) return undefined;
    return new RequestBudget(
      this,
      () => {
        const { viewer } = context;
        return viewer
          ? this.getOrCreateBucket(`user ${viewer.id}`, rates.user)
          : this.getOrCreateBucket(`from ${clientNetwork}`, rates.anonymous);
      },
      context.session,
    );
  }

  private getOrCreateBucket(key: string, rate: number): LeakyBucket {
    let bucket = this.buckets.get(key);
    if (!bucket) this.buckets.set(key, (bucket = new LeakyBucket(rate)));
    return bucket;
  }

  /** Exchanges the spent cost with the other instances. If the exchange fails, the cost is shared at the next attempt. */
  async shareSpentCost(): Promise<void> {
    const changedBuckets = [...this.buckets].filter(
      ([, { unreportedCost, capacity }]) =>
        Math.abs(unreportedCost) > capacity * MIN_REPORTED_COST_FRACTION,
    );
    if (!changedBuckets.length) return;
    const spentCosts = changedBuckets.map(([, bucket]) => bucket.unreportedCost);
    for (const [, bucket] of changedBuckets) bucket.unreportedCost = 0;
    const values = [
      changedBuckets.map(([key]) => key),
      spentCosts,
      changedBuckets.map(([, { rate }]) => rate),
    ];
    const rows = await this.database.queryAsServer(SHARE_SPENT_COST_SQL, values).catch((error) => {
      changedBuckets.forEach(([, bucket], index) => (bucket.unreportedCost += spentCosts[index]!));
      throw error;
    });
    const levelByKey = new Map(
      (rows as { key: string; level: number }[]).map(({ key, level }) => [key, level]),
    );
    for (const [key, bucket] of changedBuckets) bucket.adoptSharedLevel(levelByKey.get(key)!);
    await this.database.queryAsServer(
      `DELETE FROM "budget" WHERE "at" < now() - interval '${STORED_BUCKET_RETENTION}'`,
    );
  }
}
