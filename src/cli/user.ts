import { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { checkPassword, createUser, findUser, replaceToken, setActive, setPassword, tokenOf } from '../auth/accounts';
import type { Config } from '../platform/config';
import { deleteUser } from '../auth/deletion';
import { KnownError } from '../core/model/errors';
import { Listener } from '../core/changes/listener';
import type { Database } from '../database/connection';
import { Media } from '../files/media';
import { FileRemoval } from '../files/removal';
import { createLog } from '../platform/logging';
import { noteOf, operate, say } from './operator';

/** From the option, or else from standard input, so that it need not stand in the shell's history. */
const passwordOf = async (option: string | undefined): Promise<string> => option ?? answerTo('Password: ');

async function answerTo(question: string): Promise<string> {
  const input = createInterface({ input: process.stdin, output: process.stderr, terminal: process.stdin.isTTY });
  try {
    return (await input.question(question)).trim();
  } finally {
    input.close();
  }
}

/** Of many accounts of many installations, a reader tells by its beginning whose it is. */
const newPassword = (username: string) => `${username}-${randomBytes(9).toString('hex')}`;

export function userCommand(): Command {
  const user = new Command('user').description('Make and change accounts.');
  user
    .command('create <name>')
    .description('Make an account and print its token. The password is read from standard input unless given.')
    .option('--password <password>', 'at least 8 characters, not only digits')
    .option('--email <address>')
    .option('--superuser', 'what the user contributes is accepted at once')
    .action(async (username: string, options: { password?: string; email?: string; superuser?: boolean }) => {
      const password = await passwordOf(options.password);
      await operate(async ({ session, vault }) => {
        const id = await createUser({ username, password, email: options.email, isSuperuser: options.superuser }, session);
        await noteOf({ kind: 'ACCOUNT_CREATED', userId: id, detail: options.superuser ? 'superuser' : undefined }, session);
        say(`User ${username} was made. Token: ${await tokenOf(id, session, vault)}`);
      });
    });
  user
    .command('password <name>')
    .description('Set a new password, read from standard input unless given, and a new token.')
    .option('--password <password>', 'at least 8 characters, not only digits')
    .option('--new', 'make one and print it')
    .action(async (username: string, options: { password?: string; new?: boolean }) => {
      const password = options.new ? newPassword(username) : await passwordOf(options.password);
      await operate(async ({ session, vault }) => {
        const { id } = await findUser(username, session);
        checkPassword(password);
        await noteOf({ kind: 'PASSWORD_CHANGED', userId: id }, session);
        await setPassword(id, password, session);
        say(`The password of ${username} was changed, and all browsers are signed out. New token: ${await tokenOf(id, session, vault)}`);
        if (options.new) say(`New password: ${password}`);
      });
    });
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
  user
    .command('delete <name>')
    .description('Delete an account with everything of it: its rows, the images that it added, and their files. Nothing of it comes back.')
    .option('--yes', 'do not ask')
    .action(async (username: string, options: { yes?: boolean }) => {
      if (!options.yes && (await answerTo(`Everything of ${username} will be deleted. Type the name again: `)) !== username)
        throw new KnownError('BAD_USER_INPUT', 'That is another name: nothing was deleted.');
      await operate(async ({ config, database, session }) => {
        const { id } = await findUser(username, session);
        await noteOf({ kind: 'ACCOUNT_DELETED', userId: id, detail: username }, session);
        const { rows, contributions } = await deleteUser(id, database);
        await removeFiles(config, database);
        say(`User ${username} is deleted, with ${rows} rows and ${contributions} images.`);
      });
    });
  return user;
}

/** A server that runs does it as well; without one the files would stay until the next start. */
async function removeFiles(config: Config, database: Database): Promise<void> {
  const log = createLog(config.logLevel, process.stderr);
  await new FileRemoval(database, Media.of(config), new Listener(database, log), log).run();
}
