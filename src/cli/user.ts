import { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { checkPassword, createUser, findUser, replaceToken, setActive, setPassword, tokenOf } from '../auth/accounts';
import type { Config } from '../platform/config';
import { deleteUser } from '../auth/deletion';
import { KnownError } from '../core/model/errors';
import { Listener } from '../core/changes/listener';
import type { Database } from '../database/connection';
import { Media } from '../files/media';
import { FileRemoval } from '../files/removal';
import { createLog } from '../platform/logging';
import { confirm, newPassword } from './asking';
import { counted, noteOf, operate, say } from './operator';

/** From the option, or else typed, so that it need not stand in the shell's history. */
const passwordOf = async (option: string | undefined): Promise<string> => option ?? newPassword();

/** Of many accounts of many installations, a reader tells by its beginning whose it is. */
const madePassword = (username: string) => `${username}-${randomBytes(9).toString('hex')}`;

const ACCOUNTS = `SELECT "id", "username", "email", "date_joined" AS "joined", "last_login" AS "lastLogin", "is_superuser" AS "superuser",
  "is_active" AS "active" FROM "user_account" ORDER BY "id"`;

const dayOf = (moment: string) => new Date(moment).toISOString().slice(0, 10);

export function userCommand(): Command {
  const user = new Command('user').description('Make, change and list accounts.');
  // In the order of the help.
  for (const add of [addCreate, addPassword, addToken, addDeactivate, addDelete, addList]) add(user);
  return user;
}

function addCreate(user: Command): void {
  user
    .command('create <name>')
    .description('Make an account and print its token. The password is asked for unless given.')
    .option('--password <password>', 'at least 8 characters, not only digits')
    .option('--email <address>')
    .option('--superuser', 'what the user contributes is accepted at once')
    .action(async (username: string, options: { password?: string; email?: string; superuser?: boolean }) => {
      const password = await passwordOf(options.password);
      await operate(async ({ session, vault }) => {
        // Every account has a language.
        if (!(await session.query('SELECT FROM "language" LIMIT 1', [])).length)
          throw new KnownError('CONFLICT', 'The database is empty: run `fitgraph seed` or `fitgraph import FILE` first.');
        const id = await createUser({ username, password, email: options.email, isSuperuser: options.superuser }, session);
        await noteOf({ kind: 'ACCOUNT_CREATED', userId: id, detail: options.superuser ? 'superuser' : undefined }, session);
        say(`User ${username} was made. Token: ${await tokenOf(id, session, vault)}`);
      });
    });
}

function addPassword(user: Command): void {
  user
    .command('password <name>')
    .description('Set a new password, asked for unless given, and a new token.')
    .option('--password <password>', 'at least 8 characters, not only digits')
    .option('--new', 'make one and print it')
    .action(async (username: string, options: { password?: string; new?: boolean }) => {
      const password = options.new ? madePassword(username) : await passwordOf(options.password);
      await operate(async ({ session, vault }) => {
        const { id } = await findUser(username, session);
        checkPassword(password);
        await noteOf({ kind: 'PASSWORD_CHANGED', userId: id }, session);
        await setPassword(id, password, session);
        say(`The password of ${username} was changed, and all browsers are signed out. New token: ${await tokenOf(id, session, vault)}`);
        if (options.new) say(`New password: ${password}`);
      });
    });
}

function addToken(user: Command): void {
  user
    .command('token <name>')
    .description('Print the token of a user.')
    .option('--new', 'replace it; the old one stops working at once')
    .action((username: string, options: { new?: boolean }) =>
      operate(async ({ session, vault }) => {
        const { id } = await findUser(username, session);
        await noteOf({ kind: options.new ? 'API_KEY_REPLACED' : 'API_KEY_SHOWN', userId: id }, session);
        if (options.new) await session.query('DELETE FROM "token" WHERE "user_id" = $1', [id]);
        say(await (options.new ? replaceToken : tokenOf)(id, session, vault));
      }),
    );
}

function addDeactivate(user: Command): void {
  user
    .command('deactivate <name>')
    .description('Lock an account: neither password nor token works any more. Nothing is deleted.')
    .option('--undo', 'unlock it')
    .action((username: string, options: { undo?: boolean }) =>
      operate(async ({ session }) => {
        const { id } = await findUser(username, session);
        await noteOf({ kind: options.undo ? 'ACCOUNT_UNLOCKED' : 'ACCOUNT_LOCKED', userId: id }, session);
        await setActive(id, options.undo === true, session);
        say(`User ${username} is ${options.undo ? 'active' : 'inactive'} now.`);
      }),
    );
}

function addDelete(user: Command): void {
  user
    .command('delete <name>')
    .description('Delete an account with everything of it: its rows, the images that it added, and their files. Nothing of it comes back.')
    .option('--yes', 'do not ask')
    .action(async (username: string, options: { yes?: boolean }) => {
      if (!options.yes && !(await confirm(`Everything of ${username} will be deleted. Type the name again: `, username)))
        throw new KnownError('BAD_USER_INPUT', 'That is another name: nothing was deleted.');
      await operate(async ({ config, database, session }) => {
        const { id } = await findUser(username, session);
        await noteOf({ kind: 'ACCOUNT_DELETED', userId: id, detail: username }, session);
        const { rows, contributions } = await deleteUser(id, database);
        await removeFiles(config, database);
        say(`User ${username} is deleted, with ${counted(rows, 'row')} and ${counted(contributions, 'image')}.`);
      });
    });
}

function addList(user: Command): void {
  user
    .command('list')
    .description('Print all accounts, the oldest first.')
    .option('--json', 'one JSON object a line')
    .action((options: { json?: boolean }) =>
      operate(async ({ session }) => {
        const accounts = await session.query(ACCOUNTS, []);
        if (options.json) return accounts.forEach((account) => say(JSON.stringify(account)));
        for (const { username, joined, lastLogin, superuser, active } of accounts) {
          const marks = [superuser && 'superuser', !active && 'locked'].filter(Boolean).join(', ');
          say(
            [username, `joined ${dayOf(joined)}`, lastLogin ? `last login ${dayOf(lastLogin)}` : 'never signed in', marks]
              .join('  ')
              .trimEnd(),
          );
        }
        process.stderr.write(`${counted(accounts.length, 'account')}\n`);
      }),
    );
}

/** A server that runs does it as well; without one the files would stay until the next start. */
async function removeFiles(config: Config, database: Database): Promise<void> {
  const log = createLog(config.logLevel, process.stderr);
  await new FileRemoval(database, Media.of(config), new Listener(database, log), log).run();
}
