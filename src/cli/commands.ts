/**
 * Definitions of commands with arguments and options (commander). Implementations are imported only
 * when a command runs, which keeps `--help` fast. The table in docs/commands.md is generated from
 * the definitions (`npm run docs`).
 */
import { Argument, Command, InvalidArgumentError } from 'commander';
import { isEventKind, EVENT_KINDS, type EventKind } from '../accounts/event-kinds';
import { MOMENT_FORMATS, parseMoment } from '../shared/moments';

const lazyAction =
  <A extends unknown[]>(loadAction: () => Promise<(...args: A) => unknown>) =>
  async (...args: A): Promise<void> => {
    const action = await loadAction();

    await action(...args);
  };

function parseEventKind(text: string, previousKinds: EventKind[] = []): EventKind[] {
  const name = text.toUpperCase().replaceAll('-', '_');

  if (!isEventKind(name)) {
    throw new InvalidArgumentError(`Must be one of ${Object.keys(EVENT_KINDS).join(', ')}.`);
  }

  return [...previousKinds, name];
}

function parseTimestamp(text: string): string {
  const moment = parseMoment(text);

  if (moment === undefined) throw new InvalidArgumentError(`Must be ${MOMENT_FORMATS}.`);

  return moment;
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new InvalidArgumentError('Must be a positive whole number.');
  }

  return Number(text);
}

const createMigrateCommand = () =>
  new Command('migrate')
    .description(
      'Applies pending migrations, as the server does at start. `--down` reverts the last one, or all after `--to`, after confirmation and only while no server runs that needs them.',
    )
    .option('--down', 'revert the last migration; its tables and their rows are dropped')
    .option('--to <migration>', 'with --down: the newest migration that stays applied')
    .option('--yes', 'skip the confirmation of --down')
    .option(
      '--maintenance',
      'also apply migrations that need a maintenance window, in which no server runs',
    )
    .action(lazyAction(async () => (await import('./migrate.ts')).migrate));

const createSeedCommand = () =>
  new Command('seed')
    .description('Loads the catalogue into an empty database; `--demo` creates the demo account.')
    .option('--demo', 'also create a demo account with a year of data')
    .action(lazyAction(async () => (await import('./seed.ts')).seed));

const createImportCommand = () =>
  new Command('import')
    .description(
      "Imports a dump of wger (Django's `dumpdata` JSON) including users, passwords and tokens: completely or not at all.",
    )
    .argument('<file>', 'dump file')
    .option('--media <dir>', 'folder of the files that the dump refers to')
    .option('--replace', 'first delete all rows of the tables in the dump, including accounts')
    .action(lazyAction(async () => (await import('./import.ts')).importDump));

const createBackupCommand = () =>
  new Command('backup')
    .description(
      'Writes rows, files and the secret key to one archive and verifies it; see docs/backups.md.',
    )
    .argument(
      '<file>',
      'archive to write (.tar.gz); keep it safe, because it contains the secret key',
    )
    .option('--replace', 'overwrite an existing file')
    .action(lazyAction(async () => (await import('./backup.ts')).backup));

const createRestoreCommand = () =>
  new Command('restore')
    .description(
      'Restores a backup, completely or not at all. A database that contains data requires `--replace`.',
    )
    .argument('<file>', 'archive written by `fitgraph backup`')
    .option('--replace', 'overwrite existing data')
    .action(lazyAction(async () => (await import('./restore.ts')).restore));

const createRotateKeyCommand = () =>
  new Command('rotate-key')
    .description(
      'Re-encrypts all API keys with the secret key in a file, in one transaction. Stop the servers first; see docs/security.md#secret-key.',
    )
    .argument('<file>', 'file with the new key (openssl rand -hex 32)')
    .option('--lost', 'the old key is lost: API keys remain valid but can no longer be shown')
    .action(lazyAction(async () => (await import('./rotate-key.ts')).rotateKey));

const createDoctorCommand = () =>
  new Command('doctor')
    .description(
      'Checks configuration, versions, disk, clock, permissions, schema and data, and suggests fixes. Changes nothing. Exits with 1 if a check fails.',
    )
    .option(
      '--environment <file>',
      "also read the service's variables from this file, such as /etc/fitgraph.env",
    )
    .action(lazyAction(async () => (await import('./doctor.ts')).doctor));

const createAuditCommand = () =>
  new Command('audit')
    .description(
      'Prints the audit log, newest first: sign-ins, failures, passwords, tokens, accounts, operator commands. `--json` for programs.',
    )
    .option('--user <name>', 'only events of this account')
    .option(
      '--kind <kind>',
      'only events of this kind, such as SIGN_IN_FAILED; repeatable',
      parseEventKind,
    )
    .option('--address <address>', 'only events from this address, as printed (IPv6: the network)')
    .option(
      '--since <moment>',
      'start: a time such as 2026-03-10T08:00, or an age such as 90m, 12h or 7d',
      parseTimestamp,
    )
    .option('--until <moment>', 'end, in the same formats', parseTimestamp)
    .option('--limit <number>', 'maximum number of events', parseCount, 100)
    .option('--json', 'print JSON lines')
    .action(lazyAction(async () => (await import('./audit.ts')).printAuditLog));

const createSchemaCommand = () =>
  new Command('schema').description('Prints `schema.graphql`.').action(async () => {
    const { buildGraphQLSchema, printSortedSchema } = await import('../graphql/schema.ts');

    process.stdout.write(printSortedSchema(buildGraphQLSchema()));
  });

const createExplainCommand = () =>
  new Command('explain')
    .description(
      'Prints where a GraphQL name or REST endpoint is declared, which files answer it, and the SQL of a sample request, which it runs read-only.',
    )
    .argument(
      '<coordinate>',
      'type or field, such as WeightEntry or Query.weightEntries, or endpoint, such as /api/v2/weightentry/',
    )
    .action(lazyAction(async () => (await import('./explain.ts')).explain));

const createRoleArgument = () => new Argument('<role>').choices(['curator', 'superuser']);

const userAction = (name: keyof typeof import('./user.ts')) =>
  lazyAction(async () => (await import('./user.ts'))[name] as (...args: unknown[]) => unknown);

function createUserCommand(): Command {
  const command = new Command('user').description('Creates, changes and lists accounts.');

  command
    .command('create <name>')
    .description(
      'Creates an account and prints its token. The password is prompted for on a terminal, or read from standard input. With `--link`, the user sets it by the printed link, valid once and for a day.',
    )
    .option('--password <password>', 'at least 8 characters, not only digits')
    .option('--link', 'print a link by which the user sets the password, instead of the token')
    .option('--email <address>')
    .option('--superuser', 'the user administrates the service and may write the catalogue')
    .action(userAction('createAccount'));
  command
    .command('password <name>')
    .description(
      'Sets a new password, prompted for like that of a new account, and prints a new token. `--new` generates and prints the password. `--link` changes nothing and prints a link by which the user sets it, valid once and for a day.',
    )
    .option('--password <password>', 'at least 8 characters, not only digits')
    .option('--new', 'generate the password and print it')
    .option('--link', 'print a link by which the user sets the password')
    .action(userAction('changePassword'));
  command
    .command('token <name>')
    .description('Prints the token of a user; `--new` replaces it.')
    .option('--new', 'replace the token; the old one becomes invalid at once')
    .action(userAction('showToken'));
  command
    .command('deactivate <name>')
    .description(
      'Deactivates an account: its password and tokens are rejected, and nothing is deleted.',
    )
    .action(userAction('deactivateAccount'));
  command
    .command('activate <name>')
    .description('Activates a deactivated account.')
    .action(userAction('activateAccount'));
  command
    .command('sign-out <name>')
    .description(
      'Ends all sessions of an account, revokes its API key and access tokens, and disconnects sign-ins if a password remains.',
    )
    .action(userAction('signOut'));
  command
    .command('sessions <name>')
    .description('Lists the browsers in which a user is signed in.')
    .option('--end <id>', 'end this session')
    .action(userAction('showSessions'));
  command
    .command('access-tokens <name>')
    .description('Lists the access tokens of a user.')
    .option('--revoke <id>', 'revoke this token')
    .action(userAction('showAccessTokens'));
  command
    .command('disconnect <name>')
    .description('Disconnects the sign-ins of an account at OpenID Connect providers.')
    .action(userAction('disconnect'));
  command
    .command('grant <name>')
    .description('Grants a role: curators write the catalogue, superusers also administrate.')
    .addArgument(createRoleArgument())
    .action(userAction('grantRole'));
  command
    .command('revoke <name>')
    .description('Revokes a role.')
    .addArgument(createRoleArgument())
    .action(userAction('revokeRole'));
  command
    .command('delete <name>')
    .description('Deletes an account with all data and files of the user. This cannot be undone.')
    .option('--yes', 'skip the confirmation')
    .action(userAction('deleteAccount'));
  command
    .command('list')
    .description('Lists accounts with creation date, last login, roles and deactivated flag.')
    .option('--json', 'print JSON lines')
    .action(userAction('listAccounts'));

  return command;
}

const collect = (value: string, previous: string[]): string[] => [...previous, value];

function createCatalogueCommand(): Command {
  const command = new Command('catalogue').description('Imports and exports foods and exercises.');
  const importCommand = command.command('import').description('Imports foods or exercises.');

  importCommand
    .command('foods <file>')
    .description(
      'Imports foods of Open Food Facts (JSON Lines or tab-separated), FoodData Central (JSON) or a CSV file from a file, a URL or standard input (`-`), also compressed; see docs/catalogue.md.',
    )
    .option('--language <codes>', 'languages of the names, in the order of preference', 'en')
    .option('--source <name>', 'name of the source of a CSV file')
    .option('--map <field=column>', 'column of a CSV file; repeatable', collect, [])
    .option(
      '--complete',
      'delete foods of the source that the file does not contain and nobody uses',
    )
    .option('--refused <file>', 'list refused foods in this CSV file')
    .option('--dry-run', 'only report what would be written')
    .action(lazyAction(async () => (await import('./catalogue.ts')).importFoodsCommand));

  importCommand
    .command('exercises <file>')
    .description(
      'Imports exercises of free-exercise-db (JSON), an export, or a running service with the REST API v2 by its address; shows what they are in the catalogue and asks.',
    )
    .option(
      '--map <name=name>',
      'muscle, equipment or category of the catalogue; repeatable',
      collect,
      [],
    )
    .option('--images', 'also fetch the images of exercises that have none here')
    .option('--yes', 'skip the confirmation')
    .option('--dry-run', 'only show what would be done')
    .action(lazyAction(async () => (await import('./catalogue.ts')).importExercisesCommand));

  command
    .command('export <file>')
    .description(
      'Writes all foods and exercises, with the images, to a new JSON Lines file or to standard output (`-`), for the import into another Fitgraph.',
    )
    .action(lazyAction(async () => (await import('./catalogue.ts')).exportCatalogueCommand));

  return command;
}

/** Creates all commands, in the order in which `--help` lists them. */
export const createCommands = () => [
  createMigrateCommand(),
  createSeedCommand(),
  createUserCommand(),
  createImportCommand(),
  createCatalogueCommand(),
  createBackupCommand(),
  createRestoreCommand(),
  createRotateKeyCommand(),
  createDoctorCommand(),
  createAuditCommand(),
  createSchemaCommand(),
  createExplainCommand(),
];
