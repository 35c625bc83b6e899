/** Accounts: who a token or a password belongs to, and what an operator does to accounts. */
import { UniqueConstraintError, type Transaction } from 'sequelize';
import type { Viewer } from '../core/context';
import { forbidden, KnownError } from '../core/model/errors';
import type { Row } from '../database/rows';
import type { Session } from '../database/session';
import { User } from '../resources/user';
import { UserProfile } from '../resources/userprofile';
import { note, type By } from './securityevents';
import { hashInTurn, hashPassword, MOST_ITERATIONS, verifyPassword } from './passwords';
import { digestOf, newToken, type TokenVault } from './tokens';

export const MIN_PASSWORD = 8;
export const MAX_PASSWORD = 1000;

const VIEWER_BY_TOKEN = `SELECT u."id", u."username", u."is_superuser" AS "isSuperuser", u."is_active" AS "isActive"
  FROM "token" t JOIN "account" u ON u."id" = t."user_id" WHERE t."digest" = $1`;

/** The owner of a token; FORBIDDEN for a bad token or an inactive owner. */
export async function viewerOf(token: string, session: Session): Promise<Viewer> {
  const [row] = await session.identify(VIEWER_BY_TOKEN, [digestOf(token)]);
  if (!row) throw forbidden('Invalid token.');
  if (!row.isActive) throw forbidden('User inactive or deleted.');
  return { id: row.id, username: row.username, isSuperuser: row.isSuperuser };
}

/** Always one row, and what it says of the hashes of all accounts costs the same whoever is asked for. */
const ACCOUNT_BY_NAME = `SELECT u."id", u."password", u."is_active" AS "isActive", i."iterations"
  FROM ${MOST_ITERATIONS} i ("iterations") LEFT JOIN "account" u ON u."username" = $1`;

/** With the hash anew: the password is the same, so that no session and no token ends. Nothing where it was changed since it was read. */
const SIGNED_IN = `WITH same AS MATERIALIZED (SELECT set_config('fitgraph.same_password', 'on', true))
  UPDATE "account" SET "last_login" = now(), "password" = $3 FROM same WHERE "id" = $1 AND "password" = $2 AND "is_active" RETURNING 1`;

/** The id of the user with this name and password; UNAUTHENTICATED where there is none. Either is noted. */
export async function checkCredentials(username: string, password: string, session: Session, by: By): Promise<number> {
  // No name is empty, and none has a NUL, which PostgreSQL does not take.
  const [user] = await session.query(ACCOUNT_BY_NAME, [username.includes('\0') ? '' : username]);
  const { valid, outdated } = await verifyPassword(user!.password ?? undefined, password, user!.iterations, by.address);
  const { id, password: stored } = user!;
  const noteThat = (kind: 'SIGNED_IN' | 'SIGN_IN_FAILED') =>
    note({ kind, userId: id ?? undefined, ...by }, (text, values) => session.query(text, values));
  if (!valid || !user!.isActive) {
    await noteThat('SIGN_IN_FAILED');
    throw new KnownError('UNAUTHENTICATED', 'Username or password unknown');
  }
  const signedIn = await session.query(SIGNED_IN, [id, stored, outdated ? await hashPassword(password) : stored]);
  // Another one meanwhile, or the same one hashed anew by another login.
  if (!signedIn.length) return checkCredentials(username, password, session, by);
  await noteThat('SIGNED_IN');
  return id;
}

const PASSWORD_BY_ID = `SELECT u."password", i."iterations" FROM ${MOST_ITERATIONS} i ("iterations") LEFT JOIN "account" u ON u."id" = $1`;

/** The hash that is stored of this password of a user; undefined where they have another one. */
export async function hashOfPassword(userId: number, password: string, session: Session, by: By): Promise<string | undefined> {
  const [user] = await session.query(PASSWORD_BY_ID, [userId]);
  const stored = (user!.password ?? undefined) as string | undefined;
  const { valid } = await verifyPassword(stored, password, user!.iterations, by.address);
  return valid ? stored : undefined;
}

/**
 * Sets a new password in place of the one with this hash, ends the sessions of the user but the one that is kept, and answers the new token.
 * Undefined where the password was changed meanwhile.
 */
export async function replacePassword(
  userId: number,
  stored: string,
  password: string,
  kept: string | undefined,
  session: Session,
  vault: TokenVault,
  by: By,
): Promise<string | undefined> {
  const hashed = await hashInTurn(password, by.address);
  const token = newToken();
  const { sequelize } = session.database;
  return session.transaction(async (transaction) => {
    const run = async (text: string, bind: unknown[]) =>
      (await sequelize.query(text, { bind, transaction, ...session.counted }))[0] as Row[];
    const find = 'SELECT to_jsonb(s) AS "row" FROM "session" s WHERE "digest" = $1 AND "user_id" = $2';
    const [present] = kept === undefined ? [] : await run(find, [digestOf(kept), userId]);
    const replace = 'UPDATE "user_account" SET "password" = $3 WHERE "id" = $1 AND "password" = $2 RETURNING 1';
    if (!(await run(replace, [userId, stored, hashed])).length) return undefined;
    // The database ends the token and all sessions of whoever has a new password, so that no way to change it leaves one; this one is put back.
    const make = `INSERT INTO "token" ("user_id", "digest", "sealed", "created") VALUES ($1, $2, $3, now())
      ON CONFLICT ("user_id") DO UPDATE SET "digest" = $2, "sealed" = $3, "created" = now()`;
    await run(make, [userId, digestOf(token), vault.seal(token)]);
    await note({ kind: 'PASSWORD_CHANGED', userId, ...by }, run);
    if (present) await run('INSERT INTO "session" SELECT (jsonb_populate_record(NULL::"session", $1)).*', [JSON.stringify(present.row)]);
    return token;
  });
}

/** Makes a new token, whatever there was; with the digest of an old one, only in place of that one, and undefined where it is no longer the user's. */
export async function renewToken(
  userId: number,
  old: Buffer | undefined,
  session: Session,
  vault: TokenVault,
  by: By,
): Promise<string | undefined> {
  const token = newToken();
  const bind = [userId, digestOf(token), vault.seal(token), old ?? null];
  const { sequelize } = session.database;
  return session.transaction(async (transaction) => {
    const [rows] = await sequelize.query(
      `INSERT INTO "token" ("user_id", "digest", "sealed", "created") VALUES ($1, $2, $3, now())
       ON CONFLICT ("user_id") DO UPDATE SET "digest" = $2, "sealed" = $3, "created" = now() WHERE "token"."digest" = COALESCE($4::bytea, "token"."digest")
       RETURNING 1`,
      { bind, transaction, ...session.counted },
    );
    if (!rows.length) return undefined;
    const run = async (text: string, values: unknown[]) =>
      (await sequelize.query(text, { bind: values, transaction, ...session.counted }))[0] as Row[];
    await note({ kind: 'API_KEY_REPLACED', userId, ...by }, run);
    return token;
  });
}

/** The token of the user with this name and password; the same until it is replaced or the password changes. */
export async function signIn(username: string, password: string, session: Session, vault: TokenVault, by: By): Promise<string> {
  return tokenOf(await checkCredentials(username, password, session, by), session, vault);
}

/** The existing token, or a new one where there is none or it was sealed with another SECRET_KEY. */
export async function tokenOf(userId: number, session: Session, vault: TokenVault): Promise<string> {
  const [row] = await session.query('SELECT "sealed" FROM "token" WHERE "user_id" = $1', [userId]);
  const existing = row && vault.open(row.sealed);
  return existing ?? replaceToken(userId, session, vault, row?.sealed);
}

/** Makes a new token. With `old`, only in place of that one: of two logins at the same time both get the same. */
export async function replaceToken(userId: number, session: Session, vault: TokenVault, old?: Buffer): Promise<string> {
  const token = newToken();
  const values: unknown[] = [userId, digestOf(token), vault.seal(token)];
  const guard = old === undefined ? 'NOTHING' : `UPDATE SET "digest" = $2, "sealed" = $3, "created" = now() WHERE "token"."sealed" = $4`;
  const rows = await session.query(
    `INSERT INTO "token" ("user_id", "digest", "sealed", "created") VALUES ($1, $2, $3, now())
     ON CONFLICT ("user_id") DO ${guard} RETURNING "user_id"`,
    old === undefined ? values : [...values, old],
  );
  return rows.length ? token : tokenOf(userId, session, vault);
}

export async function findUser(username: string, session: Session): Promise<Pick<User, 'id' | 'username' | 'isActive'>> {
  const user = await User.findOne({ where: { username }, attributes: ['id', 'username', 'isActive'], ...session.counted });
  if (!user) throw new KnownError('NOT_FOUND', `There is no user named ${username}.`);
  return user;
}

export function passwordProblem(password: string): string | undefined {
  if (password.length < MIN_PASSWORD) return `The password must have at least ${MIN_PASSWORD} characters.`;
  if (password.length > MAX_PASSWORD) return `The password must have no more than ${MAX_PASSWORD} characters.`;
  if (/^\d+$/.test(password)) return 'The password must not consist of digits alone.';
  return undefined;
}

export function checkPassword(password: string): void {
  const problem = passwordProblem(password);
  if (problem) throw new KnownError('BAD_USER_INPUT', problem);
}

export interface NewUser {
  username: string;
  password: string;
  email?: string;
  isSuperuser?: boolean;
}

/** Makes an account with its profile. */
export async function createUser({ username, password, email = '', isSuperuser = false }: NewUser, session: Session): Promise<number> {
  if (!/^[\w.@+-]{1,150}$/u.test(username))
    throw new KnownError('BAD_USER_INPUT', 'A user name has 1 to 150 letters, digits and @ . + - _');
  checkPassword(password);
  const account = { username, password: await hashPassword(password), email, isSuperuser };
  const options = (transaction: Transaction) => ({ transaction, ...session.counted });
  try {
    return await session.transaction(async (transaction) => {
      const { id } = await User.create(account as User, options(transaction));
      await UserProfile.create({ userId: id } as UserProfile, options(transaction));
      return id;
    });
  } catch (error) {
    if (error instanceof UniqueConstraintError) throw new KnownError('CONFLICT', `There is a user named ${username} already.`);
    throw error;
  }
}

/** By an operator, who needs no permission of the user. */
const changeUser = (userId: number, values: Partial<Pick<User, 'password' | 'isActive'>>, session: Session): Promise<unknown> =>
  session.transaction((transaction) => User.update(values, { where: { id: userId }, transaction, ...session.counted }));

export async function setPassword(userId: number, password: string, session: Session): Promise<void> {
  checkPassword(password);
  await changeUser(userId, { password: await hashPassword(password) }, session);
}

export async function setActive(userId: number, active: boolean, session: Session): Promise<void> {
  await changeUser(userId, { isActive: active }, session);
}
