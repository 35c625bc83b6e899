/**
 * The audit log: what became of passwords, tokens, sessions and accounts. The database lets nobody change it. Strangers and users cause events
 * too, so that those of one sort are noted so many times an hour at most; the last that is noted says that it is.
 */
import type { Logger } from 'pino';
import { KnownError } from '../core/model/errors';
import type { Database } from '../database/connection';
import type { Row } from '../database/rows';
import type { Session } from '../database/session';
import type { Run } from './accesstokens';
import type { EventKind } from './eventkinds';

export interface NewEvent {
  kind: EventKind;
  /** Absent: of no account, or of none that there is. */
  userId?: number;
  /** Where the request came from; of IPv6 the network. */
  address?: string;
  operator?: string;
  /** Such as the name of a token; never a secret, and nothing that a stranger chose. */
  detail?: string;
}

export type By = Pick<NewEvent, 'address' | 'operator'>;

const FAILURES: readonly EventKind[] = ['SIGN_IN_FAILED', 'PASSWORD_REFUSED'];
/** Without a note of it, none of these happens. */
const REFUSED: readonly EventKind[] = ['PASSWORD_CHANGED', 'API_KEY_REPLACED', 'ACCESS_TOKEN_CREATED'];

/** In an hour: of failures from one address, and from everywhere; of other events of one kind, of one user. */
const MAX_FROM_ADDRESS = 20;
const MAX_FAILURES = 200;
const MAX_OF_KIND = 60;
const SECONDS_PER_HOUR = 60 * 60;

const INSERT = `INSERT INTO "security_event" ("kind", "user_id", "address", "operator", "detail", "is_last")`;
const NOTE_FAILURE = `${INSERT} SELECT $1, $2::int, $3::text, $4::text, $5::text, n."here" = ${MAX_FROM_ADDRESS - 1} OR n."all" = ${MAX_FAILURES - 1}
  FROM (SELECT count(*) AS "all", count(*) FILTER (WHERE "address" = $3::text) AS "here" FROM "security_event"
    WHERE "kind" IN (${FAILURES.map((kind) => `'${kind}'`).join(', ')}) AND "at" > now() - interval '1 hour') n
  WHERE n."here" < ${MAX_FROM_ADDRESS} AND n."all" < ${MAX_FAILURES} RETURNING 1`;
const NOTE_OF_USER = `${INSERT} SELECT $1, $2::int, $3::text, $4::text, $5::text, n."count" = ${MAX_OF_KIND - 1}
  FROM (SELECT count(*) AS "count" FROM "security_event" WHERE "user_id" = $2::int AND "kind" = $1 AND "at" > now() - interval '1 hour') n
  WHERE n."count" < ${MAX_OF_KIND} RETURNING 1`;
const NOTE_OF_OPERATOR = `${INSERT} VALUES ($1, $2::int, $3::text, $4::text, $5::text, false) RETURNING 1`;

/** TOO_MANY_REQUESTS for what must not happen unnoted, once there was too much of it. */
export async function note({ kind, userId, address, operator, detail }: NewEvent, run: Run): Promise<void> {
  const statement = operator !== undefined ? NOTE_OF_OPERATOR : FAILURES.includes(kind) ? NOTE_FAILURE : NOTE_OF_USER;
  const noted = await run(statement, [kind, userId ?? null, address ?? null, operator ?? null, detail ?? null]);
  if (!noted.length && REFUSED.includes(kind))
    throw new KnownError('TOO_MANY_REQUESTS', 'This was done too often within an hour. Try again later.', { retryAfter: SECONDS_PER_HOUR });
}

export interface SecurityEvent {
  id: number;
  occurredAt: string;
  kind: EventKind;
  userId: number | null;
  username: string | null;
  address: string | null;
  operator: string | null;
  detail: string | null;
  wasTruncated: boolean;
}

export interface EventFilter {
  username?: string;
  kinds?: readonly EventKind[];
  address?: string;
  /** As PostgreSQL reads moments. */
  since?: string;
  until?: string;
  /** Only those that were noted before the one with this id. */
  before?: number;
}

/** An id is given anew where a table was emptied: what was noted before an account was made is not of it. */
const ACCOUNT = `u."id" = e."user_id" AND u."created_at" <= e."at"`;
const SHOWN = `e."id", e."at" AS "occurredAt", e."kind", e."user_id" AS "userId", u."username", e."address", e."operator", e."detail", e."is_last" AS "wasTruncated"`;
const ofUser = (direction: 'ASC' | 'DESC') => `SELECT ${SHOWN} FROM "user_account" u JOIN "security_event" e ON ${ACCOUNT}
  WHERE u."id" = $1 AND ($2::bigint IS NULL OR e."id" < $2) AND ($3::bigint IS NULL OR e."id" > $3) ORDER BY e."id" ${direction} LIMIT $4`;
const NEWEST_OF_USER = ofUser('DESC');
const OLDEST_OF_USER = ofUser('ASC');
const COUNT_OF_USER = `SELECT count(*) AS "count" FROM "user_account" u JOIN "security_event" e ON ${ACCOUNT} WHERE u."id" = $1`;
const FIND = `SELECT ${SHOWN} FROM "security_event" e LEFT JOIN "user_account" u ON ${ACCOUNT}
  WHERE ($1::text IS NULL OR u."username" = $1) AND ($2::text[] IS NULL OR e."kind" = ANY($2)) AND ($3::text IS NULL OR e."address" = $3)
    AND ($4::timestamptz IS NULL OR e."at" >= $4) AND ($5::timestamptz IS NULL OR e."at" < $5) AND ($6::bigint IS NULL OR e."id" < $6)
  ORDER BY e."id" DESC LIMIT $7`;

export interface EventPage {
  /** Only those older than the one with this id, and only those newer. */
  older?: number;
  newer?: number;
  /** From the oldest on. */
  backward?: boolean;
  limit: number;
}

/** Newest first, or oldest first if backward. */
export const eventsOf = (userId: number, { older, newer, backward, limit }: EventPage, session: Session): Promise<SecurityEvent[]> => {
  const statement = backward ? OLDEST_OF_USER : NEWEST_OF_USER;
  return session.query(statement, [userId, older ?? null, newer ?? null, limit]) as Promise<Row[]> as Promise<SecurityEvent[]>;
};

export const countOfEvents = async (userId: number, session: Session): Promise<number> =>
  (await session.query(COUNT_OF_USER, [userId]))[0]!.count;

/** Newest first; of all accounts. */
export const findEvents = (filter: EventFilter, limit: number, session: Session): Promise<SecurityEvent[]> => {
  const { username, kinds, address, since, until, before } = filter;
  const values = [username ?? null, kinds ?? null, address ?? null, since ?? null, until ?? null, before ?? null, limit];
  return session.query(FIND, values) as Promise<Row[]> as Promise<SecurityEvent[]>;
};

const PRUNE_EVERY_MS = 6 * 60 * 60 * 1000;

export class EventRetention {
  private pruning?: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    private readonly days: number,
    private readonly log: Logger,
  ) {}

  async start(): Promise<void> {
    await this.prune();
    const prune = () => this.prune().catch((error) => this.log.error({ err: error }, 'old security events could not be removed'));
    this.pruning = setInterval(() => void prune(), PRUNE_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.pruning);
  }

  private async prune(): Promise<void> {
    await this.database.unlimited((client) =>
      client.query('DELETE FROM "security_event" WHERE "at" < now() - make_interval(days => $1)', [this.days]),
    );
  }
}
