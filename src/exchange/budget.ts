/**
 * What everybody may spend on operations, in the units of `core/cost.ts`: a leaky bucket for each user, and for each address of whoever is not
 * signed in. An operation reserves what it may cost and gives back what it did not need. Every instance decides by what it has in memory; now and
 * then instances tell each other through the database what was spent, in one statement for all buckets, so that no request pays for it.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Context, Spending, Standing } from '../core/context';
import { BYTES_PER_UNIT } from '../core/operation/argumentcost';
import type { Cost } from '../core/operation/cost';
import { KnownError } from '../core/model/errors';
import type { Database } from '../database/connection';
import type { Session } from '../database/session';

/** In units a second. */
export interface Rates {
  readonly user: number;
  readonly anonymous: number;
}

/** Whoever has spent nothing for so long may spend it all at once. */
const SECONDS_KEPT = 100;
const MAX_BUCKETS = 50_000;
const SHARED_EVERY_MS = 5_000;
/** What is less than this part of a bucket is nobody else's business yet. */
const WORTH_SHARING = 0.01;
const FORGOTTEN_AFTER = '1 hour';
/**
 * What an operation has cost: its statements, the rows that they have read, most of them with more than ten fields, each millisecond that the
 * database took for them beyond what is usual, and the bytes of its answer.
 */
const STATEMENT = 5;
const ROW = 2;
const MILLISECOND = 10;
/** So many seconds' worth are paid for a second in which an operation was parsed and validated, while nobody else was answered. */
const SECONDS_OF_SERVER = 5;
const USUAL_MS = 100;

class Bucket {
  private level = 0;
  private seen = performance.now();
  /** Spent here since the others were told. */
  untold = 0;

  constructor(readonly rate: number) {}

  get capacity(): number {
    return this.rate * SECONDS_KEPT;
  }

  /** What is spent and has not leaked away yet. */
  spent(): number {
    const now = performance.now();
    this.level = Math.max(0, this.level - ((now - this.seen) / 1000) * this.rate);
    this.seen = now;
    return this.level;
  }

  /** No more than there is when nothing is spent but what the same request has `paid`. */
  reserve(cost: number, paid: number): void {
    const wanted = Math.min(cost, Math.max(0, this.capacity - paid));
    const over = this.spent() + wanted - this.capacity;
    if (over > 0) {
      const retryAfter = Math.max(1, Math.ceil(over / this.rate));
      throw new KnownError('RATE_LIMITED', `More was asked for than may be at a time. Expected available in ${retryAfter} seconds.`, {
        retryAfter,
      });
    }
    this.spend(wanted);
  }

  spend(cost: number): void {
    this.level += cost;
    this.untold += cost;
  }

  giveBack(cost: number): void {
    this.level = Math.max(0, this.level - cost);
    this.untold -= cost;
  }

  /** What all instances know, with what was spent here while they were asked. */
  learn(level: number): void {
    this.seen = performance.now();
    this.level = Math.max(0, level + this.untold);
  }
}

/** What one request spends; of whom is known when it first does. */
class Allowance implements Spending {
  private bucket?: Bucket;
  private cost = 0;
  private fixed = 0;
  private statements = 0;
  private rows = 0;
  private milliseconds = 0;

  constructor(
    private readonly budgets: Budgets,
    private readonly whose: () => Bucket,
    private readonly session: Session,
  ) {}

  reserve({ total, fixed = 0 }: Cost): void {
    this.demand(total);
    this.cost += total;
    this.fixed = fixed;
    ({ statements: this.statements, rows: this.rows, milliseconds: this.milliseconds } = this.session);
  }

  settle({ total }: Cost): void {
    const statements = this.session.statements - this.statements;
    const rows = this.session.rows - this.rows;
    const slow = Math.max(0, this.session.milliseconds - this.milliseconds - statements * USUAL_MS);
    const used = Math.min(total, this.fixed + statements * STATEMENT + rows * ROW + slow * MILLISECOND);
    // Of an operation that may cost more than there is, all that there is was reserved.
    this.bucket?.giveBack(Math.max(0, Math.min(total, this.bucket.capacity) - used));
    this.cost += used - total;
  }

  sent(bytes: number): void {
    this.spend(bytes / BYTES_PER_UNIT);
  }

  worked(ms: number): void {
    this.bucket ??= this.whose();
    this.spend((ms / 1000) * SECONDS_OF_SERVER * this.bucket.rate);
  }

  /** Afterwards: what is more than there is keeps the next one waiting. */
  private spend(cost: number): void {
    (this.bucket ??= this.whose()).spend(cost);
    this.cost += cost;
  }

  demand(cost = 0): void {
    this.bucket ??= this.whose();
    try {
      this.bucket.reserve(cost, this.cost);
    } catch (error) {
      this.budgets.refused += 1;
      throw error;
    }
  }

  get standing(): Standing | undefined {
    if (!this.bucket) return undefined;
    const { capacity, rate } = this.bucket;
    const spent = this.bucket.spent();
    return {
      cost: Math.ceil(this.cost),
      limit: capacity,
      remaining: Math.max(0, Math.floor(capacity - spent)),
      seconds: Math.ceil(spent / rate),
    };
  }
}

/** https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ */
export function rateLimitHeaders(spending: Spending | undefined): Record<string, string> {
  const standing = spending?.standing;
  if (!standing) return {};
  const { cost, limit, remaining, seconds } = standing;
  // `c`, what this request has cost, is a parameter of our own, which the draft allows for.
  return { 'RateLimit-Policy': `"cost";q=${limit};w=${SECONDS_KEPT}`, RateLimit: `"cost";r=${remaining};t=${seconds};c=${cost}` };
}

/** A bucket leaks since it was last told of; then comes what was spent on top, or given back. */
const SHARE = `WITH told AS (SELECT * FROM unnest($1::text[], $2::float8[], $3::float8[]) AS x("key", "spent", "rate"))
  INSERT INTO "budget" AS b ("key", "level", "rate")
    SELECT t."key", greatest(0, t."spent" + greatest(0, coalesce(o."level" - extract(epoch FROM now() - o."at") * o."rate", 0))), t."rate"
    FROM told t LEFT JOIN "budget" o ON o."key" = t."key"
  ON CONFLICT ("key") DO UPDATE SET "level" = EXCLUDED."level", "rate" = EXCLUDED."rate", "at" = now()
  RETURNING "key", "level"`;

export class Budgets {
  private readonly buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS });
  private sharing?: NodeJS.Timeout;
  /** How often somebody was told that they have spent too much. */
  refused = 0;

  /** Without rates everybody may spend as much as they like. */
  constructor(
    private readonly database: Database,
    private readonly rates: Rates | undefined,
    private readonly log: Logger,
  ) {}

  start(): void {
    if (!this.rates) return;
    const share = () => this.share().catch((error) => this.log.warn({ err: error }, 'budgets could not be shared with other instances'));
    this.sharing = setInterval(() => void share(), SHARED_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.sharing);
  }

  /** Of how many callers it is known what they spent. */
  get known(): number {
    return this.buckets.size;
  }

  of(context: Context, address: () => string): Spending | undefined {
    const { rates } = this;
    if (!rates) return undefined;
    return new Allowance(
      this,
      () => {
        const { viewer } = context;
        return viewer ? this.bucket(`user ${viewer.id}`, rates.user) : this.bucket(`from ${address()}`, rates.anonymous);
      },
      context.session,
    );
  }

  private bucket(key: string, rate: number): Bucket {
    let bucket = this.buckets.get(key);
    if (!bucket) this.buckets.set(key, (bucket = new Bucket(rate)));
    return bucket;
  }

  /** Tells the others, and learns from them. */
  async share(): Promise<void> {
    const told = [...this.buckets].filter(([, { untold, capacity }]) => Math.abs(untold) > capacity * WORTH_SHARING);
    if (!told.length) return;
    const spent = told.map(([, bucket]) => bucket.untold);
    for (const [, bucket] of told) bucket.untold = 0;
    const values = [told.map(([key]) => key), spent, told.map(([, { rate }]) => rate)];
    const rows = await this.database.ask(SHARE, values).catch((error) => {
      told.forEach(([, bucket], index) => (bucket.untold += spent[index]!));
      throw error;
    });
    const levels = new Map((rows as { key: string; level: number }[]).map(({ key, level }) => [key, level]));
    for (const [key, bucket] of told) bucket.learn(levels.get(key)!);
    await this.database.ask(`DELETE FROM "budget" WHERE "at" < now() - interval '${FORGOTTEN_AFTER}'`);
  }
}
