/**
 * Change data capture: reads the change log that database triggers write. A cursor contains the PostgreSQL snapshot of the client's last read; a
 * change is new if its transaction is not visible in that snapshot. So each change is delivered exactly once, in whatever order transactions commit.
 */
import type { Logger } from 'pino';
import { isUuid } from '../../contract/bounds';
import type { Database } from '../../database/connection';
import type { StatementParameters } from '../../database/rows';
import type { DatabaseSession } from '../../database/session';
import { ConcurrencyLimiter, type LimiterClientKey } from '../../platform/limiter';
import { createParameterBinder } from '../access/conditions';
import { decodeCursor, encodeCursor } from '../model/cursors';
import { invalidArgumentError, ClientError } from '../model/errors';
import type { NotificationListener } from './listener';

const NOTIFICATION_CHANNEL = 'fitgraph_change';
export const CURSOR_MAX_AGE_DAYS = 30;
/** Retention by table in days. Changes are kept for one day longer than the cursors that need them are valid. */
const RETENTION_DAYS_BY_TABLE = [
  ['change', CURSOR_MAX_AGE_DAYS + 1],
  ['former_change_log', CURSOR_MAX_AGE_DAYS + 1],
  ['table_change', 1],
] as const;
/** Maximum age of cached data that is validated against the recorded table changes. The records are kept much longer, so that validation misses no change. */
export const MAX_SNAPSHOT_AGE_MS = 3_600_000;
const MAX_WATCHERS_PER_CALLER = 100;
/** Maximum number of subscriptions of all anonymous clients of a process together. */
const MAX_ANONYMOUS_WATCHERS = 1_000;
const PRUNE_INTERVAL_MS = 3_600_000;
const SECONDS_PER_DAY = 86_400;

/**
 * Returns the SQL condition that one of the tables has changed since a snapshot. The parameters are placeholders of the table names and of the
 * snapshot.
 */
export const hasTableChangedSql = (tableNamesSql: string, snapshotSql: string): string =>
  `EXISTS (SELECT FROM "table_change" c WHERE c."table" = ANY(${tableNamesSql})
    AND c."transaction" >= pg_snapshot_xmin(${snapshotSql}::pg_snapshot) AND NOT pg_visible_in_snapshot(c."transaction", ${snapshotSql}::pg_snapshot))`;

export interface LoggedChange {
  id: number;
  table: string;
  rowId: number;
  operation: 'INSERT' | 'UPDATE' | 'DELETE';
  occurredAt: string;
}

/** Position of a client in the change log: a decoded cursor. */
interface ChangeLogPosition {
  /** Id of the change log that was current when the cursor was created. A new log starts, for example, when PostgreSQL is restarted. */
  logId: string;
  /** Unix time in seconds at which the cursor was created. */
  issuedAt: number;
  /** The client has read all changes of the transactions visible in this snapshot. */
  seenSnapshot: string;
  /**
   * Set while a client reads several pages: of the changes visible in `untilSnapshot` but not in `seenSnapshot`, the client has read those up to the
   * id `afterId`.
   */
  untilSnapshot?: string;
  lastSeenChangeId?: number;
}

const INVALID_CURSOR_MESSAGE = 'This is not a valid cursor of changes.';
const INVALID_SNAPSHOT_SQLSTATES = ['22P02', '22003'];
const SNAPSHOT_PATTERN = /^\d{1,20}:\d{1,20}:(\d{1,20}(,\d{1,20})*)?$/;

/** Returns the xmax of a snapshot: when it was taken, no transaction with this id or a later one had completed. */
const xmaxOf = (snapshot: string): bigint => BigInt(snapshot.split(':')[1]!);

const cursorAt = ({
  logId,
  issuedAt,
  seenSnapshot,
  untilSnapshot,
  lastSeenChangeId,
}: ChangeLogPosition) =>
  encodeCursor(
    untilSnapshot === undefined
      ? [logId, issuedAt, seenSnapshot]
      : [logId, issuedAt, seenSnapshot, untilSnapshot, lastSeenChangeId],
  );

function parsePosition(cursor: string): ChangeLogPosition {
  const [log, issuedAt, seenSnapshot, untilSnapshot, afterId] = decodeCursor(cursor) ?? [];
  const isSnapshot = (value: unknown): value is string =>
    typeof value === 'string' && SNAPSHOT_PATTERN.test(value);
  const hasValidPageFields =
    untilSnapshot === undefined || (isSnapshot(untilSnapshot) && Number.isSafeInteger(afterId));
  if (
    typeof log !== 'string' ||
    !isUuid(log) ||
    !Number.isSafeInteger(issuedAt) ||
    !isSnapshot(seenSnapshot) ||
    !hasValidPageFields
  )
    throw invalidArgumentError('since', INVALID_CURSOR_MESSAGE);
  return {
    logId: log,
    issuedAt,
    seenSnapshot,
    untilSnapshot,
    lastSeenChangeId: afterId,
  } as ChangeLogPosition;
}

const cursorExpiredError = () =>
  new ClientError(
    'CURSOR_EXPIRED',
    'The changes since this cursor are no longer available. Read everything again and continue from a new cursor.',
  );

const tooManySubscriptionsError = (max: number) =>
  new ClientError('TOO_MANY_SUBSCRIPTIONS', `You already have ${max} subscriptions.`);

/**
 * Whether the log contains all transactions up to the position of a client; a restore or failover may have lost some. `endTransactionId` is the first
 * transaction id after the end of the log; null if the log of the position is unknown.
 */
const isPositionWithinLog = (
  { seenSnapshot, untilSnapshot }: ChangeLogPosition,
  endTransactionId: bigint | string | null,
): boolean =>
  endTransactionId !== null &&
  [seenSnapshot, untilSnapshot].every(
    (snapshot) => snapshot === undefined || xmaxOf(snapshot) <= BigInt(endTransactionId),
  );

export interface ChangeFilter {
  /** Id of the user whose own rows are watched; null for an anonymous client, who owns no rows. */
  ownerId: number | null;
  ownedTables: readonly string[];
  publicTables: readonly string[];
}

/**
 * Returns the SQL that reads changes after a position. Changes of the viewer's rows and of public rows are read by separate subqueries, so that each
 * uses its own index.
 */
function changesQuery(
  { ownerId, ownedTables, publicTables }: ChangeFilter,
  position: ChangeLogPosition | undefined,
  limit: number,
): { text: string; values: StatementParameters } {
  const { bind, values } = createParameterBinder();
  const [seenSql, untilSql] = [position?.seenSnapshot, position?.untilSnapshot].map(
    (snapshot) => `${bind(snapshot ?? null)}::pg_snapshot`,
  );
  const [afterSql, limitSql] = [bind(position?.lastSeenChangeId ?? 0), bind(limit)];
  const selectChangesSql = (ownerComparisonSql: string, tables: readonly string[]) =>
    `(SELECT c."id", c."table", c."row_id" AS "rowId", c."operation", c."at" AS "occurredAt" FROM "change" c
      WHERE c."user_id" ${ownerComparisonSql}
        AND c."transaction" >= pg_snapshot_xmin(${seenSql}) AND NOT pg_visible_in_snapshot(c."transaction", ${seenSql})
        AND (${untilSql} IS NULL OR pg_visible_in_snapshot(c."transaction", ${untilSql}))
        AND c."id" > ${afterSql} AND c."table" = ANY(${bind(tables)}) ORDER BY c."id" LIMIT ${limitSql})`;
  const selectStatements = [
    ...(ownedTables.length || !publicTables.length
      ? [selectChangesSql(`= ${bind(ownerId)}::int`, ownedTables)]
      : []),
    ...(publicTables.length ? [selectChangesSql('IS NULL', publicTables)] : []),
  ];
  const text = `SELECT l."id" AS "log", extract(epoch FROM now())::bigint AS "now", s."snapshot", f."ended"::text, c.*,
      l."server" = "fitgraph_server"() OR pg_is_in_recovery() AS "here"
    FROM (SELECT pg_current_snapshot()::text AS "snapshot") s CROSS JOIN "change_log" l
    LEFT JOIN "former_change_log" f ON f."id" = ${bind(position?.logId ?? null)}::uuid
    LEFT JOIN LATERAL (SELECT * FROM (${selectStatements.join(' UNION ALL ')}) k ORDER BY k."id" LIMIT ${limitSql}) c ON true ORDER BY c."id"`;
  return { text, values };
}

export interface ChangePage {
  cursor: string;
  hasMore: boolean;
  changes: LoggedChange[];
}

export class ChangeLog {
  /**
   * Callbacks of subscriptions by topic: a user id or the name of a public table, as in the payloads of notifications. An empty payload means that all data
   * may have changed.
   */
  private readonly callbacksByTopic = new Map<string, Set<() => void>>();
  private readonly watcherLimiter = new ConcurrencyLimiter<LimiterClientKey>({
    slots: Infinity,
    slotsPerClient: MAX_WATCHERS_PER_CALLER,
  });
  private readonly anonymousWatcherLimiter = new ConcurrencyLimiter<null>({
    slots: MAX_ANONYMOUS_WATCHERS,
  });
  private pruneTimer?: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    listener: NotificationListener,
    private readonly log: Logger,
  ) {
    listener.registerHandler(NOTIFICATION_CHANNEL, {
      onNotification: (payload) => {
        if (payload === '') this.wakeAllWatchers();
        else this.wakeWatchersOf(payload);
      },
      onMissedNotifications: async () => {
        // A new change log is needed if the connection now leads to another PostgreSQL server or to restored data. If this check fails, the next read
        // of changes repeats it.
        await this.startNewLogIfServerChanged().catch((error) =>
          this.log.warn({ err: error }, 'the change log could not be compared with the database'),
        );
        this.wakeAllWatchers();
      },
    });
  }

  async start(): Promise<void> {
    await this.startNewLogIfServerChanged();
    await this.pruneChanges();
    const pruneOrLogError = () =>
      this.pruneChanges().catch((error) =>
        this.log.error({ err: error }, 'old changes could not be removed'),
      );
    this.pruneTimer = setInterval(() => void pruneOrLogError(), PRUNE_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.pruneTimer);
  }

  /** Reads the changes after a cursor, oldest first. Without a cursor, returns no changes and a cursor for the current state. */
  async read(
    filter: ChangeFilter,
    since: string | null,
    limit: number,
    session: DatabaseSession,
  ): Promise<ChangePage> {
    const position = since === null ? undefined : parsePosition(since);
    const { text, values } = changesQuery(filter, position, limit + 1);
    const runQuery = () =>
      session.query(text, values).catch((error) => {
        throw INVALID_SNAPSHOT_SQLSTATES.includes(error?.code)
          ? invalidArgumentError('since', INVALID_CURSOR_MESSAGE)
          : error;
      });
    let rows = await runQuery();
    // The column `here` is false if the current change log was started by another PostgreSQL server, or by this server before a restart. Then a new
    // log must be started.
    if (!rows[0]!.here) {
      await this.startNewLogIfServerChanged();
      rows = await runQuery();
    }
    const { log, now, snapshot, ended } = rows[0] as {
      log: string;
      now: number;
      snapshot: string;
      ended: string | null;
    };
    if (
      position &&
      (position.issuedAt < now - CURSOR_MAX_AGE_DAYS * SECONDS_PER_DAY ||
        !isPositionWithinLog(position, position.logId === log ? xmaxOf(snapshot) : ended))
    )
      throw cursorExpiredError();
    const loggedChanges = rows.filter(({ id }) => id !== null) as unknown as LoggedChange[];
    const changes = loggedChanges.slice(0, limit);
    const untilSnapshot = position?.untilSnapshot ?? snapshot;
    if (position && loggedChanges.length > limit)
      return {
        cursor: cursorAt({
          ...position,
          logId: log,
          untilSnapshot,
          lastSeenChangeId: changes.at(-1)!.id,
        }),
        hasMore: true,
        changes,
      };
    return {
      cursor: cursorAt({
        logId: log,
        issuedAt: position?.untilSnapshot ? position.issuedAt : now,
        seenSnapshot: untilSnapshot,
      }),
      hasMore: position?.untilSnapshot !== undefined,
      changes,
    };
  }

  /** Calls `onChange` whenever watched rows may have changed, until the returned function is called. Throws TOO_MANY_SUBSCRIPTIONS. */
  watch(
    { ownerId, ownedTables, publicTables }: ChangeFilter,
    clientKey: LimiterClientKey,
    onChange: () => void,
  ): () => void {
    if (!this.watcherLimiter.tryAcquire(clientKey))
      throw tooManySubscriptionsError(MAX_WATCHERS_PER_CALLER);
    if (ownerId === null && !this.anonymousWatcherLimiter.tryAcquire(null)) {
      this.watcherLimiter.release(clientKey);
      throw tooManySubscriptionsError(MAX_ANONYMOUS_WATCHERS);
    }
    const topics = [
      ...(ownedTables.length && ownerId !== null ? [String(ownerId)] : []),
      ...publicTables,
    ];
    for (const topic of topics)
      this.callbacksByTopic.set(
        topic,
        (this.callbacksByTopic.get(topic) ?? new Set()).add(onChange),
      );
    return () => {
      this.watcherLimiter.release(clientKey);
      if (ownerId === null) this.anonymousWatcherLimiter.release(null);
      for (const topic of topics) {
        const callbacks = this.callbacksByTopic.get(topic)!;
        callbacks.delete(onChange);
        if (!callbacks.size) this.callbacksByTopic.delete(topic);
      }
    };
  }

  get watcherCount(): number {
    return this.watcherLimiter.usage.busy;
  }

  private wakeWatchersOf(topic: string): void {
    for (const onChange of this.callbacksByTopic.get(topic) ?? []) onChange();
  }

  private wakeAllWatchers(): void {
    for (const topic of this.callbacksByTopic.keys()) this.wakeWatchersOf(topic);
  }

  /**
   * Starts a new log if PostgreSQL was restarted or replaced. Cursors of the previous log remain valid unless they cover transactions that this
   * server may have lost; in a copy of the database, all of them become invalid.
   */
  private async startNewLogIfServerChanged(): Promise<void> {
    await this.database.withoutTimeouts((client) => client.query('SELECT "fitgraph_take_place"()'));
  }

  private async pruneChanges(): Promise<void> {
    await this.database.withoutTimeouts(async (client) => {
      for (const [table, days] of RETENTION_DAYS_BY_TABLE)
        await client.query(
          `DELETE FROM "${table}" WHERE "at" < now() - make_interval(days => $1)`,
          [days],
        );
    });
  }
}
