/**
 * Links by which users set their password without the old one. A link is valid once and for a day.
 * Only the SHA-256 digest of its token is stored.
 */
import { randomBytes } from 'node:crypto';
import type { DatabaseSession } from '../database/session';
import { unauthenticatedError } from '../engine/declare/errors';
import { logSecurityEvent } from './security-events';
import { sha256 } from './tokens';

export const SET_PASSWORD_PATH = '/user/set-password';

const UPSERT_LINK_SQL = `INSERT INTO "password_link" ("user_id", "digest", "expires_at")
  VALUES ($1, $2, now() + interval '1 day')
  ON CONFLICT ("user_id") DO UPDATE SET "digest" = $2, "expires_at" = EXCLUDED."expires_at"
  RETURNING "expires_at" AS "expiresAt"`;

/** SQL: uses up a link. Of concurrent statements with the same token, one changes the password. */
const USE_LINK_SQL = `WITH link AS (DELETE FROM "password_link"
    WHERE "digest" = $1 AND "expires_at" > now() RETURNING "user_id")
  UPDATE "account" u SET "password" = $2 FROM link WHERE u."id" = link."user_id" RETURNING u."id"`;

export interface PasswordLink {
  /** Path with the token in its query string. */
  path: string;
  expiresAt: string;
}

/** Creates a link, which replaces an earlier one of the account. */
export const createPasswordLink = (
  userId: number,
  session: DatabaseSession,
): Promise<PasswordLink> =>
  session.inTransaction(async () => {
    const token = randomBytes(32).toString('base64url');
    const [row] = await session.query(UPSERT_LINK_SQL, [userId, sha256(token)]);

    await logSecurityEvent({ kind: 'PASSWORD_LINK_CREATED', userId }, session);
    return { path: `${SET_PASSWORD_PATH}?token=${token}`, expiresAt: row!.expiresAt };
  });

/** Sets a password by a link. Throws UNAUTHENTICATED if the link is not valid. */
export const usePasswordLink = (
  token: string,
  passwordHash: string,
  session: DatabaseSession,
): Promise<void> =>
  session.inTransaction(async () => {
    const [user] = await session.query(USE_LINK_SQL, [sha256(token), passwordHash]);

    if (!user) throw unauthenticatedError('The link is invalid, expired or already used.');
    await logSecurityEvent({ kind: 'PASSWORD_CHANGED', userId: user.id }, session);
  });
