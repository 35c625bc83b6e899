/**
 * Circuit breaker of the database (https://en.wikipedia.org/wiki/Circuit_breaker_design_pattern). A network that drops packets reports no error, so a
 * statement could wait forever, and others behind it. A timer therefore watches all connections, at no cost to statements. If a running statement has
 * received no data for a moment, PostgreSQL is asked over a new connection which backends are working:
 * - The backend works: the statement is a long one and ends by its own timeout.
 * - The backend is idle or gone: the connection is dead. It is closed, and so are idle connections, which took the same route.
 * - No response: the database is unavailable. Requests fail immediately until a later check succeeds.
 *
 * Time is counted in timer ticks instead of by the clock, so that a delay of this process does not count as silence.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError, type PoolConfig } from 'pg';
import { backendKeyOf, socketOf } from '../internals/pg';
import { Unavailable } from './errors';
import { ObservedClient } from './observedclient';

const LOOK_EVERY_MS = 250;
/** Ticks without data after which PostgreSQL is asked. */
const SUSPICIOUS = 5;
/** Ticks within which PostgreSQL must respond. */
const ANSWERS_WITHIN = 6;
/** Ticks until a statement whose backend was working is checked again. */
const ASKED_AGAIN = 8;
/** Ticks after a statement's own timeout until its connection is closed. */
const GRACE = 12;
const KEEPALIVE_MS = 10_000;

/** Connection options of pg: TCP keep-alive. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: KEEPALIVE_MS };

/** Rejections by PostgreSQL and failures of name resolution say nothing about existing connections. */
const isInconclusive = (error: NodeJS.ErrnoException) =>
  error instanceof DatabaseError || ['EAI_AGAIN', 'ENOTFOUND'].includes(error.code ?? '');

interface Watched {
  client: ObservedClient;
  /** Statement timeout in milliseconds; 0: none. */
  timeout: number;
  statement?: object;
  bytes: number;
  /** Ticks since the running statement last received data. */
  silent: number;
  /** Value of `silent` at which the statement is checked. */
  patience: number;
}

const pidOf = ({ client }: Watched): number => backendKeyOf(client).processID ?? 0;

const ASK = `SELECT pg_backend_pid() AS "own", a."pid", a."state" FROM (SELECT 1) o
  LEFT JOIN pg_stat_activity a ON a."pid" = ANY($1::int[])`;

export class CircuitBreaker {
  /** Why the database is unavailable; absent while it is available, as far as known. */
  unavailable?: Unavailable;
  private readonly watched = new Map<Client, Watched>();
  private readonly looking: NodeJS.Timeout;
  private asking = false;
  /** Remaining ticks of the check in progress. */
  private left = 0;
  private giveUp?: () => void;

  constructor(
    private readonly connection: PoolConfig,
    /** Direct connection, if `connection` leads to a pooler, whose responses say nothing about PostgreSQL. */
    private readonly direct?: PoolConfig,
  ) {
    this.looking = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** Watches a connection until it ends. `timeout`: its statement_timeout in milliseconds; 0: none. */
  watch(client: Client, timeout = 0): void {
    if (!(client instanceof ObservedClient)) throw new TypeError('Only an ObservedClient can be watched.');
    this.watched.set(client, { client, timeout, bytes: 0, silent: 0, patience: SUSPICIOUS });
    client.once('end', () => this.watched.delete(client));
  }

  setStatementTimeout(client: Client, timeout: number): void {
    const one = this.watched.get(client);
    if (one) one.timeout = timeout;
  }

  stop(): void {
    clearInterval(this.looking);
    this.giveUp?.();
  }

  private look(): void {
    if ((this.left -= 1) <= 0) this.giveUp?.();
    const suspects: Watched[] = [];
    for (const one of this.watched.values()) {
      const { statement } = one.client;
      const bytes = socketOf(one.client).bytesRead;
      if (!statement || statement !== one.statement || bytes !== one.bytes) {
        Object.assign(one, { statement, bytes, silent: 0, patience: SUSPICIOUS });
        continue;
      }
      one.silent += 1;
      if (one.timeout > 0 && one.silent > one.timeout / LOOK_EVERY_MS + GRACE) this.end(one, 'a statement timed out without a response');
      else if (one.silent >= one.patience) suspects.push(one);
    }
    if (!this.asking && (suspects.length || this.unavailable)) void this.judge(suspects);
  }

  /** Connections with a statement that has been waiting for more than one tick. */
  private unanswered(): Watched[] {
    return [...this.watched.values()].filter((one) => one.statement && one.silent > 1 && this.isSilent(one));
  }

  /** Whether no data have arrived since the last tick. */
  private isSilent({ client, statement, bytes }: Watched): boolean {
    return client.statement === statement && socketOf(client).bytesRead === bytes;
  }

  private end({ client }: Watched, why: string): void {
    socketOf(client).destroy(new Error(why));
  }

  private async judge(suspects: readonly Watched[]): Promise<void> {
    this.asking = true;
    this.left = ANSWERS_WITHIN;
    let dead: Watched[] = [];
    try {
      const idle = await this.findIdle(suspects.map(pidOf));
      this.unavailable = undefined;
      // Responses that were sent meanwhile may still arrive.
      await sleep(LOOK_EVERY_MS, undefined, { ref: false });
      dead = suspects.filter((one) => this.isSilent(one) && idle.has(pidOf(one)));
    } catch (error) {
      if (!isInconclusive(error as NodeJS.ErrnoException)) {
        this.unavailable = new Unavailable(error);
        dead = this.unanswered();
      }
    }
    for (const one of suspects) one.patience = one.silent + ASKED_AGAIN;
    this.asking = false;
    if (!dead.length) return;
    for (const one of dead) this.end(one, this.unavailable ? 'the database does not respond' : 'the connection is dead');
    // Idle connections took the same route. A connection in a transaction is in use between statements, too.
    for (const one of this.watched.values())
      if (!one.client.statement && one.client.getTransactionStatus() !== 'T') this.end(one, 'the connection may be dead');
  }

  /** Asks PostgreSQL which of these backends are not running a statement. Throws if it does not respond. */
  private async findIdle(pids: readonly number[]): Promise<ReadonlySet<number>> {
    const clients = [this.direct, this.connection].flatMap((to) =>
      to ? new ObservedClient({ ...to, application_name: 'fitgraph pulse' }) : [],
    );
    for (const client of clients) client.on('error', () => undefined);
    const gone = new Promise<never>((_resolve, reject) => {
      this.giveUp = () => reject(new Error('it does not respond'));
    });
    try {
      return await Promise.race([this.ask(clients, pids), gone]);
    } catch (error) {
      for (const client of clients) socketOf(client).destroy();
      throw error;
    } finally {
      this.giveUp = undefined;
    }
  }

  private async ask(clients: readonly Client[], pids: readonly number[]): Promise<ReadonlySet<number>> {
    await Promise.all(clients.map((client) => client.connect()));
    const [client] = clients as [Client];
    const { rows } = await client.query(ASK, [pids]);
    for (const one of clients) void one.end().catch(() => undefined);
    // Behind a pooler backend ids are not those of our connections.
    if (this.direct || rows[0].own !== backendKeyOf(client).processID) return new Set();
    const working = rows.filter(({ state }) => state !== null && !String(state).startsWith('idle')).map(({ pid }) => pid as number);
    return new Set(pids.filter((pid) => !working.includes(pid)));
  }
}
