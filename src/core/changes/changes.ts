/**
 * The log of changes, as the database's triggers write it. What a client has seen is told by the snapshot of its last reading: a change is
 * new if its transaction is not in there. So nothing is missed and nothing told twice, in whatever order transactions end.
 */
import type { Logger } from 'pino';
import { isUuid } from '../../contract/bounds';
import type { Database } from '../../database/connection';
import type { Parameters } from '../../database/rows';
import type { Session } from '../../database/session';
import type { Caller } from '../../database/options';
import { binder } from '../access/conditions';
import { badArgument, KnownError } from '../model/errors';
import type { Listener } from './listener';

const CHANNEL = 'fitgraph_change';
/** So long a client may be away and still catch up. */
export const KEPT_DAYS = 30;
/** What a cursor may rest on is kept a little longer than cursors are good. */
const MARGIN_DAYS = 1;
const TABLE_CHANGES_KEPT_DAYS = 1;
/** What rests on a snapshot is kept no longer: well within the time for which changes of tables are. */
export const MAX_STATE_AGE_MS = 3_600_000;
/** Of one caller, in this process. */
const MAX_WATCHERS = 100;
/** Of nobody: all of them together, in this process. */
const NOBODYS: [null, number][] = [[null, 1_000]];
const PRUNE_EVERY_MS = 3_600_000;
const SECONDS_PER_DAY = 86_400;

/** Whether one of the tables has changed since a snapshot, by the placeholders of both. */
export const tableChanged = (tables: string, snapshot: string): string =>
  `EXISTS (SELECT FROM "table_change" c WHERE c."table" = ANY(${tables})
    AND c."transaction" >= pg_snapshot_xmin(${snapshot}::pg_snapshot) AND NOT pg_visible_in_snapshot(c."transaction", ${snapshot}::pg_snapshot))`;

export interface LoggedChange {
  id: number;
  table: string;
  rowId: number;
  operation: 'INSERT' | 'UPDATE' | 'DELETE';
  at: string;
}

/** How far a client has read. */
interface Position {
  /** Names the log. */
  log: string;
  /** In seconds since 1970. */
  at: number;
  /** Transactions that it has seen. */
  seen: string;
  /** Within the changes between `seen` and `until`: the last one read. */
  until?: string;
  after?: number;
}

const NO_CURSOR = 'This is not a cursor of changes.';
/** What PostgreSQL says of a snapshot that cannot be. */
const INVALID_TEXT = ['22P02', '22003'];
const SNAPSHOT = /^\d{1,20}:\d{1,20}:(\d{1,20}(,\d{1,20})*)?$/;

/** The first number of a transaction of which a snapshot knows nothing. */
const endOf = (snapshot: string): bigint => BigInt(snapshot.split(':')[1]!);

const encoded = ({ log, at, seen, until, after }: Position) =>
  Buffer.from(JSON.stringify(until === undefined ? [log, at, seen] : [log, at, seen, until, after])).toString('base64url');

function decoded(cursor: string): Position {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    parts = undefined;
  }
  const [log, at, seen, until, after] = Array.isArray(parts) ? (parts as unknown[]) : [];
  const isSnapshot = (value: unknown): value is string => typeof value === 'string' && SNAPSHOT.test(value);
  const whole = until === undefined || (isSnapshot(until) && Number.isSafeInteger(after));
  if (typeof log !== 'string' || !isUuid(log) || !Number.isSafeInteger(at) || !isSnapshot(seen) || !whole)
    throw badArgument('since', NO_CURSOR);
  return { log, at, seen, until, after } as Position;
}

const expired = () =>
  new KnownError(
    'CURSOR_EXPIRED',
    'What changed since this cursor is no longer known: read everything again, and go on from a new cursor.',
  );

/** Whether what was seen is what is there: nothing of it from after the end of its log, or from a time that the database has not come to. */
const isOurs = ({ seen, until }: Position, end: bigint | string | null): boolean =>
  end !== null && [seen, until].every((snapshot) => snapshot === undefined || endOf(snapshot) <= BigInt(end));

export interface Watched {
  /** Null is nobody, who has no rows. */
  ownerId: number | null;
  /** Tables of owned rows. */
  own: readonly string[];
  /** Public tables. */
  shared: readonly string[];
}

/** Each kind of changes is looked for only if it is wanted, and has an index. */
function reading({ ownerId, own, shared }: Watched, from: Position | undefined, limit: number): { text: string; values: Parameters } {
  const { bind, values } = binder();
  const [seen, until] = [from?.seen, from?.until].map((snapshot) => `${bind(snapshot ?? null)}::pg_snapshot`);
  const [after, most] = [bind(from?.after ?? 0), bind(limit)];
  const among = (owner: string, tables: readonly string[]) =>
    `(SELECT c."id", c."table", c."row_id" AS "rowId", c."operation", c."at" FROM "change" c
      WHERE c."user_id" ${owner} AND c."transaction" >= pg_snapshot_xmin(${seen}) AND NOT pg_visible_in_snapshot(c."transaction", ${seen})
        AND (${until} IS NULL OR pg_visible_in_snapshot(c."transaction", ${until}))
        AND c."id" > ${after} AND c."table" = ANY(${bind(tables)}) ORDER BY c."id" LIMIT ${most})`;
  const kinds = [
    ...(own.length || !shared.length ? [among(`= ${bind(ownerId)}::int`, own)] : []),
    ...(shared.length ? [among('IS NULL', shared)] : []),
  ];
  const text = `SELECT l."id" AS "log", extract(epoch FROM now())::bigint AS "now", s."snapshot", f."ended"::text, c.*,
      l."server" = "fitgraph_server"() OR pg_is_in_recovery() AS "here"
    FROM (SELECT pg_current_snapshot()::text AS "snapshot") s CROSS JOIN "change_log" l
    LEFT JOIN "former_change_log" f ON f."id" = ${bind(from?.log ?? null)}::uuid
    LEFT JOIN LATERAL (SELECT * FROM (${kinds.join(' UNION ALL ')}) k ORDER BY k."id" LIMIT ${most}) c ON true ORDER BY c."id"`;
  return { text, values };
}

/** Else it is a public table, or everything. */
const isOwner = (what: string): boolean => /^\d+$/.test(what);

export interface ChangePage {
  cursor: string;
  hasMore: boolean;
  changes: LoggedChange[];
}

export class ChangeLog {
  /** By what they wait for: the id of an owner or the name of a public table, as the database tells it. */
  private readonly waiting = new Map<string, Set<() => void>>();
  private readonly watchers = new Map<Caller | null, number>();
  private pruning?: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    listener: Listener,
    private readonly log: Logger,
  ) {
    listener.on(CHANNEL, {
      notified: (what) => {
        if (!isOwner(what)) database.replica?.changed();
        if (what === '') this.wakeAll();
        else this.wake(what);
      },
      missed: async () => {
        database.replica?.changed();
        // It may have been another server, or this one as it was some time ago. Where it cannot be told now, the next reading does.
        await this.takePlace().catch((error) => this.log.warn({ err: error }, 'whether changes go on could not be told'));
        this.wakeAll();
      },
    });
  }

  async start(): Promise<void> {
    await this.takePlace();
    await this.prune();
    const prune = () => this.prune().catch((error) => this.log.error({ err: error }, 'old changes could not be removed'));
    this.pruning = setInterval(() => void prune(), PRUNE_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.pruning);
  }

  /** Changes to rows of these tables after a cursor, oldest first; without a cursor none, but a cursor of now. */
  async read(watched: Watched, since: string | null, limit: number, session: Session): Promise<ChangePage> {
    const from = since === null ? undefined : decoded(since);
    const { text, values } = reading(watched, from, limit + 1);
    const ask = () =>
      session.query(text, values).catch((error) => {
        throw INVALID_TEXT.includes(error?.code) ? badArgument('since', NO_CURSOR) : error;
      });
    let rows = await ask();
    if (!rows[0]!.here) {
      await this.takePlace();
      rows = await ask();
    }
    const { log, now, snapshot, ended } = rows[0] as { log: string; now: number; snapshot: string; ended: string | null };
    if (from && (from.at < now - KEPT_DAYS * SECONDS_PER_DAY || !isOurs(from, from.log === log ? endOf(snapshot) : ended))) throw expired();
    const found = rows.filter(({ id }) => id !== null) as unknown as LoggedChange[];
    const changes = found.slice(0, limit);
    const until = from?.until ?? snapshot;
    if (from && found.length > limit)
      return { cursor: encoded({ ...from, log, until, after: changes.at(-1)!.id }), hasMore: true, changes };
    return { cursor: encoded({ log, at: from?.until ? from.at : now, seen: until }), hasMore: from?.until !== undefined, changes };
  }

  /** Calls `wake` whenever something of this may have changed, until the answered function is called. */
  watch({ ownerId, own, shared }: Watched, caller: Caller, wake: () => void): () => void {
    const counted: [Caller | null, number][] = [[caller, MAX_WATCHERS], ...(ownerId === null ? NOBODYS : [])];
    for (const [whose, most] of counted)
      if ((this.watchers.get(whose) ?? 0) >= most)
        throw new KnownError('TOO_MANY_SUBSCRIPTIONS', `There are ${most} subscriptions already.`);
    for (const [whose] of counted) this.watchers.set(whose, (this.watchers.get(whose) ?? 0) + 1);
    const awaited = [...(own.length && ownerId !== null ? [String(ownerId)] : []), ...shared];
    for (const what of awaited) this.waiting.set(what, (this.waiting.get(what) ?? new Set()).add(wake));
    return () => {
      for (const [whose] of counted) {
        const left = this.watchers.get(whose)! - 1;
        if (left) this.watchers.set(whose, left);
        else this.watchers.delete(whose);
      }
      for (const what of awaited) {
        const waiting = this.waiting.get(what)!;
        waiting.delete(wake);
        if (!waiting.size) this.waiting.delete(what);
      }
    };
  }

  get watching(): number {
    return this.watchers.size && [...this.watchers].reduce((sum, [whose, count]) => (whose === null ? sum : sum + count), 0);
  }

  private wake(what: string): void {
    for (const wake of this.waiting.get(what) ?? []) wake();
  }

  private wakeAll(): void {
    for (const what of this.waiting.keys()) this.wake(what);
  }

  /** The log goes on, or begins anew, wherever the database is now. */
  private async takePlace(): Promise<void> {
    await this.database.unlimited((client) => client.query('SELECT "fitgraph_take_place"()'));
  }

  private async prune(): Promise<void> {
    await this.database.unlimited(async (client) => {
      await client.query(`DELETE FROM "change" WHERE "at" < now() - make_interval(days => $1)`, [KEPT_DAYS + MARGIN_DAYS]);
      await client.query(`DELETE FROM "former_change_log" WHERE "at" < now() - make_interval(days => $1)`, [KEPT_DAYS + MARGIN_DAYS]);
      await client.query(`DELETE FROM "table_change" WHERE "at" < now() - make_interval(days => $1)`, [TABLE_CHANGES_KEPT_DAYS]);
    });
  }
}
