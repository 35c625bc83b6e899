/**
 * Change data capture: reads the change log that database triggers write. A cursor contains the
 * PostgreSQL snapshot of the client's last read: changes of transactions not visible in it are new.
 * So each change is delivered exactly once, whatever the order in which transactions commit.
 */
import type { Logger } from 'pino';
import { isUuid } from '../../shared/bounds';
import type { Database } from '../../database/connection';
import type { StatementParameters } from '../../database/rows';
import type { DatabaseSession } from '../../database/session';
import { ConcurrencyLimiter, type LimiterClientKey } from '../../shared/limiter';
import { createParameterBinder } from '../access/conditions';
import { decodeCursor, encodeCursor } from '../declare/cursors';
import { invalidArgumentError, ClientError } from '../declare/errors';
import type { NotificationListener } from './listener';

/**
 * Notification channel of changes. The payload is the id of the user whose rows have changed, or the
 * name of a public table; empty if all data may have changed.
 */
export const CHANGE_CHANNEL = 'fitgraph_change';

export const CURSOR_MAX_AGE_DAYS = 30;

/** Retention by table, in days. Changes outlive the cursors that need them by one day. */
const RETENTION_DAYS_BY_TABLE = [
  ['change', CURSOR_MAX_AGE_DAYS + 1],
  ['former_change_log', CURSOR_MAX_AGE_DAYS + 1],
  ['table_change', 1],
] as const;

/**
 * Maximum age of cached data that is validated against `table_change`. Must be much shorter than
 * the retention of that table, so that validation misses no change.
 */
export const MAX_SNAPSHOT_AGE_MS = 3_600_000;
const MAX_WATCHERS_PER_CLIENT = 100;

/** Maximum number of subscriptions of all anonymous clients of a process together. */
const MAX_ANONYMOUS_WATCHERS = 1_000;
const PRUNE_INTERVAL_MS = 3_600_000;
const SECONDS_PER_DAY = 86_400;

export interface LoggedChange {
  id: number;
  table: string;
  rowId: number;
  operation: 'INSERT' | 'UPDATE' | 'DELETE';
  occurredAt: string;
}

/** Position of a client in the change log: a decoded cursor. */
interface ChangeLogPosition {
  /**
   * Id of the current change log when the cursor was created. A restart of PostgreSQL starts a new
   * log.
   */
  logId: string;

  /** Unix time in seconds at which the cursor was created. */
  issuedAt: number;

  /** The client has read all changes of the transactions visible in this snapshot. */
  seenSnapshot: string;

  /**
   * Set while a client reads several pages: the last page ends at the snapshot `untilSnapshot`, and
   * the client has read the changes up to the id `lastSeenChangeId`.
   */
  untilSnapshot?: string;
  lastSeenChangeId?: number;
}

const INVALID_CURSOR_MESSAGE = 'This is not a valid cursor of changes.';
const INVALID_SNAPSHOT_SQLSTATES = ['22P02', '22003'];
const SNAPSHOT_PATTERN = /^\d{1,20}:\d{1,20}:(\d{1,20}(,\d{1,20})*)?$/;

/**
 * Xmax of a PostgreSQL snapshot: no transaction from this id on had completed
 * (https://www.postgresql.org/docs/current/functions-info.html).
 */
const xmaxOf = (snapshot: string): bigint => BigInt(snapshot.split(':')[1]!);

const cursorAt = ({
  logId,
  issuedAt,
  seenSnapshot,
  untilSnapshot,
  lastSeenChangeId,
}: ChangeLogPosition) => {
  const values: unknown[] = [logId, issuedAt, seenSnapshot];

  if (untilSnapshot !== undefined) values.push(untilSnapshot, lastSeenChangeId);

  return encodeCursor(values);
};

function parsePosition(cursor: string): ChangeLogPosition {
  const [logId, issuedAt, seenSnapshot, untilSnapshot, lastSeenChangeId] =
    decodeCursor(cursor) ?? [];
  const isSnapshot = (value: unknown): value is string =>
    typeof value === 'string' && SNAPSHOT_PATTERN.test(value);
  const hasValidPageFields =
    untilSnapshot === undefined ||
    (isSnapshot(untilSnapshot) && Number.isSafeInteger(lastSeenChangeId));

  if (
    typeof logId !== 'string' ||
    !isUuid(logId) ||
    !Number.isSafeInteger(issuedAt) ||
    !isSnapshot(seenSnapshot) ||
    !hasValidPageFields
  ) {
    throw invalidArgumentError('since', INVALID_CURSOR_MESSAGE);
  }

  return {
    logId,
    issuedAt,
    seenSnapshot,
    untilSnapshot,
    lastSeenChangeId,
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
 * Whether the change log of the cursor contains all transactions that the client has read. A
 * restore or failover may have lost some. `endTransactionId` is the first transaction id after the
 * end of that log, or null if the log is unknown.
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
  /** User whose rows are included. Null for anonymous clients, who own no rows. */
  ownerId: number | null;
  ownedTables: readonly string[];
  publicTables: readonly string[];
}

/**
 * Reads changes after a position. Separate subqueries read changes of the viewer's rows and of
 * public rows, so that each uses its own index.
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
    `(SELECT c."id", c."table", c."row_id" AS "rowId", c."operation", c."at" AS "occurredAt"
      FROM "change" c
      WHERE c."user_id" ${ownerComparisonSql}
        AND c."transaction" >= pg_snapshot_xmin(${seenSql})
        AND NOT pg_visible_in_snapshot(c."transaction", ${seenSql})
        AND (${untilSql} IS NULL OR pg_visible_in_snapshot(c."transaction", ${untilSql}))
        AND c."id" > ${afterSql} AND c."table" = ANY(${bind(tables)}) ORDER BY c."id"
          LIMIT ${limitSql})`;
  const selectStatements: string[] = [];

  if (ownedTables.length || !publicTables.length) {
    selectStatements.push(selectChangesSql(`= ${bind(ownerId)}::int`, ownedTables));
  }

  if (publicTables.length) selectStatements.push(selectChangesSql('IS NULL', publicTables));

  const text = `SELECT l."id" AS "log", extract(epoch FROM now())::bigint AS "now", s."snapshot",
    f."ended"::text, c.*,
      l."server" = "fitgraph_server"() OR pg_is_in_recovery() AS "here"
    FROM (SELECT pg_current_snapshot()::text AS "snapshot") s CROSS JOIN "change_log" l
    LEFT JOIN "former_change_log" f ON f."id" = ${bind(position?.logId ?? null)}::uuid
    LEFT JOIN LATERAL (SELECT * FROM (${selectStatements.join(' UNION ALL ')}) k ORDER BY k."id"
      LIMIT ${limitSql}) c ON true ORDER BY c."id"`;

  return { text, values };
}

export interface ChangePage {
  cursor: string;
  hasMore: boolean;
  changes: LoggedChange[];
}

export class ChangeLog {
  /**
   * Callbacks of subscriptions by topic. As in the payloads of notifications, a topic is a user id
   * or the name of a public table.
   */
  private readonly callbacksByTopic = new Map<string, Set<() => void>>();
  private readonly watcherLimiter = new ConcurrencyLimiter<LimiterClientKey>({
    slots: Infinity,
    slotsPerClient: MAX_WATCHERS_PER_CLIENT,
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
    listener.registerHandler(CHANGE_CHANNEL, {
      onNotification: (payload) => {
        if (payload === '') this.wakeAllWatchers();
        else this.wakeWatchersOf(payload);
      },
      onMissedNotifications: async () => {
        // The connection may now lead to another PostgreSQL server or to restored data, which needs
        // a new change log. If this check fails, the next read of changes repeats it.
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

  /**
   * Reads the changes after a cursor, oldest first. Without a cursor, a client gets only a cursor
   * for the current state. With `untilSnapshot`, changes that are not visible in it are left to the
   * next read.
   */
  async read(
    filter: ChangeFilter,
    since: string | null,
    limit: number,
    session: DatabaseSession,
    untilSnapshot?: string,
  ): Promise<ChangePage> {
    const position = since === null ? undefined : parsePosition(since);
    const { text, values } = changesQuery(
      filter,
      position && { ...position, untilSnapshot: position.untilSnapshot ?? untilSnapshot },
      limit + 1,
    );
    const runQuery = () =>
      session.query(text, values).catch((error) => {
        if (INVALID_SNAPSHOT_SQLSTATES.includes(error?.code)) {
          throw invalidArgumentError('since', INVALID_CURSOR_MESSAGE);
        }

        throw error;
      });
    let rows = await runQuery();

    // The column `here` is false if the current change log was started by another PostgreSQL
    // server, or before a restart of this one. Then a new log must be started.
    if (!rows[0]!.here) {
      await this.startNewLogIfServerChanged();
      rows = await runQuery();
    }

    const {
      log: currentLogId,
      now,
      snapshot,
      ended,
    } = rows[0] as {
      log: string;
      now: number;
      snapshot: string;
      ended: string | null;
    };

    if (position) {
      const isTooOld = position.issuedAt < now - CURSOR_MAX_AGE_DAYS * SECONDS_PER_DAY;
      const endTransactionId = position.logId === currentLogId ? xmaxOf(snapshot) : ended;

      if (isTooOld || !isPositionWithinLog(position, endTransactionId)) throw cursorExpiredError();
    }

    const loggedChanges = rows.filter(({ id }) => id !== null) as unknown as LoggedChange[];
    const changes = loggedChanges.slice(0, limit);
    const readSnapshot = position?.untilSnapshot ?? untilSnapshot ?? snapshot;

    if (position && loggedChanges.length > limit) {
      return {
        cursor: cursorAt({
          ...position,
          logId: currentLogId,
          untilSnapshot: readSnapshot,
          lastSeenChangeId: changes.at(-1)!.id,
        }),
        hasMore: true,
        changes,
      };
    }

    return {
      cursor: cursorAt({
        logId: currentLogId,
        issuedAt: position?.untilSnapshot ? position.issuedAt : now,
        seenSnapshot: readSnapshot,
      }),
      hasMore: position?.untilSnapshot !== undefined,
      changes,
    };
  }

  /**
   * Subscribes `onChange` to possible changes of the watched rows. Call the returned function to
   * unsubscribe.
   */
  watch(
    { ownerId, ownedTables, publicTables }: ChangeFilter,
    clientKey: LimiterClientKey,
    onChange: () => void,
  ): () => void {
    if (!this.watcherLimiter.tryAcquire(clientKey)) {
      throw tooManySubscriptionsError(MAX_WATCHERS_PER_CLIENT);
    }

    if (ownerId === null && !this.anonymousWatcherLimiter.tryAcquire(null)) {
      this.watcherLimiter.release(clientKey);
      throw tooManySubscriptionsError(MAX_ANONYMOUS_WATCHERS);
    }

    const topics = [
      ...(ownedTables.length && ownerId !== null ? [String(ownerId)] : []),
      ...publicTables,
    ];

    for (const topic of topics) {
      this.callbacksByTopic.set(
        topic,
        (this.callbacksByTopic.get(topic) ?? new Set()).add(onChange),
      );
    }

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
   * Starts a new log if PostgreSQL was restarted or replaced. Cursors of the previous log stay
   * valid unless they cover transactions that this server may have lost. In a copy of the database,
   * all cursors are invalid.
   */
  private async startNewLogIfServerChanged(): Promise<void> {
    await this.database.withoutTimeouts((client) => client.query('SELECT "fitgraph_take_place"()'));
  }

  private async pruneChanges(): Promise<void> {
    await this.database.withoutTimeouts(async (client) => {
      for (const [table, days] of RETENTION_DAYS_BY_TABLE) {
        await client.query(
          `DELETE FROM "${table}" WHERE "at" < now() - make_interval(days => $1)`,
          [days],
        );
      }
    });
  }
}
