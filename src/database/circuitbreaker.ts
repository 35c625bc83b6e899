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

/** Failures of name resolution say nothing about existing connections. */
const NO_VERDICT = ['EAI_AGAIN', 'ENOTFOUND'];

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

type Answer = { kind: 'answered'; dead: ReadonlySet<number> } | { kind: 'none' } | { kind: 'gone'; why: unknown };

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
    /** Called when the database becomes unavailable, and when it has recovered. */
    private readonly changed: (away: Unavailable | undefined) => void = () => undefined,
  ) {
    this.looking = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** Watches a connection until it ends. `timeout`: its statement_timeout in milliseconds; 0: none. */
  watch(client: Client, timeout = 0): void {
    if (!(client instanceof ObservedClient)) throw new TypeError('Only an ObservedClient can be watched.');
    this.watched.set(client, { client, timeout, bytes: 0, silent: 0, patience: SUSPICIOUS });
    client.once('end', () => this.watched.delete(client));
  }

  /** Changes the statement timeout of a watched connection. */
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
    const answer = await this.ask(suspects.map(({ client }) => backendKeyOf(client).processID ?? 0));
    this.giveUp = undefined;
    if (answer.kind === 'gone') this.turn(new Unavailable(answer.why));
    else if (answer.kind === 'answered') this.turn(undefined);
    // Responses that were sent meanwhile may still arrive.
    if (answer.kind === 'answered') await sleep(LOOK_EVERY_MS, undefined, { ref: false });
    for (const one of suspects) one.patience = one.silent + ASKED_AGAIN;
    this.asking = false;
    const dead =
      answer.kind === 'gone'
        ? this.unanswered()
        : answer.kind === 'answered'
          ? suspects.filter((one) => this.isSilent(one) && answer.dead.has(backendKeyOf(one.client).processID ?? 0))
          : [];
    if (!dead.length) return;
    for (const one of dead) this.end(one, answer.kind === 'gone' ? 'the database does not respond' : 'the connection is dead');
    // Idle connections took the same route. A connection in a transaction is in use between statements, too.
    for (const one of this.watched.values()) if (!one.client.statement && !this.isTaken(one)) this.end(one, 'the connection may be dead');
  }

  private isTaken({ client }: Watched): boolean {
    return client.getTransactionStatus() === 'T';
  }

  private turn(away: Unavailable | undefined): void {
    const before = this.unavailable;
    this.unavailable = away;
    if (!before !== !away) this.changed(away);
  }

  /** Asks PostgreSQL which of these backends are not running a statement. */
  private async ask(pids: readonly number[]): Promise<Answer> {
    const [client, ...between] = [this.direct, this.connection].flatMap((to) => {
      const one: Client | undefined = to && new ObservedClient({ ...to, application_name: 'fitgraph pulse' });
      one?.on('error', () => undefined);
      return one ?? [];
    }) as [Client, ...Client[]];
    const gone = new Promise<Answer>((resolve) => {
      this.giveUp = () => resolve({ kind: 'gone', why: new Error('it does not respond') });
    });
    const asked = async (): Promise<Answer> => {
      await Promise.all([client, ...between].map((one) => one.connect()));
      const { rows } = await client.query(ASK, [pids]);
      const { processID } = backendKeyOf(client);
      for (const one of [client, ...between]) void one.end().catch(() => undefined);
      // Behind a pooler backend ids are not those of our connections.
      if (between.length || rows[0].own !== processID) return { kind: 'answered', dead: new Set() };
      const working = new Set(
        rows.filter(({ state }) => state !== null && !String(state).startsWith('idle')).map(({ pid }) => pid as number),
      );
      return { kind: 'answered', dead: new Set(pids.filter((pid) => !working.has(pid))) };
    };
    const answer = await Promise.race([
      asked().catch((error: NodeJS.ErrnoException): Answer => {
        const noVerdict = error instanceof DatabaseError || NO_VERDICT.includes(error.code ?? '');
        return noVerdict ? { kind: 'none' } : { kind: 'gone', why: error };
      }),
      gone,
    ]);
    if (answer.kind !== 'answered') for (const one of [client, ...between]) socketOf(one).destroy();
    return answer;
  }
}
