/**
 * Sessions of browsers, made at sign-in only. The database knows the SHA-256 of an id, so that a stolen database opens none. What a session
 * changes needs a CSRF token besides its cookie, which the browser sends with requests of other sites' pages too.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Viewer } from '../core/context';
import { KnownError } from '../core/model/errors';
import type { Session } from '../database/session';
import { digestOf, type TokenVault } from './tokens';

/** Carries the CSRF token where no form does. */
export const CSRF_HEADER = 'X-CSRFToken';

const LIFETIME_SECONDS = 14 * 24 * 60 * 60;
const ID = /^[\w-]{43}$/;
const NONCE_LENGTH = 22;

/** FORBIDDEN, and told apart from other refusals by its class. */
export class CsrfError extends KnownError {
  constructor() {
    super('FORBIDDEN', 'CSRF Failed: CSRF token missing or incorrect.');
  }
}

/** Browsers let no other host, not even one of the same domain, set a cookie with this prefix; they want it Secure. */
export const cookieName = (secure: boolean) => (secure ? '__Host-fitgraph' : 'fitgraph');

const FIND = `SELECT u."id", u."username", u."is_superuser" AS "isSuperuser", s."seen" < now() - interval '10 minutes' AS "unseen"
  FROM "session" s JOIN "account" u ON u."id" = s."user_id"
  WHERE s."digest" = $1 AND s."expires" > now() AND u."is_active"`;

/** Sign-ins are rare and many enough to sweep up what has expired. */
const START = `WITH expired AS (DELETE FROM "session" WHERE "expires" < now())
  INSERT INTO "session" ("digest", "user_id", "expires") VALUES ($1, $2, now() + make_interval(secs => $3))`;

export class Sessions {
  constructor(private readonly vault: TokenVault) {}

  /** Answers the id, which is new for every sign-in and kept nowhere but in the browser. */
  async start(userId: number, session: Session): Promise<string> {
    const id = randomBytes(32).toString('base64url');
    await session.query(START, [digestOf(id), userId, LIFETIME_SECONDS]);
    return id;
  }

  async viewerOf(id: string, session: Session): Promise<Viewer | undefined> {
    const digest = digestOf(id);
    const [row] = await session.identify(FIND, [digest]);
    if (!row) return undefined;
    // To the minute nobody needs it, and a page should not cost a write.
    if (row.unseen) await session.identify('UPDATE "session" SET "seen" = now() WHERE "digest" = $1', [digest]);
    return { id: row.id, username: row.username, isSuperuser: row.isSuperuser };
  }

  async end(id: string, session: Session): Promise<void> {
    await session.query('DELETE FROM "session" WHERE "digest" = $1', [digestOf(id)]);
  }

  /** The id in a Cookie header, if there is something that could be one. */
  idOf(header: string | undefined, secure: boolean): string | undefined {
    const id = header === undefined ? undefined : parseCookie(header)[cookieName(secure)];
    return id !== undefined && ID.test(id) ? id : undefined;
  }

  /** The Set-Cookie header that gives the browser an id, or takes it away. */
  cookie(id: string | undefined, secure: boolean): string {
    const age = id === undefined ? 0 : LIFETIME_SECONDS;
    return stringifySetCookie(cookieName(secure), id ?? '', { httpOnly: true, sameSite: 'lax', path: '/', secure, maxAge: age });
  }

  /** Another one for every page, so that the length of compressed pages tells nothing about it; each is good as long as the session. */
  csrfToken(id: string): string {
    const nonce = randomBytes(16).toString('base64url');
    return nonce + this.signature(nonce, id);
  }

  isCsrfToken(id: string, token: string | undefined): boolean {
    if (token === undefined) return false;
    const nonce = token.slice(0, NONCE_LENGTH);
    const expected = Buffer.from(nonce + this.signature(nonce, id));
    const actual = Buffer.from(token);
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  }

  private signature(nonce: string, id: string): string {
    return this.vault.sign(`csrf ${nonce} ${id}`).toString('base64url');
  }
}
