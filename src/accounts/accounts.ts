/**
 * User accounts: authentication by password or API key, password changes, and changes by operators.
 */
import { IANAZone } from 'luxon';
import type { Viewer } from '../engine/context';
import { forbiddenError, ClientError } from '../engine/declare/errors';
import { errorCodeOf } from '../database/errors';
import type { Row } from '../database/rows';
import type { DatabaseSession } from '../database/session';
import { isEmailAddress, MAX_EMAIL_LENGTH, User } from './user';
import { UserProfile } from './user-profile';
import { logSecurityEvent } from './security-events';
import {
  hashPassword,
  hashPasswordNow,
  MAX_IMPORTED_HASH_ITERATIONS_SQL,
  verifyPassword,
} from './passwords';
import { sha256, generateApiKey, type TokenVault } from './tokens';

/**
 * PostgreSQL error code unique_violation
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const UNIQUE_VIOLATION_CODE = '23505';

/** Stored instead of a password hash. No password matches it. */
export const NO_PASSWORD = '';

export const MIN_PASSWORD_LENGTH = 8;
export const MAX_PASSWORD_LENGTH = 1000;

const UNREADABLE_API_KEY_MESSAGE =
  'The token was encrypted with another SECRET_KEY and cannot be shown. It remains valid until it is replaced: at /user/api-key, ' +
  'or by an operator with `fitgraph user token NAME --new`.';

/** SQL: the columns of account `u` from which a viewer is created. */
export const VIEWER_COLUMNS_SQL = `u."id", u."username", u."is_superuser" AS "isSuperuser",
  u."is_superuser" OR u."is_curator" AS "isCurator", u."has_contributions" AS "hasContributions",
  p."time_zone" AS "timeZone", p."language"`;

/** SQL: joins account `u` and its preferences to a table `t` of credentials. */
export const JOIN_VIEWER_SQL = `JOIN "account" u ON u."id" = t."user_id"
  LEFT JOIN "preference" p ON p."user_id" = u."id"`;

/** Creates the viewer of a row with `VIEWER_COLUMNS_SQL`. */
export const viewerOf = (row: Row): Viewer => ({
  id: row.id,
  username: row.username,
  isSuperuser: row.isSuperuser,
  isCurator: row.isCurator,
  hasContributions: row.hasContributions,
  // A zone that this version of Node does not know is ignored.
  timeZone: row.timeZone && IANAZone.create(row.timeZone).isValid ? row.timeZone : null,
  language: row.language,
});

/** Groups rows by their `userId`. */
export const rowsOfUsers = <T>(userIds: readonly number[], rows: readonly Row[]): T[][] =>
  userIds.map((id) => rows.filter(({ userId }) => userId === id) as T[]);

const SELECT_API_KEY_OWNER_SQL = `SELECT ${VIEWER_COLUMNS_SQL},
  u."is_active" AS "isActive" FROM "token" t ${JOIN_VIEWER_SQL} WHERE t."digest" = $1`;

export type CredentialReader = Pick<DatabaseSession, 'query' | 'queryForAuthentication'>;

/** Authenticates by an API key. Throws FORBIDDEN for an unknown key or an inactive owner. */
export async function authenticateApiKey(
  apiKey: string,
  session: CredentialReader,
): Promise<Viewer> {
  const [row] = await session.queryForAuthentication(SELECT_API_KEY_OWNER_SQL, [sha256(apiKey)]);

  if (!row) throw forbiddenError('Invalid token.');
  if (!row.isActive) throw forbiddenError('User inactive or deleted.');

  return viewerOf(row);
}

/**
 * SQL: selects an account, and the largest number of iterations of all imported password hashes.
 * That number is needed even if the account does not exist: the password check must take equally
 * long, so that it reveals no user names.
 */
const SELECT_CREDENTIALS_SQL = `SELECT u."id", u."password", u."is_active" AS "isActive",
  i."iterations"
  FROM ${MAX_IMPORTED_HASH_ITERATIONS_SQL} i ("iterations")
  LEFT JOIN "account" u ON u."username" = $1`;

/**
 * SQL: records a sign-in and rehashes the unchanged password, unless the password was changed or
 * the account deactivated in the meantime. The PostgreSQL setting `fitgraph.same_password` prevents
 * the trigger for password changes from ending the user's sessions.
 */
const UPDATE_LAST_LOGIN_SQL = `WITH same AS MATERIALIZED
  (SELECT set_config('fitgraph.same_password', 'on', true))
  UPDATE "account" SET "last_login" = now(), "password" = $3 FROM same WHERE "id" = $1
    AND "password" = $2 AND "is_active" RETURNING 1`;

const wrongCredentialsError = () =>
  new ClientError('UNAUTHENTICATED', 'Username or password unknown');

/**
 * Signs a user in by name and password, and logs success or failure. `grantCredentials` creates the
 * credentials for further requests in a transaction that locks the account. A concurrent password
 * change either makes the sign-in fail or revokes these credentials.
 */
export async function signInWithPassword<T>(
  username: string,
  password: string,
  grantCredentials: (userId: number) => Promise<T>,
  session: DatabaseSession,
): Promise<T> {
  // PostgreSQL rejects NUL characters. A name with one is replaced by the empty name, which no
  // account has either.
  const storableName = username.includes('\0') ? '' : username;
  const [user] = await session.query(SELECT_CREDENTIALS_SQL, [storableName]);
  const { isValid, isHashOutdated } = await verifyPassword(
    user!.password ?? undefined,
    password,
    user!.iterations,
    session.auditSource?.address,
  );
  const { id, password: storedHash } = user!;
  const logEvent = (kind: 'SIGNED_IN' | 'SIGN_IN_FAILED') =>
    logSecurityEvent({ kind, userId: id ?? undefined }, session);

  if (!isValid || !user!.isActive) {
    await logEvent('SIGN_IN_FAILED');
    throw wrongCredentialsError();
  }

  const newHash = isHashOutdated ? await hashPasswordNow(password) : storedHash;
  const credentials = await session.inTransaction(async () => {
    const updatedRows = await session.query(UPDATE_LAST_LOGIN_SQL, [id, storedHash, newHash]);

    if (!updatedRows.length) return undefined;

    await logEvent('SIGNED_IN');
    return grantCredentials(id);
  });

  // Tries again if the stored password hash has changed in the meantime: by a new password, or by a
  // concurrent sign-in that rehashed it.
  return credentials ?? signInWithPassword(username, password, grantCredentials, session);
}

/**
 * Signs in a user whom a provider or a proxy has authenticated, like `signInWithPassword`. `detail`
 * names the way in the audit log.
 */
export async function signInWithoutPassword<T>(
  userId: number,
  detail: string,
  grantCredentials: (userId: number) => Promise<T>,
  session: DatabaseSession,
): Promise<T> {
  const logEvent = (kind: 'SIGNED_IN' | 'SIGN_IN_FAILED') =>
    logSecurityEvent({ kind, userId, detail }, session);
  const credentials = await session.inTransaction(async () => {
    const updatedRows = await session.query(
      'UPDATE "account" SET "last_login" = now() WHERE "id" = $1 AND "is_active" RETURNING 1',
      [userId],
    );

    if (!updatedRows.length) return undefined;

    await logEvent('SIGNED_IN');
    return grantCredentials(userId);
  });

  if (credentials === undefined) {
    await logEvent('SIGN_IN_FAILED');
    throw forbiddenError('This account is deactivated. Ask the operator.');
  }

  return credentials;
}

const SELECT_PASSWORD_SQL = `SELECT u."password", i."iterations"
  FROM ${MAX_IMPORTED_HASH_ITERATIONS_SQL} i ("iterations") LEFT JOIN "account" u ON u."id" = $1`;

/** Checks the password of a user. Returns the stored hash if it is right. */
export async function verifyUserPassword(
  userId: number,
  password: string,
  session: DatabaseSession,
): Promise<string | undefined> {
  const [user] = await session.query(SELECT_PASSWORD_SQL, [userId]);
  const storedHash = (user!.password ?? undefined) as string | undefined;
  const { isValid } = await verifyPassword(
    storedHash,
    password,
    user!.iterations,
    session.auditSource?.address,
  );

  return isValid ? storedHash : undefined;
}

/**
 * SQL: replaces the password, unless it has changed in the meantime. The PostgreSQL setting
 * `fitgraph.kept_session` names the one session that the trigger for password changes keeps.
 */
const UPDATE_PASSWORD_SQL = `WITH kept AS MATERIALIZED (SELECT set_config('fitgraph.kept_session',
  COALESCE(encode($4::bytea, 'hex'), ''), true))
  UPDATE "user_account" SET "password" = $3 FROM kept WHERE "id" = $1 AND "password" = $2
  RETURNING 1`;

/**
 * Replaces the password, ends all sessions except `keptSessionId`, and returns the new API key.
 * Does nothing if the password has changed in the meantime.
 */
export async function replacePassword(
  userId: number,
  storedHash: string,
  password: string,
  keptSessionId: string | undefined,
  session: DatabaseSession,
  tokenVault: TokenVault,
): Promise<string | undefined> {
  const newHash = await hashPassword(password, session.auditSource?.address);

  return session.inTransaction(async () => {
    const keptSessionDigest = keptSessionId === undefined ? null : sha256(keptSessionId);

    const updateValues = [userId, storedHash, newHash, keptSessionDigest];
    const updatedRows = await session.query(UPDATE_PASSWORD_SQL, updateValues);

    if (!updatedRows.length) return undefined;

    await logSecurityEvent({ kind: 'PASSWORD_CHANGED', userId }, session);
    // The trigger for password changes has deleted the API key and all sessions except the kept one.
    return getOrCreateApiKey(userId, session, tokenVault);
  });
}

/**
 * Locks an account until the end of the transaction. Concurrent sign-ins and password changes wait,
 * so that credentials checked after locking stay valid until the transaction ends.
 */
export const lockAccount = (userId: number, session: CredentialReader): Promise<unknown> =>
  session.query('SELECT 1 FROM "user_account" WHERE "id" = $1 FOR NO KEY UPDATE', [userId]);

/**
 * Replaces the API key by a new one. With `oldApiKeyDigest`, only a key with this digest is
 * replaced.
 */
export async function replaceApiKey(
  userId: number,
  oldApiKeyDigest: Buffer | undefined,
  session: DatabaseSession,
  tokenVault: TokenVault,
): Promise<string | undefined> {
  const apiKey = generateApiKey();
  const rows = await session.query(
    `INSERT INTO "token" ("user_id", "digest", "sealed", "created") VALUES ($1, $2, $3, now())
     ON CONFLICT ("user_id") DO UPDATE SET "digest" = $2, "sealed" = $3, "created" = now()
     WHERE "token"."digest" = COALESCE($4::bytea, "token"."digest")
     RETURNING 1`,
    [userId, sha256(apiKey), tokenVault.encrypt(apiKey), oldApiKeyDigest ?? null],
  );

  if (!rows.length) return undefined;
  await logSecurityEvent({ kind: 'API_KEY_REPLACED', userId }, session);
  return apiKey;
}

/**
 * Signs a user in and returns the API key, which stays the same until it is replaced or the
 * password changes.
 */
export async function getApiKeyByPassword(
  username: string,
  password: string,
  session: DatabaseSession,
  tokenVault: TokenVault,
): Promise<string> {
  const findOrCreateKey = (userId: number) =>
    getOrCreateEncryptedApiKey(userId, session, tokenVault);

  return decryptApiKey(
    await signInWithPassword(username, password, findOrCreateKey, session),
    tokenVault,
  );
}

/**
 * Decrypts an API key. Throws CONFLICT if the key was encrypted with another SECRET_KEY. Such a key
 * is not replaced, because clients may still use it.
 */
function decryptApiKey(encryptedApiKey: Buffer, tokenVault: TokenVault): string {
  const apiKey = tokenVault.decrypt(encryptedApiKey);

  if (apiKey === undefined) throw new ClientError('CONFLICT', UNREADABLE_API_KEY_MESSAGE);

  return apiKey;
}

async function getOrCreateEncryptedApiKey(
  userId: number,
  session: DatabaseSession,
  tokenVault: TokenVault,
): Promise<Buffer> {
  const [row] = await session.query('SELECT "sealed" FROM "token" WHERE "user_id" = $1', [userId]);

  return row ? row.sealed : insertApiKey(userId, session, tokenVault);
}

/**
 * Creates the first API key of a user and returns it encrypted. Two concurrent calls return the
 * same key.
 */
async function insertApiKey(
  userId: number,
  session: DatabaseSession,
  tokenVault: TokenVault,
): Promise<Buffer> {
  const apiKey = generateApiKey();
  const encryptedApiKey = tokenVault.encrypt(apiKey);
  const rows = await session.query(
    `INSERT INTO "token" ("user_id", "digest", "sealed", "created") VALUES ($1, $2, $3, now())
     ON CONFLICT ("user_id") DO NOTHING RETURNING "user_id"`,
    [userId, sha256(apiKey), encryptedApiKey],
  );

  return rows.length ? encryptedApiKey : getOrCreateEncryptedApiKey(userId, session, tokenVault);
}

/**
 * Loads the API key of a user, or creates one. Throws CONFLICT if the stored key was encrypted with
 * another SECRET_KEY.
 */
export async function getOrCreateApiKey(
  userId: number,
  session: DatabaseSession,
  tokenVault: TokenVault,
): Promise<string> {
  return decryptApiKey(await getOrCreateEncryptedApiKey(userId, session, tokenVault), tokenVault);
}

export interface ApiKey {
  /** SHA-256 digest of the API key, which identifies the key without revealing it. */
  id: string;
  created: string;

  /**
   * The API key itself. Absent if it was encrypted with another SECRET_KEY: such a key is still
   * accepted, but cannot be shown.
   */
  token?: string;
}

/** Loads the API key for display to its owner. */
export async function findApiKey(
  userId: number,
  session: DatabaseSession,
  tokenVault: TokenVault,
): Promise<ApiKey | undefined> {
  const statement = `SELECT encode("digest", 'hex') AS "id", "created", "sealed" FROM "token"
    WHERE "user_id" = $1`;
  const [row] = await session.query(statement, [userId]);

  return row && { id: row.id, created: row.created, token: tokenVault.decrypt(row.sealed) };
}

/** Throws NOT_FOUND. */
export async function findUserId(username: string, session: DatabaseSession): Promise<number> {
  const statement = 'SELECT "id" FROM "user_account" WHERE "username" = $1';
  const [user] = await session.query(statement, [username]);

  if (!user) throw new ClientError('NOT_FOUND', `There is no user named ${username}.`);

  return user.id;
}

export function describePasswordProblem(password: string): string | undefined {
  if (password.length < MIN_PASSWORD_LENGTH) {
    return `The password must have at least ${MIN_PASSWORD_LENGTH} characters.`;
  }

  if (password.length > MAX_PASSWORD_LENGTH) {
    return `The password must have no more than ${MAX_PASSWORD_LENGTH} characters.`;
  }

  if (/^\d+$/.test(password)) return 'The password must not consist of digits alone.';

  return undefined;
}

export function checkPasswordPolicy(password: string): void {
  const problem = describePasswordProblem(password);

  if (problem) throw new ClientError('BAD_USER_INPUT', problem);
}

export interface NewUser {
  username: string;

  /** If absent, the user signs in at a provider or by a proxy, or sets one by a link. */
  password?: string;
  email?: string;

  /** Whether the address is known to belong to the user. Default: operators are trusted. */
  isEmailVerified?: boolean;
  isSuperuser?: boolean;
}

/** Creates an account with a profile and logs it, with `detail`, if the source is known. */
export async function createUser(
  { username, password, email = '', isEmailVerified = true, isSuperuser = false }: NewUser,
  session: DatabaseSession,
  detail?: string,
): Promise<number> {
  if (!/^[\w.@+-]{1,150}$/u.test(username)) {
    throw new ClientError(
      'BAD_USER_INPUT',
      'A user name has 1 to 150 letters, digits and @ . + - _',
    );
  }

  if (email !== '' && !isEmailAddress(email)) {
    throw new ClientError(
      'BAD_USER_INPUT',
      `An e-mail address has an @, a domain and at most ${MAX_EMAIL_LENGTH} characters.`,
    );
  }

  if (password !== undefined) checkPasswordPolicy(password);
  const account = {
    username,
    password: password === undefined ? NO_PASSWORD : await hashPasswordNow(password),
    email,
    isEmailVerified,
    isSuperuser,
  };

  try {
    return await session.transaction(async (transaction) => {
      const { id } = await transaction.model(User).create(account);

      await transaction.model(UserProfile).create({ userId: id });

      if (session.auditSource) {
        await logSecurityEvent(
          { kind: 'ACCOUNT_CREATED', userId: id, detail, ...session.auditSource },
          transaction,
        );
      }

      return id;
    });
  } catch (error) {
    if (errorCodeOf(error) === UNIQUE_VIOLATION_CODE) {
      throw new ClientError('CONFLICT', `There is a user named ${username} already.`);
    }

    throw error;
  }
}

/** Changes an account for an operator, who has neither the password nor a session of the user. */
const updateAccount = (
  userId: number,
  values: Partial<Pick<User, 'password' | 'isActive' | 'isCurator' | 'isSuperuser'>>,
  session: DatabaseSession,
): Promise<unknown> =>
  session.transaction((transaction) =>
    transaction.model(User).update(values, { where: { id: userId } }),
  );

export async function setPassword(
  userId: number,
  password: string,
  session: DatabaseSession,
): Promise<void> {
  checkPasswordPolicy(password);
  await updateAccount(userId, { password: await hashPasswordNow(password) }, session);
}

/** Activates or deactivates an account and logs it. */
export async function setUserActive(
  userId: number,
  isActive: boolean,
  session: DatabaseSession,
): Promise<void> {
  const kind = isActive ? 'ACCOUNT_ACTIVATED' : 'ACCOUNT_DEACTIVATED';

  await session.inTransaction(async () => {
    await updateAccount(userId, { isActive }, session);
    await logSecurityEvent({ kind, userId }, session);
  });
}

const CREDENTIAL_TABLES = ['session', 'token', 'access_token', 'password_link'];

/**
 * Ends all sessions of a user, revokes all tokens, and logs it. Also removes connected sign-ins, if
 * a password remains.
 */
export async function revokeCredentials(userId: number, session: DatabaseSession): Promise<void> {
  await session.inTransaction(async () => {
    for (const table of CREDENTIAL_TABLES) {
      await session.query(`DELETE FROM "${table}" WHERE "user_id" = $1`, [userId]);
    }

    await session.query(
      `DELETE FROM "identity" i USING "account" u
        WHERE i."user_id" = $1 AND u."id" = $1 AND u."password" <> '${NO_PASSWORD}'`,
      [userId],
    );

    await logSecurityEvent({ kind: 'CREDENTIALS_REVOKED', userId }, session);
  });
}

export type UserRoles = Pick<User, 'isCurator' | 'isSuperuser'>;

/**
 * Grants or revokes roles of a user and logs it. Absent roles stay unchanged. The last superuser
 * may be revoked, because operators can grant the role again.
 */
export async function setUserRoles(
  userId: number,
  roles: Partial<UserRoles>,
  session: DatabaseSession,
): Promise<void> {
  await session.inTransaction(async () => {
    await updateAccount(userId, roles, session);

    for (const [role, isGranted] of Object.entries(roles)) {
      const kind = isGranted ? 'ROLE_GRANTED' : 'ROLE_REVOKED';
      const detail = role === 'isCurator' ? 'curator' : 'superuser';

      await logSecurityEvent({ kind, userId, detail }, session);
    }
  });
}
