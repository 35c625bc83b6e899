/**
 * Browser sessions, which begin with a sign-in. Only the SHA-256 digest of an id is stored, so that
 * a stolen database gives access to no session. Browsers send the session cookie also with requests
 * from other sites, so writes need a CSRF token as well.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import { Field, ID, ObjectType } from 'type-graphql';
import type { Viewer } from '../engine/context';
import { ClientError } from '../engine/declare/errors';
import { DateTimeScalar } from '../engine/declare/scalars';
import type { DatabaseSession } from '../database/session';
import { logSecurityEvent } from './security-events';
import {
  JOIN_VIEWER_SQL,
  rowsOfUsers,
  viewerOf,
  VIEWER_COLUMNS_SQL,
  type CredentialReader,
} from './accounts';
import { sha256, type TokenVault } from './tokens';

/** Request header that carries the CSRF token of requests without a form. */
export const CSRF_HEADER = 'X-CSRFToken';

const SESSION_LIFETIME_SECONDS = 14 * 24 * 60 * 60;
const SESSION_ID_PATTERN = /^[\w-]{43}$/;
const NONCE_LENGTH = 22;

/**
 * Error for a missing or wrong CSRF token. The class distinguishes it from other errors with the
 * code FORBIDDEN.
 */
export class CsrfError extends ClientError {
  constructor() {
    super('FORBIDDEN', 'CSRF Failed: CSRF token missing or incorrect.');
  }
}

/**
 * Name of the session cookie. With the prefix `__Host-`, browsers accept it only over HTTPS and
 * from this host, and only for all paths. Below a path, the prefix `__Secure-` requires HTTPS.
 */
export function sessionCookieName(isSecure: boolean, basePath: string): string {
  if (!isSecure) return 'fitgraph';

  return basePath === '' ? '__Host-fitgraph' : '__Secure-fitgraph';
}

const SELECT_VIEWER_SQL = `SELECT ${VIEWER_COLUMNS_SQL},
  t."seen" < now() - interval '10 minutes' AS "unseen"
  FROM "session" t ${JOIN_VIEWER_SQL}
  WHERE t."digest" = $1 AND t."expires" > now() AND u."is_active"`;

@ObjectType({ description: 'A browser in which a user is signed in.', simpleResolvers: true })
export class AccountSession {
  @Field(() => ID, { description: 'Identifies the session.' }) declare id: string;
  @Field(() => DateTimeScalar, { description: 'When the user signed in.' })
  declare createdAt: string;
  @Field(() => DateTimeScalar, {
    description: 'When it was last used, to the nearest ten minutes.',
  })
  declare lastUsedAt: string;

  /** Whether it is the session of the request. */
  declare isCurrent: boolean;
}

/** SQL: at most 100 sessions of each user `$1`; the one with the digest `$2` is the current one. */
const SELECT_SESSIONS_SQL = `SELECT u."id" AS "userId", s.* FROM unnest($1::int[]) AS u("id"),
  LATERAL (SELECT encode("digest", 'hex') AS "id", "created" AS "createdAt",
      "seen" AS "lastUsedAt", "digest" = $2 AS "isCurrent"
    FROM "session" WHERE "user_id" = u."id" AND "expires" > now()
    ORDER BY "seen" DESC LIMIT 100) s`;

/** Loads the sessions of each user, latest use first. `currentId` identifies that of the request. */
export async function listSessions(
  userIds: readonly number[],
  session: DatabaseSession,
  currentId = '',
): Promise<AccountSession[][]> {
  const rows = await session.query(SELECT_SESSIONS_SQL, [userIds, sha256(currentId)]);

  return rowsOfUsers(userIds, rows);
}

/**
 * Ends the session of a user with this id, or all of them, and logs it. Returns their number.
 */
export async function endSessions(
  userId: number,
  id: string | undefined,
  session: DatabaseSession,
): Promise<number> {
  const { length } = await session.query(
    `DELETE FROM "session" WHERE "user_id" = $1 AND ($2::bytea IS NULL OR "digest" = $2)
      RETURNING 1`,
    [userId, id === undefined ? null : Buffer.from(id, 'hex')],
  );

  if (length) {
    await logSecurityEvent({ kind: 'SESSIONS_ENDED', userId, detail: `${length}` }, session);
  }

  return length;
}

/**
 * SQL: inserts a session and deletes expired ones. Sign-ins are rare enough for this work, and
 * frequent enough to keep the table small.
 */
const INSERT_SESSION_SQL = `WITH expired AS (DELETE FROM "session" WHERE "expires" < now())
  INSERT INTO "session" ("digest", "user_id", "expires")
    VALUES ($1, $2, now() + make_interval(secs => $3))`;

export class BrowserSessions {
  /** `basePath`: path of PUBLIC_URL, to which the cookie is limited; usually empty. */
  constructor(
    private readonly tokenVault: TokenVault,
    private readonly basePath: string,
  ) {}

  /** Creates a session and returns its id, which only the browser keeps. */
  async start(userId: number, session: DatabaseSession): Promise<string> {
    const id = randomBytes(32).toString('base64url');

    await session.query(INSERT_SESSION_SQL, [sha256(id), userId, SESSION_LIFETIME_SECONDS]);
    return id;
  }

  async authenticate(id: string, session: CredentialReader): Promise<Viewer | undefined> {
    const digest = sha256(id);
    const [row] = await session.queryForAuthentication(SELECT_VIEWER_SQL, [digest]);

    if (!row) return undefined;

    // The time of last use is written every ten minutes at most, so that most requests write
    // nothing.
    if (row.unseen) {
      await session.queryForAuthentication(
        'UPDATE "session" SET "seen" = now() WHERE "digest" = $1',
        [digest],
      );
    }

    return viewerOf(row);
  }

  async end(id: string, session: DatabaseSession): Promise<void> {
    await session.query('DELETE FROM "session" WHERE "digest" = $1', [sha256(id)]);
  }

  /** Reads the session id from a Cookie header, unless it is malformed. */
  idFromCookie(header: string | undefined, isSecure: boolean): string | undefined {
    if (header === undefined) return undefined;
    const id = parseCookie(header)[sessionCookieName(isSecure, this.basePath)];

    return id !== undefined && SESSION_ID_PATTERN.test(id) ? id : undefined;
  }

  /** Set-Cookie header that stores a session id. Without an id, it deletes the cookie. */
  createSetCookieHeader(id: string | undefined, isSecure: boolean): string {
    const maxAgeSeconds = id === undefined ? 0 : SESSION_LIFETIME_SECONDS;

    return stringifySetCookie(sessionCookieName(isSecure, this.basePath), id ?? '', {
      httpOnly: true,
      sameSite: 'lax',
      path: `${this.basePath}/`,
      secure: isSecure,
      maxAge: maxAgeSeconds,
    });
  }

  /**
   * Creates a CSRF token that is valid as long as the session. Each page gets a new one, because
   * the BREACH attack could guess a secret that all pages repeat.
   */
  createCsrfToken(id: string): string {
    const nonce = randomBytes(16).toString('base64url');

    return nonce + this.signature(nonce, id);
  }

  isValidCsrfToken(id: string, token: string | undefined): boolean {
    if (token === undefined) return false;
    const nonce = token.slice(0, NONCE_LENGTH);
    const expected = Buffer.from(nonce + this.signature(nonce, id));
    const actual = Buffer.from(token);

    return actual.length === expected.length && timingSafeEqual(actual, expected);
  }

  private signature(nonce: string, id: string): string {
    return this.tokenVault.sign(`csrf ${nonce} ${id}`).toString('base64url');
  }
}
