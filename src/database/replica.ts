/**
 * Read replica: a streaming standby that serves public rows to anonymous clients, who write no rows and so cannot miss writes of their own. It is
 * used while its replay position is at most `maxLagMs` behind the primary and includes every change of which this process was notified. A timer
 * compares the positions, so that no statement waits for the comparison. If the position is unknown, or a statement fails on the standby, the
 * primary is read.
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
  /** pg connection options. They must connect to PostgreSQL directly, not through a pooler. */
  connection: PoolConfig;
  maxLagMs: number;
}

const CHECK_INTERVAL_MS = 500;
/** Interval of checks of the standby after a change of a public row, until the standby has replayed the change. */
const EARLY_CHECK_MS = 50;
/** How long the result of a check of the standby is used. The permitted lag is reduced by this time, in which the standby may fall further behind. */
const CHECK_RESULT_VALID_MS = MIN_REPLICA_LAG_MS / 2;

/** SQL: id of the change log. A standby replicates it, so a different id reveals a standby of another database. */
const CHANGE_LOG_ID_SQL = '(SELECT "id"::text FROM "change_log")';
const PRIMARY_POSITION_SQL = `SELECT ${CHANGE_LOG_ID_SQL} AS "log", pg_current_wal_lsn()::text AS "position"`;
const STANDBY_POSITION_SQL = `SELECT ${CHANGE_LOG_ID_SQL} AS "log", pg_last_wal_replay_lsn()::text AS "position", pg_is_in_recovery() AS "isStandby", pg_backend_pid() AS "pid"`;

/** Position of the primary in the write-ahead log (WAL) at the time `measuredAt` of `performance.now()`. */
interface PrimaryWalPosition {
  measuredAt: number;
  position: bigint;
}

/** Parses a WAL position such as `16/B374D848` (https://www.postgresql.org/docs/current/datatype-pg-lsn.html). */
function parseWalPosition(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

type QueryPrimary = (text: string) => Promise<Row[]>;

export class Replica {
  readonly pool: Pool;
  /**
   * Session users of the connections to the standby. They are set for a connection instead of for each transaction, because no pooler lies between
   * this process and the standby.
   */
  readonly sessionUsers = new SessionUsers(false);
  private readonly breaker: CircuitBreaker;
  /** Why the standby is not used; undefined while it is used. */
  private unusableReason: string | undefined = 'it has not been checked yet';
  private checkedAt = -Infinity;
  private replayedUntil = -Infinity;
  /** Time of the last notified change, which the standby must have replayed. */
  private lastChangeAt = -Infinity;
  /** Replication lag in milliseconds; absent while unknown. */
  private lagMs?: number;
  /** Positions of the primary, oldest first: the latest one that the standby has replayed, and all later ones. */
  private primaryPositions: PrimaryWalPosition[] = [];
  private checkTimer?: NodeJS.Timeout;
  private earlyCheckTimer?: NodeJS.Timeout;
  private queryPrimary?: QueryPrimary;
  private log?: Logger;
  private isChecking = false;
  statementCount = 0;

  constructor(
    private readonly options: ReplicaOptions,
    createPool: (breaker: CircuitBreaker, sessionUsers: SessionUsers) => Pool,
  ) {
    this.breaker = new CircuitBreaker(options.connection);
    this.pool = createPool(this.breaker, this.sessionUsers);
  }

  get isUsable(): boolean {
    return (
      this.unusableReason === undefined &&
      this.breaker.unavailableError === undefined &&
      this.replayedUntil > this.lastChangeAt &&
      performance.now() - this.checkedAt < CHECK_RESULT_VALID_MS
    );
  }

  /** Records that a public row has changed now. Call this at every such change, before subscribers are notified. */
  recordChange(): void {
    this.lastChangeAt = performance.now();
    this.scheduleEarlyCheck();
  }

  private scheduleEarlyCheck(): void {
    if (!this.log) return;
    this.earlyCheckTimer ??= setTimeout(() => {
      this.earlyCheckTimer = undefined;
      void this.checkStandby();
    }, EARLY_CHECK_MS).unref();
  }

  /** Replication lag in seconds; absent while unknown. */
  get lagSeconds(): number | undefined {
    return this.lagMs === undefined ? undefined : this.lagMs / 1_000;
  }

  /** Starts monitoring in the background. `queryPrimary` queries the primary; `role` is the PostgreSQL role of the statements of requests. */
  startMonitoring(queryPrimary: QueryPrimary, role: string | undefined, log: Logger): void {
    this.queryPrimary = queryPrimary;
    this.sessionUsers.role = role;
    this.log = log;
    this.checkTimer = setInterval(() => void this.checkStandby(), CHECK_INTERVAL_MS).unref();
    void this.checkStandby();
  }

  /**
   * Checks repeatedly, for up to `maxLagMs`, whether the standby can be used. Returns why it cannot be used; undefined if it can. For `fitgraph
   * doctor`.
   */
  async waitUntilUsable(queryPrimary: QueryPrimary): Promise<string | undefined> {
    this.queryPrimary = queryPrimary;
    const deadline = performance.now() + this.options.maxLagMs;
    for (;;) {
      const reason = await this.comparePositions().catch((error: Error) => error.message);
      if (reason === undefined || performance.now() > deadline) return reason;
      await sleep(CHECK_INTERVAL_MS);
    }
  }

  private async checkStandby(): Promise<void> {
    // No second check starts while one is running, even if that one hangs.
    if (this.isChecking) return;
    this.isChecking = true;
    const reason = await this.comparePositions().catch((error: Error) => this.clearLag(error.message));
    this.isChecking = false;
    if (reason === undefined && this.lastChangeAt > this.replayedUntil) this.scheduleEarlyCheck();
    if (reason === this.unusableReason || !this.log) return;
    this.unusableReason = reason;
    if (reason === undefined) this.log.info('reading from the replica');
    else this.log.warn({ why: reason }, 'not reading from the replica');
  }

  /** Compares the positions of primary and standby. Returns why the standby cannot be used; undefined if it can. */
  private async comparePositions(): Promise<string | undefined> {
    const startedAt = performance.now();
    if (this.breaker.unavailableError) return this.clearLag('it does not respond');
    const [primary] = await this.queryPrimary!(PRIMARY_POSITION_SQL);
    const client = await this.pool.connect();
    let standbyRow: Row;
    try {
      [standbyRow] = (await client.query(STANDBY_POSITION_SQL)).rows as [Row];
    } catch (error) {
      client.release(true);
      throw error;
    }
    client.release();
    this.checkedAt = startedAt;
    const { processID } = backendKeyOf(client);
    if (standbyRow.pid !== processID)
      return this.clearLag('DATABASE_REPLICA_URL points to a pooler: it must connect directly to PostgreSQL');
    if (!standbyRow.isStandby) return this.clearLag('it is not a standby');
    if (standbyRow.log !== primary!.log) return this.clearLag('it replicates another database, or has not caught up with a restore');
    this.primaryPositions.push({ measuredAt: startedAt, position: parseWalPosition(primary!.position as string) });
    return this.updateLag(parseWalPosition(standbyRow.position as string), startedAt);
  }

  /** Marks the replication lag as unknown. Returns why it is unknown, for the log. */
  private clearLag(reason: string): string {
    this.lagMs = undefined;
    return reason;
  }

  /** Updates the replication lag. Returns why the standby cannot be used; undefined if it can. */
  private updateLag(position: bigint, now: number): string | undefined {
    const maxAgeMs = this.options.maxLagMs - CHECK_RESULT_VALID_MS;
    const index = this.primaryPositions.findLastIndex((entry) => entry.position <= position);
    const replayedPosition = this.primaryPositions[index];
    this.primaryPositions = this.primaryPositions
      .slice(Math.max(0, index))
      .filter((entry) => entry === replayedPosition || now - entry.measuredAt <= maxAgeMs);
    if (!replayedPosition && this.replayedUntil === -Infinity && now - this.primaryPositions[0]!.measuredAt <= maxAgeMs)
      return this.unusableReason;
    if (replayedPosition) [this.replayedUntil, this.lagMs] = [replayedPosition.measuredAt, now - replayedPosition.measuredAt];
    return replayedPosition && now - replayedPosition.measuredAt <= maxAgeMs ? undefined : 'its replication lag is too high';
  }

  stop(): void {
    clearInterval(this.checkTimer);
    clearTimeout(this.earlyCheckTimer);
    this.log = undefined;
    this.unusableReason = 'the server is shutting down';
    this.breaker.stop();
  }
}
