/** `fitgraph user`: creates, changes, lists and deletes accounts. */
import { randomBytes } from 'node:crypto';
import {
  checkPasswordPolicy,
  createUser,
  findUser,
  setUserActive,
  setUserRoles,
  setPassword,
  getOrCreateApiKey,
  revokeCredentials,
} from '../accounts/accounts';
import { deleteUser } from '../accounts/deletion';
import { createPasswordLink } from '../accounts/password-links';
import { ClientError } from '../engine/declare/errors';
import { promptConfirmation, promptNewPassword } from './prompts';
import {
  operatorName,
  recordOperatorEvent,
  removeScheduledFiles,
  replaceControlCharacters,
  withDatabase,
  printLine,
} from './command-context';
import { formatCount } from '../shared/messages';

/**
 * Prompts for a password that is not given as an option, which keeps it out of the shell history.
 */
const readPassword = async (passwordOption: string | undefined): Promise<string> =>
  passwordOption ?? promptNewPassword();

/** Random password that starts with the user name, which shows to which account it belongs. */
const generatePassword = (username: string) => `${username}-${randomBytes(9).toString('hex')}`;

const SELECT_ACCOUNTS_SQL = `SELECT "id", "username", "email", "date_joined" AS "joined",
  "last_login" AS "lastLogin", "is_superuser" AS "superuser", "is_curator" AS "curator",
  "is_active" AS "active" FROM "user_account" ORDER BY "id"`;

const formatDate = (timestamp: string) => new Date(timestamp).toISOString().slice(0, 10);

export async function createAccount(
  username: string,
  options: { password?: string; email?: string; superuser?: boolean },
): Promise<void> {
  const password = await readPassword(options.password);

  await withDatabase(async ({ session, tokenVault }) => {
    // A new account refers to a language, so the database must contain one.
    if (!(await session.query('SELECT FROM "language" LIMIT 1', [])).length) {
      throw new ClientError(
        'CONFLICT',
        'The database is empty: run `fitgraph seed` or `fitgraph import FILE` first.',
      );
    }

    const id = await createUser(
      { username, password, email: options.email, isSuperuser: options.superuser },
      session,
    );

    await recordOperatorEvent(
      { kind: 'ACCOUNT_CREATED', userId: id, detail: options.superuser ? 'superuser' : undefined },
      session,
    );
    printLine(
      `Created user ${username}. Token: ${await getOrCreateApiKey(id, session, tokenVault)}`,
    );
  });
}

export async function changePassword(
  username: string,
  options: { password?: string; new?: boolean; link?: boolean },
): Promise<void> {
  if (options.link) return printPasswordLink(username);
  const password = options.new ? generatePassword(username) : await readPassword(options.password);

  await withDatabase(async ({ session, tokenVault }) => {
    const { id } = await findUser(username, session);

    checkPasswordPolicy(password);
    await recordOperatorEvent({ kind: 'PASSWORD_CHANGED', userId: id }, session);
    await setPassword(id, password, session);
    printLine(
      `Changed the password of ${username} and signed out all browsers. New token: ${await getOrCreateApiKey(id, session, tokenVault)}`,
    );
    if (options.new) printLine(`New password: ${password}`);
  });
}

const printPasswordLink = (username: string): Promise<void> =>
  withDatabase(async ({ config, session }) => {
    const { id } = await findUser(username, session);
    const { path, expiresAt } = await createPasswordLink(id, session, { operator: operatorName() });

    printLine(`${config.publicUrl ?? ''}${path}`);
    process.stderr.write(`The link is valid once, until ${expiresAt}.\n`);
  });

export const showToken = (username: string, options: { new?: boolean }): Promise<void> =>
  withDatabase(async ({ session, tokenVault }) => {
    const { id } = await findUser(username, session);

    await recordOperatorEvent(
      { kind: options.new ? 'API_KEY_REPLACED' : 'API_KEY_SHOWN', userId: id },
      session,
    );
    if (options.new) await session.query('DELETE FROM "token" WHERE "user_id" = $1', [id]);
    printLine(await getOrCreateApiKey(id, session, tokenVault));
  });

const setActive =
  (isActive: boolean) =>
  (username: string): Promise<void> =>
    withDatabase(async ({ session }) => {
      const { id } = await findUser(username, session);

      await setUserActive(id, isActive, session, { operator: operatorName() });
      printLine(`User ${username} is now ${isActive ? 'active' : 'deactivated'}.`);
    });

export const activateAccount = setActive(true);
export const deactivateAccount = setActive(false);

export const signOut = (username: string): Promise<void> =>
  withDatabase(async ({ session }) => {
    const { id } = await findUser(username, session);

    await revokeCredentials(id, session, { operator: operatorName() });
    printLine(`Ended all sessions of ${username} and revoked all tokens.`);
  });

const setRole =
  (isGranted: boolean) =>
  (username: string, role: string): Promise<void> =>
    withDatabase(async ({ session }) => {
      const { id } = await findUser(username, session);
      const roles = role === 'curator' ? { isCurator: isGranted } : { isSuperuser: isGranted };

      await setUserRoles(id, roles, session, { operator: operatorName() });
      printLine(`User ${username} is ${isGranted ? 'now' : 'no longer'} a ${role}.`);
    });

export const grantRole = setRole(true);
export const revokeRole = setRole(false);

export async function deleteAccount(username: string, options: { yes?: boolean }): Promise<void> {
  if (
    !options.yes &&
    !(await promptConfirmation(
      `The account ${username} and all its data will be deleted. Type its name to continue: `,
      username,
    ))
  ) {
    throw new ClientError('BAD_USER_INPUT', 'The name does not match. Nothing was deleted.');
  }

  await withDatabase(async ({ config, database, session }) => {
    const { id } = await findUser(username, session);

    const { ownedRowCount, contributionCount } = await deleteUser(id, database, (deletion) =>
      recordOperatorEvent({ kind: 'ACCOUNT_DELETED', userId: id, detail: username }, deletion),
    );

    await removeScheduledFiles(config, database);
    printLine(
      `Deleted user ${username} with ${formatCount(ownedRowCount, 'row')} and ${formatCount(contributionCount, 'contribution')}.`,
    );
  });
}

export const listAccounts = (options: { json?: boolean }): Promise<void> =>
  withDatabase(async ({ session }) => {
    const accounts = await session.query(SELECT_ACCOUNTS_SQL, []);

    if (options.json) return accounts.forEach((account) => printLine(JSON.stringify(account)));

    for (const { username, joined, lastLogin, superuser, curator, active } of accounts) {
      const statusLabels = [
        superuser && 'superuser',
        curator && 'curator',
        !active && 'deactivated',
      ]
        .filter(Boolean)
        .join(', ');

      printLine(
        [
          replaceControlCharacters(username),
          `joined ${formatDate(joined)}`,
          lastLogin ? `last login ${formatDate(lastLogin)}` : 'never signed in',
          statusLabels,
        ]
          .join('  ')
          .trimEnd(),
      );
    }

    process.stderr.write(`${formatCount(accounts.length, 'account')}\n`);
  });
