/**
 * The log of changes, as the database's triggers write it. What a client has seen is told by the snapshot of its last reading: a change is
 * new if its transaction is not in there. So nothing is missed and nothing told twice, in whatever order transactions end.
 */
import type { Logger } from 'pino';
import type { Database, Session } from '../database/connection';
import { badArgument, KnownError } from './errors';
import type { Listener } from './listener';

const CHANNEL = 'fitgraph_change';
/** So long a client may be away and still catch up. */
export const KEPT_DAYS = 30;
/** What a cursor may rest on is kept a little longer than cursors are good. */
const MARGIN_DAYS = 1;
const TABLE_CHANGES_KEPT_DAYS = 1;
/** What rests on a snapshot is kept no longer: well within the time for which changes of tables are. */
export const MAX_STATE_AGE_MS = 3_600_000;
/** Of one owner, in this process. */
const MAX_WATCHERS = 100;
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
  if (typeof log !== 'string' || !Number.isSafeInteger(at) || !isSnapshot(seen) || !whole) throw badArgument('since', NO_CURSOR);
  return { log, at, seen, until, after } as Position;
}

const expired = () =>
  new KnownError(
    'CURSOR_EXPIRED',
    'What changed since this cursor is no longer known: read everything again, and go on from a new cursor.',
  );

const READ = `SELECT l."id" AS "log", extract(epoch FROM now())::bigint AS "now", s."snapshot", c.*
  FROM (SELECT pg_current_snapshot()::text AS "snapshot") s CROSS JOIN "change_log" l LEFT JOIN LATERAL (
    SELECT c."id", c."table", c."row_id" AS "rowId", c."operation", c."at" FROM "change" c
    WHERE c."user_id" = $1 AND c."transaction" >= pg_snapshot_xmin($2::pg_snapshot) AND NOT pg_visible_in_snapshot(c."transaction", $2::pg_snapshot)
      AND ($3::pg_snapshot IS NULL OR pg_visible_in_snapshot(c."transaction", $3::pg_snapshot))
      AND c."id" > $4 AND c."table" = ANY($5) ORDER BY c."id" LIMIT $6
  ) c ON true ORDER BY c."id"`;

export interface ChangePage {
  cursor: string;
  /** Whether there may be more now. */
  hasMore: boolean;
  changes: LoggedChange[];
}

export class ChangeLog {
  private readonly waiting = new Map<number, Set<() => void>>();
  private pruning?: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    listener: Listener,
    private readonly log: Logger,
  ) {
    listener.on(CHANNEL, {
      heard: (owner) => (owner === '' ? this.wakeAll() : this.wake(Number(owner))),
      missed: () => this.wakeAll(),
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

  /** The owner's changes to rows of these tables after a cursor, oldest first; without a cursor none, but a cursor of now. */
  async read(ownerId: number, tables: readonly string[], since: string | null, limit: number, session: Session): Promise<ChangePage> {
    const from = since === null ? undefined : decoded(since);
    const values = [ownerId, from?.seen ?? null, from?.until ?? null, from?.after ?? 0, tables, limit + 1];
    const rows = await session.query(READ, values).catch((error) => {
      throw INVALID_TEXT.includes(error?.code) ? badArgument('since', NO_CURSOR) : error;
    });
    const { log, now, snapshot } = rows[0] as { log: string; now: number; snapshot: string };
    if (from && (from.log !== log || from.at < now - KEPT_DAYS * SECONDS_PER_DAY)) throw expired();
    const found = rows.filter(({ id }) => id !== null) as unknown as LoggedChange[];
    const changes = found.slice(0, limit);
    const until = from?.until ?? snapshot;
    if (from && found.length > limit)
      return { cursor: encoded({ ...from, log, until, after: changes.at(-1)!.id }), hasMore: true, changes };
    return { cursor: encoded({ log, at: from?.until ? from.at : now, seen: until }), hasMore: from?.until !== undefined, changes };
  }

  /** Calls `wake` whenever something of the owner may have changed, until the answered function is called. */
  watch(ownerId: number, wake: () => void): () => void {
    const watchers = this.waiting.get(ownerId) ?? new Set();
    if (watchers.size >= MAX_WATCHERS) throw new KnownError('TOO_MANY_SUBSCRIPTIONS', `There are ${MAX_WATCHERS} subscriptions already.`);
    this.waiting.set(ownerId, watchers.add(wake));
    return () => {
      watchers.delete(wake);
      if (!watchers.size && this.waiting.get(ownerId) === watchers) this.waiting.delete(ownerId);
    };
  }

  private wake(ownerId: number): void {
    for (const wake of this.waiting.get(ownerId) ?? []) wake();
  }

  private wakeAll(): void {
    for (const ownerId of this.waiting.keys()) this.wake(ownerId);
  }

  /** In a copy of a database, such as a restored dump, transactions have other numbers, so the log begins anew. */
  private async takePlace(): Promise<void> {
    const take = `
      WITH here AS (
        SELECT format('%s/%s', c.system_identifier, d.oid) AS place FROM pg_control_system() c, pg_database d WHERE d.datname = current_database()
      ), moved AS (
        UPDATE "change_log" l SET "id" = gen_random_uuid(), "place" = here.place FROM here WHERE l."place" <> here.place RETURNING 1
      ), removed AS (
        DELETE FROM "change" WHERE EXISTS (SELECT FROM moved)
      ) DELETE FROM "table_change" WHERE EXISTS (SELECT FROM moved)`;
    await this.database.unlimited((client) => client.query(take));
  }

  private async prune(): Promise<void> {
    await this.database.unlimited(async (client) => {
      await client.query(`DELETE FROM "change" WHERE "at" < now() - make_interval(days => $1)`, [KEPT_DAYS + MARGIN_DAYS]);
      await client.query(`DELETE FROM "table_change" WHERE "at" < now() - make_interval(days => $1)`, [TABLE_CHANGES_KEPT_DAYS]);
    });
  }
}
