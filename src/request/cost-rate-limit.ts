/**
 * Rate limit by query cost: a leaky bucket per signed-in user and per anonymous network. An
 * operation reserves its estimated cost and is charged its actual cost afterwards. Each instance
 * decides by the buckets in its own memory. The instances exchange their spent cost through the
 * database.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Context, RateBudget, BudgetState, CostReservation } from '../engine/context';
import { BYTES_PER_COST_UNIT } from '../engine/execution/argument-cost';
import type { OperationCost } from '../engine/execution/cost';
import type { Database } from '../database/connection';
import type { Row } from '../database/rows';
import type { DatabaseSession } from '../database/session';
import { BUCKET_CAPACITY_SECONDS, LeakyBucket } from './leaky-bucket';

/** Cost units per second that leak out of a bucket, by kind of client. */
export interface CostRates {
  readonly user: number;
  readonly anonymous: number;
}

const MAX_BUCKETS = 50_000;
const COST_SHARING_INTERVAL_MS = 5_000;

/** Minimum cost to report to other instances, as a fraction of the capacity of its bucket. */
const MIN_REPORTED_COST_FRACTION = 0.01;
const STORED_BUCKET_RETENTION = '1 hour';
const COST_PER_STATEMENT = 5;

/**
 * Cost of a row that was read. It exceeds COST_PER_OBJECT, because a row usually has more than ten
 * fields.
 */
const COST_PER_ROW = 2;

/**
 * Cost of an object in the response, which may repeat a row (such as a language in a list). The
 * higher of the costs of rows and objects is charged.
 */
const COST_PER_OBJECT = 1;

/**
 * Price of database time beyond FREE_DATABASE_MS_PER_STATEMENT: one second costs as much as leaks
 * out of the bucket in this number of seconds.
 */
const DATABASE_TIME_COST_FACTOR = 2;
const FREE_DATABASE_MS_PER_STATEMENT = 20;

/**
 * Maximum time that an operation waits until running operations have replaced their reservations by
 * their actual cost.
 */
const MAX_SETTLEMENT_WAIT_MS = 5_000;

/**
 * Price of time that blocks all other requests (parsing, validation): one second costs as much as
 * leaks out of the bucket in this number of seconds.
 */
const BLOCKING_TIME_COST_FACTOR = 5;

/**
 * Charges the cost of one request to the bucket of its user or network. The bucket is determined at
 * the first charge, because the user is known only after authentication.
 */
class RequestBudget implements RateBudget {
  private bucket?: LeakyBucket;
  private chargedCost = 0;
  private unsettledCost = 0;

  constructor(
    private readonly limiter: CostRateLimiter,
    private readonly findBucket: () => LeakyBucket,
    private readonly session: DatabaseSession,
  ) {}

  async reserve({
    total: estimatedTotal,
    nonRefundableCost = 0,
  }: OperationCost): Promise<CostReservation> {
    const bucket = (this.bucket ??= this.findBucket());
    // Within a transaction, an operation does not wait for capacity of its bucket, because other
    // requests would wait for its connection and locks.
    const maxWaitMs = this.session.isInTransaction ? 0 : MAX_SETTLEMENT_WAIT_MS;
    const reservedCost = await bucket
      .reserve(estimatedTotal, this.chargedCost, this.unsettledCost, maxWaitMs)
      .catch(this.countRejectionAndRethrow);

    this.chargedCost += estimatedTotal;
    this.unsettledCost += reservedCost;
    const usedCostOf = this.measureUsage(bucket);

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
    const usedCostOf = this.measureUsage((this.bucket ??= this.findBucket()));

    return { settle: (objectCount = 0) => this.spend(usedCostOf(objectCount)) };
  }

  /**
   * Starts to measure usage. Returns a function that computes the cost of what the session has used
   * since.
   */
  private measureUsage({ rate }: LeakyBucket): (objectCount: number) => number {
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

  /**
   * Charges cost that has already been caused, even beyond the capacity. An overdrawn bucket delays
   * later operations.
   */
  private spend(cost: number): void {
    (this.bucket ??= this.findBucket()).spend(cost);
    this.chargedCost += cost;
  }

  get isSpent(): boolean {
    return (this.bucket ??= this.findBucket()).excessCost > 0;
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
    const level = this.bucket.updateLevel();

    return {
      cost: Math.ceil(this.chargedCost),
      limit: capacity,
      remaining: Math.max(0, Math.floor(capacity - level)),
      resetSeconds: Math.ceil(level / rate),
    };
  }
}

/** RateLimit headers (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/). */
export function rateLimitHeaders(budget: RateBudget | undefined): Record<string, string> {
  const bucketState = budget?.budgetState;

  if (!bucketState) return {};
  const { cost, limit, remaining, resetSeconds: seconds } = bucketState;

  // `c`, the cost of this request, is a custom parameter, which the draft permits.
  return {
    'RateLimit-Policy': `"cost";q=${limit};w=${BUCKET_CAPACITY_SECONDS}`,
    RateLimit: `"cost";r=${remaining};t=${seconds};c=${cost}`,
  };
}

/**
 * SQL: updates the stored level of each bucket by what has leaked and what this instance has spent
 * or refunded. Rows are read when they are locked, and locked in the same order, so that statements
 * of several instances add up.
 */
const SHARE_SPENT_COST_SQL = `WITH spending AS (SELECT *
  FROM unnest($1::text[], $2::float8[], $3::float8[]) AS x("key", "spent", "rate"))
  INSERT INTO "budget" AS b ("key", "level", "rate")
    SELECT t."key", greatest(0, t."spent"), t."rate"
    FROM spending t ORDER BY t."key"
  ON CONFLICT ("key") DO UPDATE SET "rate" = EXCLUDED."rate", "at" = now(),
    "level" = greatest(0, (SELECT s."spent" FROM spending s WHERE s."key" = b."key") + greatest(0,
    b."level" - extract(epoch FROM now() - b."at") * b."rate"))
  RETURNING "key", "level"`;

/** SQL: the clients whose buckets are fullest, with the share of the capacity that is spent. */
const SELECT_FULLEST_SQL = `SELECT b.*, u."username"
  FROM (SELECT "key", "at", greatest(0, "level" / "rate" - extract(epoch FROM now() - "at"))
      / ${BUCKET_CAPACITY_SECONDS} AS "share"
    FROM "budget" ORDER BY "share" DESC LIMIT 50) b
  LEFT JOIN "user_account" u ON u."id" = substring(b."key" FROM '^user (\\d+)$')::integer
  ORDER BY b."share" DESC`;

export interface StoredBudget {
  key: string;
  username: string | null;
  share: number;
  at: string;
}

export class CostRateLimiter {
  private readonly buckets = new LRUCache<string, LeakyBucket>({ max: MAX_BUCKETS });
  private costSharingTimer?: NodeJS.Timeout;

  /**
   * Number of operations rejected because their estimated cost could not be reserved, for metrics.
   */
  rejectedCount = 0;

  /** Without `rates`, the cost of operations is not limited. */
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

  /** Reads the budgets of which most is spent, as the instances last shared them. */
  async readFullest(): Promise<StoredBudget[]> {
    return (await this.database.queryAsServer(SELECT_FULLEST_SQL)) as Row[] as StoredBudget[];
  }

  /** Creates the budget of a request, unless there is no limit. */
  budgetFor(context: Context, clientNetwork: string): RateBudget | undefined {
    const { rates } = this;

    if (!rates) return undefined;

    return new RequestBudget(
      this,
      () => {
        const { viewer } = context;

        if (viewer) return this.getOrCreateBucket(`user ${viewer.id}`, rates.user);

        return this.getOrCreateBucket(`from ${clientNetwork}`, rates.anonymous);
      },
      context.session,
    );
  }

  private getOrCreateBucket(key: string, rate: number): LeakyBucket {
    let bucket = this.buckets.get(key);

    if (!bucket) this.buckets.set(key, (bucket = new LeakyBucket(rate)));

    return bucket;
  }

  /**
   * Exchanges the spent cost with the other instances. The next attempt includes cost whose
   * exchange has failed.
   */
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
