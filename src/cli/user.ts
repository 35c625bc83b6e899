/** `fitgraph user`: creates, changes, lists and deletes accounts. */
import { randomBytes } from 'node:crypto';
import { listAccessTokens, revokeAccessTokens } from '../accounts/access-tokens';
import {
  createUser,
  findUserId,
  replaceApiKey,
  setUserActive,
  setUserRoles,
  setPassword,
  getOrCreateApiKey,
  revokeCredentials,
} from '../accounts/accounts';
import { deleteUser } from '../accounts/deletion';
import { disconnectIdentities } from '../accounts/identities';
import { createPasswordLink } from '../accounts/password-links';
import { endSessions, listSessions } from '../accounts/sessions';
import { ClientError } from '../engine/declare/errors';
import { parseRowId } from '../engine/declare/node';
import { promptConfirmation, promptNewPassword } from './prompts';
import {
  recordOperatorEvent,
  removeScheduledFiles,
  replaceControlCharacters,
  withDatabase,
  printLine,
  type CommandContext,
} from './command-context';
import { formatCount } from '../shared/messages';

/** Random password that starts with the user name, which shows to which account it belongs. */
const generatePassword = (username: string) => `${username}-${randomBytes(9).toString('hex')}`;

const SELECT_ACCOUNTS_SQL = `SELECT "id", "username", "email", "date_joined" AS "joined",
  "last_login" AS "lastLogin", "is_superuser" AS "superuser", "is_curator" AS "curator",
  "is_active" AS "active" FROM "user_account" ORDER BY "id"`;

const formatDate = (timestamp: string) => new Date(timestamp).toISOString().slice(0, 10);

/** Opens the database and finds the account with this name. */
const withUser = (
  username: string,
  callback: (id: number, context: CommandContext) => Promise<void>,
): Promise<void> =>
  withDatabase(async (context) => callback(await findUserId(username, context.session), context));

async function printPasswordLink(id: number, { config, session }: CommandContext): Promise<void> {
  const { path, expiresAt } = await createPasswordLink(id, session);

  printLine(`${config.publicUrl ?? ''}${path}`);
  process.stderr.write(`The link is valid once, until ${expiresAt}.\n`);

  if (!config.publicUrl) {
    process.stderr.write(
      'Put the address of the server before it, because PUBLIC_URL is not set.\n',
    );
  }
}

export async function createAccount(
  username: string,
  options: { password?: string; link?: boolean; email?: string; superuser?: boolean },
): Promise<void> {
  const { link, email, superuser: isSuperuser } = options;
  const password = link ? undefined : (options.password ?? (await promptNewPassword()));

  await withDatabase(async (context) => {
    const { session, tokenVault } = context;

    // A new account refers to a language, so the database must contain one.
    if (!(await session.query('SELECT FROM "language" LIMIT 1', [])).length) {
      throw new ClientError(
        'CONFLICT',
        'The database is empty: run `fitgraph seed` or `fitgraph import FILE` first.',
      );
    }

    const id = await createUser(
      { username, password, email, isSuperuser },
      session,
      isSuperuser ? 'superuser' : undefined,
    );

    if (link) return printPasswordLink(id, context);

    printLine(
      `Created user ${username}. Token: ${await getOrCreateApiKey(id, session, tokenVault)}`,
    );
  });
}

export async function changePassword(
  username: string,
  options: { password?: string; new?: boolean; link?: boolean },
): Promise<void> {
  if (options.link) return withUser(username, printPasswordLink);
  const password = options.new
    ? generatePassword(username)
    : (options.password ?? (await promptNewPassword()));

  await withUser(username, async (id, { session, tokenVault }) => {
    await session.inTransaction(async () => {
      await setPassword(id, password, session);
      await recordOperatorEvent({ kind: 'PASSWORD_CHANGED', userId: id }, session);
    });
    printLine(
      `Changed the password of ${username} and signed out all browsers. New token: ${await getOrCreateApiKey(id, session, tokenVault)}`,
    );
    if (options.new) printLine(`New password: ${password}`);
  });
}

export const showToken = (username: string, options: { new?: boolean }): Promise<void> =>
  withUser(username, async (id, { session, tokenVault }) => {
    const apiKey = await session.inTransaction(async () => {
      if (options.new) return replaceApiKey(id, undefined, session, tokenVault);
      await recordOperatorEvent({ kind: 'API_KEY_SHOWN', userId: id }, session);
      return getOrCreateApiKey(id, session, tokenVault);
    });

    printLine(apiKey!);
  });

const setActive = (isActive: boolean) => (username: string) =>
  withUser(username, async (id, { session }) => {
    await setUserActive(id, isActive, session);
    printLine(`User ${username} is now ${isActive ? 'active' : 'deactivated'}.`);
  });

export const activateAccount = setActive(true);
export const deactivateAccount = setActive(false);

export const signOut = (username: string): Promise<void> =>
  withUser(username, async (id, { session }) => {
    await revokeCredentials(id, session);
    printLine(`Ended all sessions of ${username} and revoked all tokens.`);
  });

export const showSessions = (username: string, options: { end?: string }): Promise<void> =>
  withUser(username, async (id, { session }) => {
    if (options.end !== undefined) {
      const { end } = options;
      const endedCount = await session.inTransaction(() => endSessions(id, end, session));

      if (!endedCount) throw new ClientError('NOT_FOUND', `${username} has no session ${end}.`);

      return printLine(`Ended a session of ${username}.`);
    }

    const [sessions] = await listSessions([id], session);

    for (const { id: sessionId, createdAt, lastUsedAt } of sessions!) {
      printLine(
        `${sessionId}  signed in ${formatDate(createdAt)}  last used ${formatDate(lastUsedAt)}`,
      );
    }
  });

export const showAccessTokens = (username: string, options: { revoke?: string }): Promise<void> =>
  withUser(username, async (id, { session }) => {
    if (options.revoke !== undefined) {
      const { revoke } = options;
      // An invalid id must not become undefined, because that would revoke all tokens.
      const tokenId = parseRowId(revoke) ?? 0;
      const revokedCount = await session.inTransaction(() =>
        revokeAccessTokens(id, tokenId, session),
      );

      if (!revokedCount) {
        throw new ClientError('NOT_FOUND', `${username} has no access token ${revoke}.`);
      }

      return printLine(`Revoked an access token of ${username}.`);
    }

    const [tokens] = await listAccessTokens([id], session);

    for (const { id: tokenId, name, createdAt, lastUsedAt } of tokens!) {
      printLine(
        `${tokenId}  ${replaceControlCharacters(name)}  created ${formatDate(createdAt)}  ${
          lastUsedAt ? `last used ${formatDate(lastUsedAt)}` : 'never used'
        }`,
      );
    }
  });

export const disconnect = (username: string): Promise<void> =>
  withUser(username, async (id, { session }) => {
    await session.inTransaction(() => disconnectIdentities(id, session));
    printLine(`Disconnected the sign-ins of ${username}.`);
  });

const setRole = (isGranted: boolean) => (username: string, role: string) =>
  withUser(username, async (id, { session }) => {
    const roles = role === 'curator' ? { isCurator: isGranted } : { isSuperuser: isGranted };

    await setUserRoles(id, roles, session);
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

  await withUser(username, async (id, { config, database }) => {
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
