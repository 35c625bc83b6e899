/** Accounts of people who sign in without a password: at a provider, or by a trusted proxy. */
import { ClientError } from '../engine/declare/errors';
import type { DatabaseSession } from '../database/session';
import { ADVISORY_LOCK_KEYS } from '../database/advisory-locks';
import { createUser, NO_PASSWORD, setUserRoles } from './accounts';
import type { ProviderUser } from './openid-connect';
import { logSecurityEvent } from './security-events';
import { isEmailAddress } from './user';

const MAX_USERNAME_LENGTH = 140;

/** SQL: the first of the names `a`, `a-2`, `a-3` … that no account has. */
const SELECT_FREE_USERNAME_SQL = `SELECT n."username"
  FROM (SELECT "number", CASE "number" WHEN 1 THEN $1 ELSE $1 || '-' || "number" END AS "username"
    FROM generate_series(1, 1000) AS g("number")) n
  WHERE NOT EXISTS (SELECT FROM "user_account" u WHERE u."username" = n."username")
  ORDER BY n."number" LIMIT 1`;

/**
 * SQL: the account that user `$2` of provider `$1` has connected, then those with the e-mail address
 * `$3`.
 */
const SELECT_CANDIDATES_SQL = `SELECT u."id", i."user_id" IS NOT NULL AS "isConnected",
    u."is_active" AS "isActive", u."is_curator" AS "isCurator", u."is_superuser" AS "isSuperuser",
    u."email_verified" AND NOT EXISTS (SELECT FROM "identity" o
      WHERE o."user_id" = u."id" AND o."issuer" = $1) AS "isTrusted"
  FROM "user_account" u
  LEFT JOIN "identity" i ON i."user_id" = u."id" AND i."issuer" = $1 AND i."subject" = $2
  WHERE u."id" IN (SELECT "user_id" FROM "identity" WHERE "issuer" = $1 AND "subject" = $2
    UNION ALL (SELECT "id" FROM "user_account"
      WHERE lower("email") = lower($3 COLLATE "C") AND "email" <> '' LIMIT 2))
  ORDER BY "isConnected" DESC`;

/** Prevents concurrent sign-ins of a person from creating several accounts. */
const lockAccountCreation = (session: DatabaseSession) =>
  session.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK_KEYS.accounts]);

/**
 * Connects a user of the provider to an account. Throws CONFLICT if that user belongs to another
 * account, or the account to another user of the provider.
 */
export async function connectIdentity(
  userId: number,
  { issuer, subject }: ProviderUser,
  session: DatabaseSession,
): Promise<void> {
  const rows = await session.query(
    `INSERT INTO "identity" ("issuer", "subject", "user_id") VALUES ($1, $2, $3)
      ON CONFLICT DO NOTHING RETURNING 1`,
    [issuer, subject, userId],
  );

  if (!rows.length) {
    throw new ClientError('CONFLICT', 'This sign-in, or your account, is already connected.');
  }

  await logSecurityEvent({ kind: 'IDENTITY_CONNECTED', userId, detail: issuer }, session);
}

export const isConnected = async (
  userId: number,
  { issuer, subject }: ProviderUser,
  session: DatabaseSession,
): Promise<boolean> =>
  (
    await session.query(
      'SELECT FROM "identity" WHERE "issuer" = $1 AND "subject" = $2 AND "user_id" = $3',
      [issuer, subject, userId],
    )
  ).length > 0;

/**
 * Removes the connected sign-ins of a user. The last way to sign in is removed only by an operator.
 */
export async function disconnectIdentities(
  userId: number,
  session: DatabaseSession,
): Promise<void> {
  const rows = await session.query(
    `DELETE FROM "identity" WHERE "user_id" = $1 AND ($2
        OR EXISTS (SELECT FROM "account" WHERE "id" = $1 AND "password" <> '${NO_PASSWORD}'))
      RETURNING "issuer"`,
    [userId, session.auditSource?.operator !== undefined],
  );

  for (const { issuer } of rows) {
    await logSecurityEvent({ kind: 'IDENTITY_DISCONNECTED', userId, detail: issuer }, session);
  }
}

/**
 * Finds the account of a provider's user, by an earlier sign-in or the e-mail address, or creates
 * one, and sets its roles. Both sides must have verified the address, else the sign-in is FORBIDDEN:
 * people could enter the address of others, to sign in to their accounts or to receive their
 * sign-ins. Requires a session of the server.
 */
export const findOrCreateProviderAccount = (
  user: ProviderUser,
  session: DatabaseSession,
): Promise<number> =>
  session.inTransaction(async () => {
    const { issuer, subject, isEmailVerified, roles } = user;
    const email = isEmailAddress(user.email) ? user.email : '';

    await lockAccountCreation(session);
    const [account, other] = await session.query(SELECT_CANDIDATES_SQL, [issuer, subject, email]);
    const isUntrusted = account && (other || !account.isTrusted || !isEmailVerified);

    if (isUntrusted && !account.isConnected) {
      throw new ClientError(
        'FORBIDDEN',
        'An account with your e-mail address exists already. Sign in to it with its password and connect this sign-in on the account page, or ask the operator.',
      );
    }

    // The sign-in to a deactivated account fails, so it must not change the account either.
    if (account && !account.isActive) return account.id;

    let userId = account?.id as number | undefined;

    if (userId === undefined) {
      const validName = user.username.normalize('NFKD').replace(/[^\w.@+-]/g, '');
      const [free] = await session.query(SELECT_FREE_USERNAME_SQL, [
        validName.slice(0, MAX_USERNAME_LENGTH) || 'user',
      ]);
      const newUser = { username: free!.username, email, isEmailVerified };

      userId = await createUser(newUser, session, issuer);
    }

    if (!account?.isConnected) await connectIdentity(userId, user, session);

    const changedRoles = Object.entries(roles).filter(([role, isGranted]) =>
      account ? account[role] !== isGranted : isGranted,
    );

    await setUserRoles(userId, Object.fromEntries(changedRoles), session);
    return userId;
  });

/** Finds the account of the user whom a trusted proxy names, or creates one. */
export const findOrCreateProxyAccount = (
  username: string,
  session: DatabaseSession,
): Promise<number> =>
  session.inTransaction(async () => {
    await lockAccountCreation(session);
    const statement = 'SELECT "id" FROM "user_account" WHERE "username" = $1';
    const [user] = await session.query(statement, [username]);

    return user?.id ?? createUser({ username }, session, 'proxy');
  });
