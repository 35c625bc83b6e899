/**
 * A standby that follows the database and reads for strangers what is everybody's: they have written nothing that they would miss. It is used while it is
 * known to have all that the database had `maxLag` ago, and after a change that this process has heard of not before it has that too. Both are looked
 * at now and then, which costs a statement nothing. Where it cannot be told, or the standby answers anything but rows, the database itself is read.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Pool, PoolConfig } from 'pg';
import { MIN_REPLICA_LAG_MS } from '../platform/settings';
import { Pulse } from './pulse';
import type { Row } from './rows';
import { Viewers } from './viewers';
import { wired } from './pginternals';

export interface ReplicaOptions {
  /** Of `pg`. It leads to PostgreSQL itself. */
  connection: PoolConfig;
  /** Milliseconds. */
  maxLag: number;
}

const LOOK_EVERY_MS = 500;
/** After a change, until the standby has it. */
const LOOK_SOON_MS = 50;
/** So long what was seen is relied on: it counts as lag. */
const GOOD_FOR_MS = MIN_REPLICA_LAG_MS / 2;

/** A log of changes has a name of its own, which a standby has from what it follows. */
const LOG = '(SELECT "id"::text FROM "change_log")';
const DATABASE = `SELECT ${LOG} AS "log", pg_current_wal_lsn()::text AS "position"`;
const STANDBY = `SELECT ${LOG} AS "log", pg_last_wal_replay_lsn()::text AS "position", pg_is_in_recovery() AS "follows", pg_backend_pid() AS "pid"`;

/** Where the database was at a moment of `performance.now()`. */
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
  /** Its connections keep what they are told, whatever stands before the database. */
  readonly viewers = new Viewers(false);
  private readonly pulse: Pulse;
  /** Why it is not used; absent: it is. */
  private why: string | undefined = 'it has not been looked at';
  private lookedAt = -Infinity;
  /** The standby has all that the database had then. */
  private reachedAt = -Infinity;
  /** When a change was heard of that it must have. */
  private heardAt = -Infinity;
  /** Milliseconds; absent where it is not known. */
  private lag?: number;
  /** Oldest first: those that the standby may not have come to yet, and the last one that it has. */
  private marks: Mark[] = [];
  private looking?: NodeJS.Timeout;
  private soon?: NodeJS.Timeout;
  private ask?: Ask;
  private log?: Logger;
  private underWay = false;
  /** Statements that it has answered. */
  answered = 0;

  constructor(
    private readonly options: ReplicaOptions,
    make: (pulse: Pulse, viewers: Viewers) => Pool,
  ) {
    this.pulse = new Pulse(options.connection);
    this.pool = make(this.pulse, this.viewers);
  }

  get isUsed(): boolean {
    return (
      this.why === undefined &&
      this.pulse.away === undefined &&
      this.reachedAt > this.heardAt &&
      performance.now() - this.lookedAt < GOOD_FOR_MS
    );
  }

  /** To be called on every change of what is everybody's, before anybody else hears of it. */
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

  /** In seconds; absent where it is not known. */
  get secondsBehind(): number | undefined {
    return this.lag === undefined ? undefined : this.lag / 1_000;
  }

  /** Looks at both from now on; nobody waits for it. `ask`: asks the database. `role`: in whose name requests ask. */
  follow(ask: Ask, role: string | undefined, log: Logger): void {
    this.ask = ask;
    this.viewers.role = role;
    this.log = log;
    this.looking = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
    void this.look();
  }

  /** Looks once, for whoever wants to know: answers why it could not be used. */
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
    // What hangs is not asked again.
    if (this.underWay) return;
    this.underWay = true;
    const why = await this.verdict().catch((error: Error) => error.message);
    this.underWay = false;
    if (why === undefined && this.heardAt > this.reachedAt) this.lookSoon();
    if (why === this.why || !this.log) return;
    this.why = why;
    if (why === undefined) this.log.info('the replica is read from');
    else this.log.warn({ why }, 'the replica is not read from');
  }

  /** Answers why it cannot be used. */
  private async verdict(): Promise<string | undefined> {
    const began = performance.now();
    this.lag = undefined;
    if (this.pulse.away) return 'it does not answer';
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
    const { processID } = wired(client);
    if (standby.pid !== processID) return 'DATABASE_REPLICA_URL leads through a pooler: let it lead to PostgreSQL itself';
    if (!standby.follows) return 'it follows no other server';
    if (standby.log !== database!.log) return 'it follows another database, or has not caught up with a restore';
    this.marks.push({ at: began, position: positionOf(database!.position as string) });
    return this.measure(positionOf(standby.position as string), began);
  }

  private measure(position: bigint, now: number): string | undefined {
    const most = this.options.maxLag - GOOD_FOR_MS;
    const reached = this.marks.findLastIndex((mark) => mark.position <= position);
    const last = this.marks[reached];
    this.marks = this.marks.slice(Math.max(0, reached)).filter((mark) => mark === last || now - mark.at <= most);
    if (!last && this.reachedAt === -Infinity && now - this.marks[0]!.at <= most) return this.why;
    if (last) [this.reachedAt, this.lag] = [last.at, now - last.at];
    return last && now - last.at <= most ? undefined : 'it is too far behind';
  }

  stop(): void {
    clearInterval(this.looking);
    clearTimeout(this.soon);
    this.log = undefined;
    this.why = 'the server ends';
    this.pulse.stop();
  }
}
