/** Command definitions with arguments and options (commander). Implementations are imported when a command runs, which keeps `--help` fast. */
import { Command, InvalidArgumentError } from 'commander';
import { DateTime } from 'luxon';
import { isEventKind, EVENT_KINDS, type EventKind } from '../auth/eventkinds';

const lazyAction =
  <A extends unknown[]>(load: () => Promise<(...args: A) => unknown>) =>
  async (...args: A): Promise<void> => {
    const action = await load();
    await action(...args);
  };

const AGE_UNITS: Readonly<Record<string, string>> = { m: 'minutes', h: 'hours', d: 'days' };

function parseKind(text: string, previous: EventKind[] = []): EventKind[] {
  const name = text.toUpperCase().replaceAll('-', '_');
  if (!isEventKind(name)) throw new InvalidArgumentError(`It is one of ${Object.keys(EVENT_KINDS).join(', ')}.`);
  return [...previous, name];
}

/** Parses a date, a date with time, or an age (`90m`, `12h`, `7d`); returns an ISO timestamp in UTC. */
function parseTimestamp(text: string): string {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const timestamp = unit === undefined ? DateTime.fromISO(text) : DateTime.now().minus({ [AGE_UNITS[unit]!]: Number(number) });
  if (!timestamp.isValid || timestamp.year < 1970 || timestamp.year > 9999)
    throw new InvalidArgumentError('It is a moment such as 2026-03-10T08:00, or an age such as 90m, 12h or 7d.');
  return timestamp.toUTC().toISO();
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 on.');
  return Number(text);
}

const migrate = () =>
  new Command('migrate')
    .description('Bring the database up to date (the server does so at start).')
    .option('--down', 'take the last migration back; its tables are dropped, with all that is in them')
    .option('--yes', 'with --down: do not ask')
    .action(lazyAction(async () => (await import('./migrate.ts')).migrate));

const seed = () =>
  new Command('seed')
    .description('Fill an empty database with languages, units, muscles, exercises and ingredients.')
    .option('--demo', 'also make a demo account with a year of data')
    .action(lazyAction(async () => (await import('./seed.ts')).seed));

const importDump = () =>
  new Command('import')
    .description("Read a data dump of the reference service (Django's dumpdata JSON): all of it or, on any error, nothing.")
    .argument('<file>', 'the dump')
    .option('--media <dir>', 'folder with the files that the dump names')
    .option('--replace', 'first empty the tables of the models that the dump has, accounts included')
    .action(lazyAction(async () => (await import('./import.ts')).importDump));

const backup = () =>
  new Command('backup')
    .description(
      'Write all rows as they are at one moment, their files and the secret key into one file (.tar.gz), and read it again to verify it.',
    )
    .argument('<file>', 'where to; keep it safe, for it holds the key')
    .option('--replace', 'put it in the place of a file that is there')
    .action(lazyAction(async () => (await import('./backup.ts')).backup));

const restore = () =>
  new Command('restore')
    .description('Put everything back that a backup holds: all of it or, on any error, nothing.')
    .argument('<file>', 'as `fitgraph backup` wrote it')
    .option('--replace', 'even where there are data: they go')
    .action(lazyAction(async () => (await import('./restore.ts')).restore));

const upgrade = () =>
  new Command('upgrade')
    .description(
      'Move the embedded database to the major version of PostgreSQL that this version of Fitgraph brings. Stop the server before.',
    )
    .option('--binaries <dir>', 'folder with the program postgres of the version that the data are of')
    .action(lazyAction(async () => (await import('./upgrade.ts')).upgrade));

const doctor = () =>
  new Command('doctor')
    .description(
      'Look at configuration, versions, disk, clock, permissions and data, and say what to do. Changes nothing; status 1 if something fails.',
    )
    .action(lazyAction(async () => (await import('./doctor.ts')).doctor));

const audit = () =>
  new Command('audit')
    .description('Show the audit log, newest first: sign-ins, passwords, tokens, accounts, commands of operators.')
    .option('--user <name>', 'of this account only')
    .option('--kind <kind>', 'of this kind only, such as SIGN_IN_FAILED; may be given again', parseKind)
    .option('--address <address>', 'from this address only; of IPv6 the network, as it is shown')
    .option('--since <moment>', 'from then on: 2026-03-10T08:00, or 90m, 12h, 7d ago', parseTimestamp)
    .option('--until <moment>', 'before then', parseTimestamp)
    .option('--limit <number>', 'so many at most', parseCount, 100)
    .option('--json', 'as lines of JSON')
    .action(lazyAction(async () => (await import('./audit.ts')).audit));

const schema = () =>
  new Command('schema')
    .description('Print the GraphQL schema, as committed in schema.graphql.')
    .action(lazyAction(async () => (await import('./schema.ts')).schema));

function user(): Command {
  const command = new Command('user').description('Make, change and list accounts.');
  command
    .command('create <name>')
    .description('Make an account and print its token. The password is asked for unless given.')
    .option('--password <password>', 'at least 8 characters, not only digits')
    .option('--email <address>')
    .option('--superuser', 'what the user contributes is accepted at once')
    .action(lazyAction(async () => (await import('./user.ts')).create));
  command
    .command('password <name>')
    .description('Set a new password, asked for unless given, and a new token.')
    .option('--password <password>', 'at least 8 characters, not only digits')
    .option('--new', 'make one and print it')
    .action(lazyAction(async () => (await import('./user.ts')).changePassword));
  command
    .command('token <name>')
    .description('Print the token of a user.')
    .option('--new', 'replace it; the old one stops working at once')
    .action(lazyAction(async () => (await import('./user.ts')).showToken));
  command
    .command('deactivate <name>')
    .description('Lock an account: neither password nor token works any more. Nothing is deleted.')
    .option('--undo', 'unlock it')
    .action(lazyAction(async () => (await import('./user.ts')).deactivate));
  command
    .command('delete <name>')
    .description('Delete an account with everything of it: its rows, the images that it added, and their files. Nothing of it comes back.')
    .option('--yes', 'do not ask')
    .action(lazyAction(async () => (await import('./user.ts')).remove));
  command
    .command('list')
    .description('Print all accounts, the oldest first.')
    .option('--json', 'one JSON object a line')
    .action(lazyAction(async () => (await import('./user.ts')).list));
  return command;
}

/** In the order of the help. */
export const commands = () => [migrate(), seed(), user(), importDump(), backup(), restore(), upgrade(), doctor(), audit(), schema()];
