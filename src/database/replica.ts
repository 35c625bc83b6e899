/**
 * Read replica: a streaming standby that serves public rows to anonymous clients, who have no writes of their own to miss. It is used while its replay
 * position is at most `maxLag` behind the primary and includes every change that this process was notified of. A timer compares the positions, so
 * statements pay nothing for it. If the position is unknown, or a statement fails on the standby, the primary is read.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Pool, PoolConfig } from 'pg';
import { backendKeyOf } from '../internals/pg';
import { MIN_REPLICA_LAG_MS } from '../platform/settings';
import { CircuitBreaker } from './circuitbreaker';
import type { Row } from './rows';
import { SessionUsers } from './sessionuser';

export interface ReplicaOptions {
  /** Connection options of pg, leading to PostgreSQL without a pooler. */
  connection: PoolConfig;
  /** Milliseconds. */
  maxLag: number;
}

const LOOK_EVERY_MS = 500;
/** Interval after a change, until the standby has replayed it. */
const LOOK_SOON_MS = 50;
/** Validity of an observation. It counts as lag. */
const GOOD_FOR_MS = MIN_REPLICA_LAG_MS / 2;

/** SQL: id of the change log, which a standby inherits from its primary. */
const LOG = '(SELECT "id"::text FROM "change_log")';
const DATABASE = `SELECT ${LOG} AS "log", pg_current_wal_lsn()::text AS "position"`;
const STANDBY = `SELECT ${LOG} AS "log", pg_last_wal_replay_lsn()::text AS "position", pg_is_in_recovery() AS "follows", pg_backend_pid() AS "pid"`;

/** WAL position of the primary at a time of `performance.now()`. */
interface Mark {
  at: number;
  position: bigint;
}

/** `16/B374D848`: https://www.postgresql.org/docs/current/datatype-pg-lsn.html */
function positionOf(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

type Ask = (text: string) => Promise<Row[]>;

export class Replica {
  readonly pool: Pool;
  /** Session users of its connections, which lead around any pooler. */
  readonly viewers = new SessionUsers(false);
  private readonly pulse: CircuitBreaker;
  /** Why the standby is not used; absent while it is. */
  private why: string | undefined = 'it has not been checked yet';
  private lookedAt = -Infinity;
  /** The standby has replayed everything that the primary had at this time. */
  private reachedAt = -Infinity;
  /** Time of the last notified change, which the standby must have replayed. */
  private heardAt = -Infinity;
  /** Milliseconds; absent while unknown. */
  private lag?: number;
  /** Positions of the primary, oldest first: the last one that the standby has replayed, and all later ones. */
  private marks: Mark[] = [];
  private looking?: NodeJS.Timeout;
  private soon?: NodeJS.Timeout;
  private ask?: Ask;
  private log?: Logger;
  private underWay = false;
  /** Number of statements executed on the standby. */
  answered = 0;

  constructor(
    private readonly options: ReplicaOptions,
    make: (pulse: CircuitBreaker, viewers: SessionUsers) => Pool,
  ) {
    this.pulse = new CircuitBreaker(options.connection);
    this.pool = make(this.pulse, this.viewers);
  }

  get isUsed(): boolean {
    return (
      this.why === undefined &&
      this.pulse.unavailable === undefined &&
      this.reachedAt > this.heardAt &&
      performance.now() - this.lookedAt < GOOD_FOR_MS
    );
  }

  /** Call this on every change of a public row, before subscribers are notified. */
  changed(): void {
    this.heardAt = performance.now();
    this.lookSoon();
  }

  private lookSoon(): void {
    if (!this.log) return;
    this.soon ??= setTimeout(() => {
      this.soon = undefined;
      void this.look();
    }, LOOK_SOON_MS).unref();
  }

  /** Replication lag in seconds; absent while unknown. */
  get secondsBehind(): number | undefined {
    return this.lag === undefined ? undefined : this.lag / 1_000;
  }

  /** Starts monitoring in the background. `ask` queries the primary; `role` is the role of requests. */
  follow(ask: Ask, role: string | undefined, log: Logger): void {
    this.ask = ask;
    this.viewers.role = role;
    this.log = log;
    this.looking = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
    void this.look();
  }

  /** Checks for up to `maxLag` (for `doctor`). Returns why the standby cannot be used. */
  async inspect(ask: Ask): Promise<string | undefined> {
    this.ask = ask;
    const until = performance.now() + this.options.maxLag;
    for (;;) {
      const why = await this.verdict().catch((error: Error) => error.message);
      if (why === undefined || performance.now() > until) return why;
      await sleep(LOOK_EVERY_MS);
    }
  }

  private async look(): Promise<void> {
    // A check that hangs is not repeated.
    if (this.underWay) return;
    this.underWay = true;
    const why = await this.verdict().catch((error: Error) => this.withoutLag(error.message));
    this.underWay = false;
    if (why === undefined && this.heardAt > this.reachedAt) this.lookSoon();
    if (why === this.why || !this.log) return;
    this.why = why;
    if (why === undefined) this.log.info('reading from the replica');
    else this.log.warn({ why }, 'not reading from the replica');
  }

  /** Compares both positions. Returns why the standby cannot be used. */
  private async verdict(): Promise<string | undefined> {
    const began = performance.now();
    if (this.pulse.unavailable) return this.withoutLag('it does not respond');
    const [database] = await this.ask!(DATABASE);
    const client = await this.pool.connect();
    let standby: Row;
    try {
      [standby] = (await client.query(STANDBY)).rows as [Row];
    } catch (error) {
      client.release(true);
      throw error;
    }
    client.release();
    this.lookedAt = began;
    const { processID } = backendKeyOf(client);
    if (standby.pid !== processID)
      return this.withoutLag('DATABASE_REPLICA_URL points to a pooler: it must connect directly to PostgreSQL');
    if (!standby.follows) return this.withoutLag('it is not a standby');
    if (standby.log !== database!.log) return this.withoutLag('it replicates another database, or has not caught up with a restore');
    this.marks.push({ at: began, position: positionOf(database!.position as string) });
    return this.measure(positionOf(standby.position as string), began);
  }

  /** Forgets the lag, which stays known from one check to the next otherwise. */
  private withoutLag(why: string): string {
    this.lag = undefined;
    return why;
  }

  private measure(position: bigint, now: number): string | undefined {
    const most = this.options.maxLag - GOOD_FOR_MS;
    const reached = this.marks.findLastIndex((mark) => mark.position <= position);
    const last = this.marks[reached];
    this.marks = this.marks.slice(Math.max(0, reached)).filter((mark) => mark === last || now - mark.at <= most);
    if (!last && this.reachedAt === -Infinity && now - this.marks[0]!.at <= most) return this.why;
    if (last) [this.reachedAt, this.lag] = [last.at, now - last.at];
    return last && now - last.at <= most ? undefined : 'its replication lag is too high';
  }

  stop(): void {
    clearInterval(this.looking);
    clearTimeout(this.soon);
    this.log = undefined;
    this.why = 'the server is shutting down';
    this.pulse.stop();
  }
}
