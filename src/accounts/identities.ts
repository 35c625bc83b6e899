/** Accounts of people who sign in without a password: at a provider, or by a trusted proxy. */
import { ClientError } from '../engine/declare/errors';
import type { DatabaseSession } from '../database/session';
import { createUser, setUserRoles, type NewUser } from './accounts';
import type { ProviderUser } from './openid-connect';
import { logSecurityEvent, type SecurityEventSource } from './security-events';
import { isEmailAddress } from './user';

const MAX_ATTEMPTS = 5;
const MAX_USERNAME_LENGTH = 140;

/** SQL: the first of the names `a`, `a-2`, `a-3` … that no account has. */
const SELECT_FREE_USERNAME_SQL = `SELECT n."username"
  FROM (SELECT "number", CASE "number" WHEN 1 THEN $1 ELSE $1 || '-' || "number" END AS "username"
    FROM generate_series(1, 1000) AS g("number")) n
  WHERE NOT EXISTS (SELECT FROM "user_account" u WHERE u."username" = n."username")
  ORDER BY n."number" LIMIT 1`;

/**
 * SQL: the account that user `$2` of provider `$1` has connected, then those with the e-mail address
 * `$3`. It is one statement, because an account and its connection appear together.
 */
const SELECT_CANDIDATES_SQL = `SELECT u."id", i."user_id" IS NOT NULL AS "isConnected",
    u."email_verified" AND NOT EXISTS (SELECT FROM "identity" o
      WHERE o."user_id" = u."id" AND o."issuer" = $1) AS "isTrusted"
  FROM "user_account" u
  LEFT JOIN "identity" i ON i."user_id" = u."id" AND i."issuer" = $1 AND i."subject" = $2
  WHERE u."id" IN (SELECT "user_id" FROM "identity" WHERE "issuer" = $1 AND "subject" = $2
    UNION ALL (SELECT "id" FROM "user_account"
      WHERE lower("email") = lower($3 COLLATE "C") AND "email" <> '' LIMIT 2))
  ORDER BY "isConnected" DESC`;

async function createAccount(
  newUser: NewUser,
  session: DatabaseSession,
  eventSource: SecurityEventSource,
  detail: string,
): Promise<number> {
  const userId = await createUser(newUser, session);

  await logSecurityEvent({ kind: 'ACCOUNT_CREATED', userId, detail, ...eventSource }, session);
  return userId;
}

async function createAccountOf(
  { issuer, username, isEmailVerified }: ProviderUser,
  email: string,
  session: DatabaseSession,
  eventSource: SecurityEventSource,
): Promise<number> {
  const validName = username.normalize('NFKD').replace(/[^\w.@+-]/g, '');
  const [free] = await session.query(SELECT_FREE_USERNAME_SQL, [
    validName.slice(0, MAX_USERNAME_LENGTH) || 'user',
  ]);

  return createAccount(
    { username: free!.username, email, isEmailVerified },
    session,
    eventSource,
    issuer,
  );
}

/**
 * Connects a user of the provider to an account. Throws CONFLICT if that user belongs to another
 * account, or the account to another user of the provider.
 */
export async function connectIdentity(
  userId: number,
  { issuer, subject }: ProviderUser,
  session: DatabaseSession,
  eventSource: SecurityEventSource,
): Promise<void> {
  await session.inTransaction(async () => {
    const rows = await session.query(
      `INSERT INTO "identity" ("issuer", "subject", "user_id") VALUES ($1, $2, $3)
        ON CONFLICT DO NOTHING RETURNING 1`,
      [issuer, subject, userId],
    );

    if (!rows.length) {
      throw new ClientError('CONFLICT', 'This sign-in, or your account, is already connected.');
    }

    await logSecurityEvent(
      { kind: 'IDENTITY_CONNECTED', userId, detail: issuer, ...eventSource },
      session,
    );
  });
}

/**
 * An account with the same e-mail address is used only if both sides have verified it. Otherwise,
 * people could enter the address of others, to sign in to their accounts or to receive their
 * sign-ins.
 */
async function findOrCreateNow(
  user: ProviderUser,
  session: DatabaseSession,
  eventSource: SecurityEventSource,
): Promise<number> {
  const { issuer, subject, isEmailVerified } = user;
  const email = isEmailAddress(user.email) ? user.email : '';
  const [account, other] = await session.query(SELECT_CANDIDATES_SQL, [issuer, subject, email]);

  if (account?.isConnected) return account.id;

  if (account && (other || !account.isTrusted || !isEmailVerified)) {
    throw new ClientError(
      'FORBIDDEN',
      'An account with your e-mail address exists already. Sign in to it with its password and connect this sign-in on the account page, or ask the operator.',
    );
  }

  const userId = account?.id ?? (await createAccountOf(user, email, session, eventSource));

  await connectIdentity(userId, user, session, eventSource);
  return userId;
}

/** Tries again if a concurrent sign-in has created the same account or taken the user name. */
async function retryConflicts<T>(callback: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await callback();
    } catch (error) {
      const isConflict = error instanceof ClientError && error.extensions.code === 'CONFLICT';

      if (!isConflict || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Finds the account of a provider's user, by an earlier sign-in or a verified e-mail address, or
 * creates one, and sets its roles. Throws FORBIDDEN if the e-mail address of an existing account is
 * not verified. Requires a session of the server.
 */
export async function findOrCreateProviderAccount(
  user: ProviderUser,
  session: DatabaseSession,
  eventSource: SecurityEventSource,
): Promise<number> {
  const userId = await retryConflicts(() =>
    session.inTransaction(() => findOrCreateNow(user, session, eventSource)),
  );
  const [stored] = await session.query(
    `SELECT "is_curator" AS "isCurator", "is_superuser" AS "isSuperuser" FROM "user_account"
      WHERE "id" = $1`,
    [userId],
  );
  const changedRoles = Object.entries(user.roles).filter(([role, is]) => stored?.[role] !== is);

  if (changedRoles.length) {
    await setUserRoles(userId, Object.fromEntries(changedRoles), session, eventSource);
  }

  return userId;
}

/** Finds the account of the user whom a trusted proxy names, or creates one. */
export const findOrCreateProxyAccount = (
  username: string,
  session: DatabaseSession,
  eventSource: SecurityEventSource,
): Promise<number> =>
  retryConflicts(async () => {
    const [user] = await session.query('SELECT "id" FROM "user_account" WHERE "username" = $1', [
      username,
    ]);

    return user?.id ?? createAccount({ username }, session, eventSource, 'proxy');
  });
