/**
 * Audit log of security events: passwords, tokens, sessions and accounts. Append-only: database
 * triggers permit only the deletion of events older than 30 days. Because clients can cause any
 * number of events, they are limited per hour: failures per address and in total, other events per
 * user and kind. Events of operators are not limited.
 */
import type { Logger } from 'pino';
import { ClientError } from '../engine/declare/errors';
import type { Database } from '../database/connection';
import type { Row } from '../database/rows';
import type { AuditSource, DatabaseSession } from '../database/session';
import type { EventKind } from './event-kinds';
import type { IdWindow } from './id-pages';

export interface NewSecurityEvent extends AuditSource {
  kind: EventKind;

  /** Absent if the event belongs to no existing account. */
  userId?: number;

  /**
   * Details, such as the name of a token. Must contain neither secrets nor text from an anonymous
   * client.
   */
  detail?: string;
}

const FAILURE_KINDS: readonly EventKind[] = ['SIGN_IN_FAILED', 'PASSWORD_REFUSED'];

/**
 * If such an event cannot be logged, the action that it describes is rejected. The audit log is
 * therefore complete for these kinds.
 */
const ALWAYS_LOGGED_KINDS: readonly EventKind[] = [
  'PASSWORD_CHANGED',
  'API_KEY_REPLACED',
  'ACCESS_TOKEN_CREATED',
];

const MAX_HOURLY_FAILURES_PER_ADDRESS = 20;
const MAX_HOURLY_FAILURES = 200;
const MAX_HOURLY_EVENTS_PER_USER_AND_KIND = 60;
const SECONDS_PER_HOUR = 60 * 60;

const INSERT_INTO_EVENTS_SQL = `INSERT INTO "security_event" ("kind", "user_id", "address",
  "operator", "detail", "is_last")`;
const INSERT_FAILURE_SQL = `${INSERT_INTO_EVENTS_SQL} SELECT $1, $2::int, $3::text, $4::text,
  $5::text, n."here" = ${MAX_HOURLY_FAILURES_PER_ADDRESS - 1}
  OR n."all" = ${MAX_HOURLY_FAILURES - 1}
  FROM (SELECT count(*) AS "all", count(*) FILTER (WHERE "address" = $3::text) AS "here"
    FROM "security_event"
    WHERE "kind" IN (${FAILURE_KINDS.map((kind) => `'${kind}'`).join(', ')})
      AND "at" > now() - interval '1 hour') n
  WHERE n."here" < ${MAX_HOURLY_FAILURES_PER_ADDRESS} AND n."all" < ${MAX_HOURLY_FAILURES}
  RETURNING 1`;
const INSERT_USER_EVENT_SQL = `${INSERT_INTO_EVENTS_SQL} SELECT $1, $2::int, $3::text, $4::text,
  $5::text, n."count" = ${MAX_HOURLY_EVENTS_PER_USER_AND_KIND - 1}
  FROM (SELECT count(*) AS "count" FROM "security_event" WHERE "user_id" = $2::int AND "kind" = $1
    AND "at" > now() - interval '1 hour') n
  WHERE n."count" < ${MAX_HOURLY_EVENTS_PER_USER_AND_KIND} RETURNING 1`;
const INSERT_OPERATOR_EVENT_SQL = `${INSERT_INTO_EVENTS_SQL} VALUES ($1, $2::int, $3::text, $4::text, $5::text, false) RETURNING 1`;

/**
 * Logs an event with the source of the session, or drops it if the limit of events per hour is reached. Throws TOO_MANY_REQUESTS
 * instead of dropping an event of ALWAYS_LOGGED_KINDS.
 */
export async function logSecurityEvent(
  event: NewSecurityEvent,
  session: Pick<DatabaseSession, 'query'> & { auditSource?: AuditSource },
): Promise<void> {
  const { kind, userId, address, operator, detail } = { ...session.auditSource, ...event };
  let statement = INSERT_USER_EVENT_SQL;

  if (operator !== undefined) statement = INSERT_OPERATOR_EVENT_SQL;
  else if (FAILURE_KINDS.includes(kind)) statement = INSERT_FAILURE_SQL;
  const insertedRows = await session.query(statement, [
    kind,
    userId ?? null,
    address ?? null,
    operator ?? null,
    detail ?? null,
  ]);

  if (!insertedRows.length && ALWAYS_LOGGED_KINDS.includes(kind)) {
    throw new ClientError(
      'TOO_MANY_REQUESTS',
      'Too many attempts within an hour. Try again later.',
      { retryAfter: SECONDS_PER_HOUR },
    );
  }
}

export interface StoredSecurityEvent {
  id: number;
  occurredAt: string;
  kind: EventKind;
  userId: number | null;
  username: string | null;
  address: string | null;
  operator: string | null;
  detail: string | null;

  /** Whether this event reached the hourly limit, so that further ones may have been dropped. */
  wasTruncated: boolean;
}

export interface EventFilter {
  username?: string;
  kinds?: readonly EventKind[];
  address?: string;

  /** Earliest time (inclusive), in any timestamp format of PostgreSQL. */
  since?: string;

  /** Latest time (exclusive), in any timestamp format of PostgreSQL. */
  until?: string;
  olderThanId?: number;
}

/**
 * SQL: whether event `e` belongs to account `u`. An id can be reused after the table of accounts
 * was emptied, so an event older than the account belongs to an earlier one.
 */
const IS_EVENT_OF_ACCOUNT_SQL = `u."id" = e."user_id" AND u."created_at" <= e."at"`;
const EVENT_COLUMNS_SQL = `e."id", e."at" AS "occurredAt", e."kind", e."user_id" AS "userId", u."username", e."operator", e."detail", e."is_last" AS "wasTruncated"`;

/** SQL: the events of a user, without the addresses of superusers. */
const selectUserEventsSql = (
  direction: 'ASC' | 'DESC',
) => `SELECT ${EVENT_COLUMNS_SQL}, CASE WHEN e."operator" IS NULL THEN e."address" END AS "address"
  FROM "user_account" u JOIN "security_event" e
  ON ${IS_EVENT_OF_ACCOUNT_SQL}
  WHERE u."id" = $1 AND ($2::bigint IS NULL OR e."id" < $2) AND ($3::bigint IS NULL OR e."id" > $3)
  ORDER BY e."id" ${direction} LIMIT $4`;
const SELECT_NEWEST_FIRST_SQL = selectUserEventsSql('DESC');
const SELECT_OLDEST_FIRST_SQL = selectUserEventsSql('ASC');
const COUNT_USER_EVENTS_SQL = `SELECT count(*) AS "count" FROM "user_account" u
  JOIN "security_event" e ON ${IS_EVENT_OF_ACCOUNT_SQL} WHERE u."id" = $1`;
const SELECT_EVENTS_SQL = `SELECT ${EVENT_COLUMNS_SQL}, e."address" FROM "security_event" e
  LEFT JOIN "user_account" u ON ${IS_EVENT_OF_ACCOUNT_SQL}
  WHERE ($1::text IS NULL OR u."username" = $1) AND ($2::text[] IS NULL OR e."kind" = ANY($2))
    AND ($3::text IS NULL OR e."address" = $3)
    AND ($4::timestamptz IS NULL OR e."at" >= $4) AND ($5::timestamptz IS NULL OR e."at" < $5)
    AND ($6::bigint IS NULL OR e."id" < $6)
  ORDER BY e."id" DESC LIMIT $7`;

/** Loads a page of the events of a user, newest first unless `oldestFirst`. */
export const findUserEvents = (
  userId: number,
  { olderThanId, newerThanId, oldestFirst, limit }: IdWindow,
  session: DatabaseSession,
): Promise<StoredSecurityEvent[]> => {
  const statement = oldestFirst ? SELECT_OLDEST_FIRST_SQL : SELECT_NEWEST_FIRST_SQL;

  return session.query(statement, [
    userId,
    olderThanId ?? null,
    newerThanId ?? null,
    limit,
  ]) as Promise<Row[]> as Promise<StoredSecurityEvent[]>;
};

export const countUserEvents = async (userId: number, session: DatabaseSession): Promise<number> =>
  (await session.query(COUNT_USER_EVENTS_SQL, [userId]))[0]!.count;

/** Loads events of all accounts, newest first. */
export const findEvents = (
  filter: EventFilter,
  limit: number,
  session: DatabaseSession,
): Promise<StoredSecurityEvent[]> => {
  const { username, kinds, address, since, until, olderThanId } = filter;
  const values = [
    username ?? null,
    kinds ?? null,
    address ?? null,
    since ?? null,
    until ?? null,
    olderThanId ?? null,
    limit,
  ];

  return session.query(SELECT_EVENTS_SQL, values) as Promise<Row[]> as Promise<
    StoredSecurityEvent[]
  >;
};

const PRUNE_INTERVAL_MS = 6 * 60 * 60 * 1000;

export class SecurityEventPruner {
  private pruneTimer?: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    private readonly retentionDays: number,
    private readonly log: Logger,
  ) {}

  async start(): Promise<void> {
    await this.prune();
    const pruneOrLogError = () =>
      this.prune().catch((error) =>
        this.log.error({ err: error }, 'old security events could not be removed'),
      );

    this.pruneTimer = setInterval(() => void pruneOrLogError(), PRUNE_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.pruneTimer);
  }

  private async prune(): Promise<void> {
    await this.database.withoutTimeouts((client) =>
      client.query('DELETE FROM "security_event" WHERE "at" < now() - make_interval(days => $1)', [
        this.retentionDays,
      ]),
    );
  }
}
