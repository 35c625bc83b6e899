/**
 * Whether the database still answers. A network that drops packets, or a machine that is gone, says nothing: without a deadline of our own a
 * statement would wait for ever, and everybody behind it too. Connections are therefore looked at now and then, which costs a statement nothing. On one
 * that has been silent for a moment in the middle of a statement PostgreSQL is asked, by a connection of its own, whether it works on that at all:
 * - it does: the statement is a long one, and its own timeout ends it;
 * - it does not: the connection is dead, and is ended, and so are those that nobody uses, which have come the same way;
 * - there is no answer: the database is away. Whoever needs it is told so at once, until it answers again.
 *
 * Time is counted in looks, not by the clock: what waits while this very process is late, or was stopped, has not been silent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError, type ClientBase, type PoolConfig } from 'pg';
import { Unavailable } from './refusals';
import { hangUp, wired, type WiredClient } from './pginternals';

const LOOK_EVERY_MS = 250;
/** Silent for so many looks: then PostgreSQL is asked. */
const SUSPICIOUS = 5;
/** So many looks it has to answer. */
const ANSWERS_WITHIN = 6;
/** What has been worked on when it was asked is not asked for again before so many looks. */
const ASKED_AGAIN = 8;
/** Given up so many looks after its own timeout, if that has not ended it. */
const GRACE = 12;
const KEEPALIVE_MS = 10_000;

/** Of connections: the operating system asks now and then whether the other end is there, and keeps the way to it open. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: KEEPALIVE_MS };

/** Of names that cannot be resolved at the moment nothing follows for a connection that is there. */
const NO_VERDICT = ['EAI_AGAIN', 'ENOTFOUND'];

interface Watched {
  client: WiredClient;
  /** Milliseconds; 0: never given up by the clock. */
  timeout: number;
  query: object | null;
  bytes: number;
  /** Looks for which the same statement was silent. */
  silent: number;
  /** Not to be asked for before it is that silent. */
  patience: number;
}

type Answer = { kind: 'answered'; dead: ReadonlySet<number> } | { kind: 'none' } | { kind: 'gone'; why: unknown };

const ASK = `SELECT pg_backend_pid() AS "own", a."pid", a."state" FROM (SELECT 1) o
  LEFT JOIN pg_stat_activity a ON a."pid" = ANY($1::int[])`;

export class Pulse {
  /** Why the database cannot be used at the moment; absent: it can, as far as anybody knows. */
  away?: Unavailable;
  private readonly watched = new Map<WiredClient, Watched>();
  private readonly looking: NodeJS.Timeout;
  private asking = false;
  /** Of the question that is being asked: looks until it is given up. */
  private left = 0;
  private giveUp?: () => void;

  constructor(
    private readonly connection: PoolConfig,
    /** Absent: `connection` leads to PostgreSQL itself; else to a pooler, which answers for itself alone, or once it has a session to give. */
    private readonly direct?: PoolConfig,
    /** Called whenever the database is away, and when it is back. */
    private readonly changed: (away: Unavailable | undefined) => void = () => undefined,
  ) {
    this.looking = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** `timeout` is what PostgreSQL itself ends the statements of this connection after, in milliseconds; 0: nothing. */
  watch(client: ClientBase, timeout = 0): void {
    const watched = wired(client);
    this.watched.set(watched, { client: watched, timeout, query: null, bytes: 0, silent: 0, patience: SUSPICIOUS });
    watched.once('end', () => this.watched.delete(watched));
  }

  /** From now on its statements have another timeout. */
  allow(client: ClientBase, timeout: number): void {
    const one = this.watched.get(wired(client));
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
      const query = one.client._getActiveQuery();
      const bytes = one.client.connection.stream.bytesRead;
      if (query === null || query !== one.query || bytes !== one.bytes) {
        Object.assign(one, { query, bytes, silent: 0, patience: SUSPICIOUS });
        continue;
      }
      one.silent += 1;
      if (one.timeout > 0 && one.silent > one.timeout / LOOK_EVERY_MS + GRACE) this.end(one, 'a statement was not answered in time');
      else if (one.silent >= one.patience) suspects.push(one);
    }
    if (!this.asking && (suspects.length || this.away)) void this.judge(suspects);
  }

  /** All that wait for the database, but for what was asked just now. */
  private unanswered(): Watched[] {
    return [...this.watched.values()].filter((one) => one.query !== null && one.silent > 1 && this.isSilent(one));
  }

  /** Whether nothing has been heard of it since. */
  private isSilent({ client, query, bytes }: Watched): boolean {
    return client._getActiveQuery() === query && client.connection.stream.bytesRead === bytes;
  }

  private end({ client }: Watched, why: string): void {
    client.connection.stream.destroy(new Error(why));
  }

  private async judge(suspects: readonly Watched[]): Promise<void> {
    this.asking = true;
    this.left = ANSWERS_WITHIN;
    const answer = await this.ask(suspects.map(({ client }) => client.processID ?? 0));
    this.giveUp = undefined;
    if (answer.kind === 'gone') this.turn(new Unavailable(answer.why));
    else if (answer.kind === 'answered') this.turn(undefined);
    // What was done at this moment is on its way.
    if (answer.kind === 'answered') await sleep(LOOK_EVERY_MS, undefined, { ref: false });
    for (const one of suspects) one.patience = one.silent + ASKED_AGAIN;
    this.asking = false;
    const dead =
      answer.kind === 'gone'
        ? this.unanswered()
        : answer.kind === 'answered'
          ? suspects.filter((one) => this.isSilent(one) && answer.dead.has(one.client.processID ?? 0))
          : [];
    if (!dead.length) return;
    for (const one of dead) this.end(one, answer.kind === 'gone' ? 'the database does not answer' : 'the connection is dead');
    // Those that nobody uses have come the same way. In a transaction a connection is used also between its statements.
    for (const one of this.watched.values())
      if (one.client._getActiveQuery() === null && !this.isTaken(one)) this.end(one, 'the connection may be dead');
  }

  private isTaken({ client }: Watched): boolean {
    return client.getTransactionStatus?.() === 'T';
  }

  private turn(away: Unavailable | undefined): void {
    const before = this.away;
    this.away = away;
    if (!before !== !away) this.changed(away);
  }

  /** Which of these processes of the server do not work on anything. */
  private async ask(pids: readonly number[]): Promise<Answer> {
    const [client, ...between] = [this.direct, this.connection].flatMap((to) => {
      const one = to && new Client({ ...to, application_name: 'fitgraph pulse' });
      one?.on('error', () => undefined);
      return one ?? [];
    }) as [Client, ...Client[]];
    const gone = new Promise<Answer>((resolve) => {
      this.giveUp = () => resolve({ kind: 'gone', why: new Error('it does not answer') });
    });
    const asked = async (): Promise<Answer> => {
      await Promise.all([client, ...between].map((one) => one.connect()));
      const { rows } = await client.query(ASK, [pids]);
      const { processID } = wired(client);
      for (const one of [client, ...between]) void one.end().catch(() => undefined);
      // Something in between has connections of its own to the server, and their numbers are not ours.
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
    if (answer.kind !== 'answered') for (const one of [client, ...between]) hangUp(one);
    return answer;
  }
}
