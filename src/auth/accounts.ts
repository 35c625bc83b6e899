/** User accounts: authentication by password or API key (token), password changes, and the changes that operators make. */
import { UniqueConstraintError, type Transaction } from 'sequelize';
import type { Viewer } from '../core/context';
import { forbiddenError, ClientError } from '../core/model/errors';
import type { DatabaseSession } from '../database/session';
import { User } from '../resources/user';
import { UserProfile } from '../resources/userprofile';
import { logSecurityEvent, type SecurityEventSource } from './securityevents';
import {
  hashPasswordWithinLimit,
  hashPassword,
  MAX_IMPORTED_HASH_ITERATIONS_SQL,
  verifyPassword,
} from './passwords';
import { sha256, generateToken, type TokenVault } from './tokens';

export const MIN_PASSWORD_LENGTH = 8;
export const MAX_PASSWORD_LENGTH = 1000;

const UNREADABLE_TOKEN_MESSAGE =
  'The token was encrypted with another SECRET_KEY and cannot be shown. It remains valid until it is replaced: at /user/api-key, ' +
  'or by an operator with `fitgraph user token NAME --new`.';

const SELECT_TOKEN_OWNER_SQL = `SELECT u."id", u."username", u."is_superuser" AS "isSuperuser", u."is_active" AS "isActive"
  FROM "token" t JOIN "account" u ON u."id" = t."user_id" WHERE t."digest" = $1`;

/** Returns the owner of an API key. Throws FORBIDDEN for an unknown key or an inactive owner. */
export async function viewerOfApiKey(token: string, session: DatabaseSession): Promise<Viewer> {
  const [row] = await session.queryForAuthentication(SELECT_TOKEN_OWNER_SQL, [sha256(token)]);
  if (!row) throw forbiddenError('Invalid token.');
  if (!row.isActive) throw forbiddenError('User inactive or deleted.');
  return { id: row.id, username: row.username, isSuperuser: row.isSuperuser };
}

/**
 * SQL: selects an account, and the largest number of iterations of all imported password hashes. Returns this number even if the account does not exist,
 * so that the password check then takes as long as for an existing account and reveals no user names.
 */
const SELECT_CREDENTIALS_SQL = `SELECT u."id", u."password", u."is_active" AS "isActive", i."iterations"
  FROM ${MAX_IMPORTED_HASH_ITERATIONS_SQL} i ("iterations") LEFT JOIN "account" u ON u."username" = $1`;

/**
 * SQL: records a sign-in and stores a hash of the unchanged password. The PostgreSQL setting `fitgraph.same_password` prevents the trigger for
 * password changes from ending the user's sessions. Returns no row if the stored hash has changed in the meantime, or the account was deactivated.
 */
const UPDATE_LAST_LOGIN_SQL = `WITH same AS MATERIALIZED (SELECT set_config('fitgraph.same_password', 'on', true))
  UPDATE "account" SET "last_login" = now(), "password" = $3 FROM same WHERE "id" = $1 AND "password" = $2 AND "is_active" RETURNING 1`;

/**
 * Checks a user name and password and returns the result of `grantCredentials`, which creates or reads the credentials for further requests. That function
 * runs in the transaction that records the sign-in and locks the account: a concurrent change of the password either happens before, and this sign-in
 * fails, or waits and then revokes the new credentials. Throws UNAUTHENTICATED for unknown credentials. Logs success and failure in the audit log.
 */
export async function signInWithPassword<T>(
  username: string,
  password: string,
  grantCredentials: (userId: number) => Promise<T>,
  session: DatabaseSession,
  eventSource: SecurityEventSource,
): Promise<T> {
  // PostgreSQL rejects strings with a NUL character, so no account has such a user name. If a client sends one, the empty name, which matches no account
  // either, is looked up instead.
  const [user] = await session.query(SELECT_CREDENTIALS_SQL, [
    username.includes('\0') ? '' : username,
  ]);
  const { isValid, isHashOutdated } = await verifyPassword(
    user!.password ?? undefined,
    password,
    user!.iterations,
    eventSource.address,
  );
  const { id, password: storedHash } = user!;
  const logEvent = (kind: 'SIGNED_IN' | 'SIGN_IN_FAILED') =>
    logSecurityEvent({ kind, userId: id ?? undefined, ...eventSource }, session);
  if (!isValid || !user!.isActive) {
    await logEvent('SIGN_IN_FAILED');
    throw new ClientError('UNAUTHENTICATED', 'Username or password unknown');
  }
  const newHash = isHashOutdated ? await hashPassword(password) : storedHash;
  const signInOutcome = await session.inTransaction(async () => {
    if (!(await session.query(UPDATE_LAST_LOGIN_SQL, [id, storedHash, newHash])).length)
      return undefined;
    await logEvent('SIGNED_IN');
    return { result: await grantCredentials(id) };
  });
  // Retries the sign-in if the stored password hash was changed in the meantime: by a new password, or by a concurrent sign-in that rehashed the same
  // password.
  return signInOutcome
    ? signInOutcome.result
    : signInWithPassword(username, password, grantCredentials, session, eventSource);
}

const SELECT_PASSWORD_SQL = `SELECT u."password", i."iterations" FROM ${MAX_IMPORTED_HASH_ITERATIONS_SQL} i ("iterations") LEFT JOIN "account" u ON u."id" = $1`;

/** Checks the password of a user. Returns its stored hash, or undefined if the password is wrong. */
export async function verifyPasswordAndGetHash(
  userId: number,
  password: string,
  session: DatabaseSession,
  eventSource: SecurityEventSource,
): Promise<string | undefined> {
  const [user] = await session.query(SELECT_PASSWORD_SQL, [userId]);
  const storedHash = (user!.password ?? undefined) as string | undefined;
  const { isValid } = await verifyPassword(
    storedHash,
    password,
    user!.iterations,
    eventSource.address,
  );
  return isValid ? storedHash : undefined;
}

/**
 * SQL: replaces the password if its stored hash is still $2. The PostgreSQL setting `fitgraph.kept_session` names the one session that the trigger for
 * password changes does not end.
 */
const UPDATE_PASSWORD_SQL = `WITH kept AS MATERIALIZED (SELECT set_config('fitgraph.kept_session', COALESCE(encode($4::bytea, 'hex'), ''), true))
  UPDATE "user_account" SET "password" = $3 FROM kept WHERE "id" = $1 AND "password" = $2 RETURNING 1`;

/**
 * Replaces the password whose hash is `storedHash`, ends all sessions of the user except `keptSessionId`, and returns the new API key. Returns
 * undefined if the password has changed in the meantime.
 */
export async function replacePassword(
  userId: number,
  storedHash: string,
  password: string,
  keptSessionId: string | undefined,
  session: DatabaseSession,
  tokenVault: TokenVault,
  eventSource: SecurityEventSource,
): Promise<string | undefined> {
  const newHash = await hashPasswordWithinLimit(password, eventSource.address);
  const token = generateToken();
  return session.inTransaction(async () => {
    const keptSessionDigest = keptSessionId === undefined ? null : sha256(keptSessionId);
    if (
      !(await session.query(UPDATE_PASSWORD_SQL, [userId, storedHash, newHash, keptSessionDigest]))
        .length
    )
      return undefined;
    // Because the password changed, a trigger has deleted the API key of the user and all sessions except the one to be kept.
    const upsertTokenSql = `INSERT INTO "token" ("user_id", "digest", "sealed", "created") VALUES ($1, $2, $3, now())
      ON CONFLICT ("user_id") DO UPDATE SET "digest" = $2, "sealed" = $3, "created" = now()`;
    await session.query(upsertTokenSql, [userId, sha256(token), tokenVault.encrypt(token)]);
    await logSecurityEvent({ kind: 'PASSWORD_CHANGED', userId, ...eventSource }, session);
    return token;
  });
}

/**
 * Locks an account until the current transaction ends. Concurrent sign-ins and password changes wait, so credentials that are checked after the locking
 * stay valid until the end of the transaction.
 */
export const lockAccountRow = (userId: number, session: DatabaseSession): Promise<unknown> =>
  session.query('SELECT 1 FROM "user_account" WHERE "id" = $1 FOR NO KEY UPDATE', [userId]);

/**
 * Creates a new API key in the current transaction, which replaces the old one. With `oldTokenDigest`, replaces only the key with this digest; returns
 * undefined if that key no longer exists.
 */
export async function replaceApiKey(
  userId: number,
  oldTokenDigest: Buffer | undefined,
  session: DatabaseSession,
  tokenVault: TokenVault,
  eventSource: SecurityEventSource,
): Promise<string | undefined> {
  const token = generateToken();
  const rows = await session.query(
    `INSERT INTO "token" ("user_id", "digest", "sealed", "created") VALUES ($1, $2, $3, now())
     ON CONFLICT ("user_id") DO UPDATE SET "digest" = $2, "sealed" = $3, "created" = now() WHERE "token"."digest" = COALESCE($4::bytea, "token"."digest")
     RETURNING 1`,
    [userId, sha256(token), tokenVault.encrypt(token), oldTokenDigest ?? null],
  );
  if (!rows.length) return undefined;
  await logSecurityEvent({ kind: 'API_KEY_REPLACED', userId, ...eventSource }, session);
  return token;
}

/** Returns the API key of the user with this name and password. It stays the same until it is replaced or the password changes. */
export async function getApiKeyByPassword(
  username: string,
  password: string,
  session: DatabaseSession,
  tokenVault: TokenVault,
  eventSource: SecurityEventSource,
): Promise<string> {
  const findOrCreateKey = (userId: number) =>
    getOrCreateEncryptedApiKey(userId, session, tokenVault);
  return decryptApiKey(
    await signInWithPassword(username, password, findOrCreateKey, session, eventSource),
    tokenVault,
  );
}

/**
 * Decrypts an API key. Throws CONFLICT if the API key was encrypted with another SECRET_KEY: it is not replaced by a new one, because clients may still
 * use it.
 */
function decryptApiKey(encryptedToken: Buffer, tokenVault: TokenVault): string {
  const token = tokenVault.decrypt(encryptedToken);
  if (token === undefined) throw new ClientError('CONFLICT', UNREADABLE_TOKEN_MESSAGE);
  return token;
}

async function getOrCreateEncryptedApiKey(
  userId: number,
  session: DatabaseSession,
  tokenVault: TokenVault,
): Promise<Buffer> {
  const [row] = await session.query('SELECT "sealed" FROM "token" WHERE "user_id" = $1', [userId]);
  return row ? row.sealed : insertApiKey(userId, session, tokenVault);
}

/** Creates the API key of a user without one, and returns it encrypted. Two concurrent calls return the same key. */
async function insertApiKey(
  userId: number,
  session: DatabaseSession,
  tokenVault: TokenVault,
): Promise<Buffer> {
  const token = generateToken();
  const encryptedToken = tokenVault.encrypt(token);
  const rows = await session.query(
    `INSERT INTO "token" ("user_id", "digest", "sealed", "created") VALUES ($1, $2, $3, now())
     ON CONFLICT ("user_id") DO NOTHING RETURNING "user_id"`,
    [userId, sha256(token), encryptedToken],
  );
  return rows.length ? encryptedToken : getOrCreateEncryptedApiKey(userId, session, tokenVault);
}

/** Returns the API key of a user; creates one if the user has none. Throws CONFLICT if the API key was encrypted with another SECRET_KEY. */
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
  /** Absent if the API key was encrypted with another SECRET_KEY: it is still accepted, but cannot be shown. */
  token?: string;
}

/** Returns the API key for display to its owner. */
export async function findApiKey(
  userId: number,
  session: DatabaseSession,
  tokenVault: TokenVault,
): Promise<ApiKey | undefined> {
  const statement = `SELECT encode("digest", 'hex') AS "id", "created", "sealed" FROM "token" WHERE "user_id" = $1`;
  const [row] = await session.query(statement, [userId]);
  return row && { id: row.id, created: row.created, token: tokenVault.decrypt(row.sealed) };
}

export async function findUser(
  username: string,
  session: DatabaseSession,
): Promise<Pick<User, 'id' | 'username' | 'isActive'>> {
  const user = await User.findOne({
    where: { username },
    attributes: ['id', 'username', 'isActive'],
    ...session.sequelizeOptions,
  });
  if (!user) throw new ClientError('NOT_FOUND', `There is no user named ${username}.`);
  return user;
}

export function passwordPolicyErrorMessage(password: string): string | undefined {
  if (password.length < MIN_PASSWORD_LENGTH)
    return `The password must have at least ${MIN_PASSWORD_LENGTH} characters.`;
  if (password.length > MAX_PASSWORD_LENGTH)
    return `The password must have no more than ${MAX_PASSWORD_LENGTH} characters.`;
  if (/^\d+$/.test(password)) return 'The password must not consist of digits alone.';
  return undefined;
}

export function checkPasswordPolicy(password: string): void {
  const problem = passwordPolicyErrorMessage(password);
  if (problem) throw new ClientError('BAD_USER_INPUT', problem);
}

export interface NewUser {
  username: string;
  password: string;
  email?: string;
  isSuperuser?: boolean;
}

export async function createUser(
  { username, password, email = '', isSuperuser = false }: NewUser,
  session: DatabaseSession,
): Promise<number> {
  if (!/^[\w.@+-]{1,150}$/u.test(username))
    throw new ClientError(
      'BAD_USER_INPUT',
      'A user name has 1 to 150 letters, digits and @ . + - _',
    );
  checkPasswordPolicy(password);
  const account = { username, password: await hashPassword(password), email, isSuperuser };
  const options = (transaction: Transaction) => ({ transaction, ...session.sequelizeOptions });
  try {
    return await session.transaction(async (transaction) => {
      const { id } = await User.create(account as User, options(transaction));
      await UserProfile.create({ userId: id } as UserProfile, options(transaction));
      return id;
    });
  } catch (error) {
    if (error instanceof UniqueConstraintError)
      throw new ClientError('CONFLICT', `There is a user named ${username} already.`);
    throw error;
  }
}

/** Changes an account on behalf of an operator, who needs neither the password nor a session of the user. */
const updateAccount = (
  userId: number,
  values: Partial<Pick<User, 'password' | 'isActive'>>,
  session: DatabaseSession,
): Promise<unknown> =>
  session.transaction((transaction) =>
    User.update(values, { where: { id: userId }, transaction, ...session.sequelizeOptions }),
  );

export async function setPassword(
  userId: number,
  password: string,
  session: DatabaseSession,
): Promise<void> {
  checkPasswordPolicy(password);
  await updateAccount(userId, { password: await hashPassword(password) }, session);
}

export async function setUserActive(
  userId: number,
  active: boolean,
  session: DatabaseSession,
): Promise<void> {
  await updateAccount(userId, { isActive: active }, session);
}
