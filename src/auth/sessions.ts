/**
 * Browser sessions, created at sign-in. Only the SHA-256 digest of an id is stored, so a stolen database gives access to no session. Browsers also send the
 * session cookie with requests from other sites, so writes need a CSRF token as well.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Viewer } from '../core/context';
import { ClientError } from '../core/model/errors';
import type { DatabaseSession } from '../database/session';
import { sha256, type TokenVault } from './tokens';

/** Request header with the CSRF token, for requests without a form. */
export const CSRF_HEADER = 'X-CSRFToken';

const SESSION_LIFETIME_SECONDS = 14 * 24 * 60 * 60;
const SESSION_ID_PATTERN = /^[\w-]{43}$/;
const NONCE_LENGTH = 22;

/** Error for a missing or wrong CSRF token. A class of its own distinguishes it from other errors with the code FORBIDDEN. */
export class CsrfError extends ClientError {
  constructor() {
    super('FORBIDDEN', 'CSRF Failed: CSRF token missing or incorrect.');
  }
}

/** Returns the name of the session cookie. Cookies with the prefix `__Host-` must be Secure, and no other host of the same domain can set them. */
export const sessionCookieName = (secure: boolean) => (secure ? '__Host-fitgraph' : 'fitgraph');

const SELECT_VIEWER_SQL = `SELECT u."id", u."username", u."is_superuser" AS "isSuperuser", s."seen" < now() - interval '10 minutes' AS "unseen"
  FROM "session" s JOIN "account" u ON u."id" = s."user_id"
  WHERE s."digest" = $1 AND s."expires" > now() AND u."is_active"`;

/** SQL: inserts a session and deletes expired ones. Sign-ins are rare enough for this work, and frequent enough to keep the table small. */
const INSERT_SESSION_SQL = `WITH expired AS (DELETE FROM "session" WHERE "expires" < now())
  INSERT INTO "session" ("digest", "user_id", "expires") VALUES ($1, $2, now() + make_interval(secs => $3))`;

export class BrowserSessions {
  constructor(private readonly tokenVault: TokenVault) {}

  /** Creates a session and returns its id, which only the browser keeps. */
  async start(userId: number, session: DatabaseSession): Promise<string> {
    const id = randomBytes(32).toString('base64url');
    await session.query(INSERT_SESSION_SQL, [sha256(id), userId, SESSION_LIFETIME_SECONDS]);
    return id;
  }

  async viewerOf(id: string, session: DatabaseSession): Promise<Viewer | undefined> {
    const digest = sha256(id);
    const [row] = await session.queryForAuthentication(SELECT_VIEWER_SQL, [digest]);
    if (!row) return undefined;
    // The time of the last use is updated every ten minutes at most, so that most requests write nothing.
    if (row.unseen)
      await session.queryForAuthentication(
        'UPDATE "session" SET "seen" = now() WHERE "digest" = $1',
        [digest],
      );
    return { id: row.id, username: row.username, isSuperuser: row.isSuperuser };
  }

  async end(id: string, session: DatabaseSession): Promise<void> {
    await session.query('DELETE FROM "session" WHERE "digest" = $1', [sha256(id)]);
  }

  /** Returns the session id in a Cookie header; undefined if missing or malformed. */
  idFromCookie(header: string | undefined, secure: boolean): string | undefined {
    const id = header === undefined ? undefined : parseCookie(header)[sessionCookieName(secure)];
    return id !== undefined && SESSION_ID_PATTERN.test(id) ? id : undefined;
  }

  /** Returns the Set-Cookie header that stores a session id, or that deletes the cookie if `id` is undefined. */
  createSetCookieHeader(id: string | undefined, secure: boolean): string {
    const maxAgeSeconds = id === undefined ? 0 : SESSION_LIFETIME_SECONDS;
    return stringifySetCookie(sessionCookieName(secure), id ?? '', {
      httpOnly: true,
      sameSite: 'lax',
      path: '/',
      secure,
      maxAge: maxAgeSeconds,
    });
  }

  /** Returns a CSRF token, valid as long as the session. A new token per page prevents the BREACH attack on a secret that all pages repeat. */
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
