/** `fitgraph migrate`: applies pending migrations or reverts the last one. */
import { ClientError } from '../core/model/errors';
import type { Database } from '../database/connection';
import { lastMigration, migrateDown, migrateUp } from '../database/migrate';
import { promptConfirmation } from './prompts';
import { recordOperatorEvent, withDatabase, printLine, type OperatorContext } from './operator';

/** Counts running servers: each has a listener connection with this name. */
const COUNT_SERVERS = `SELECT count(*)::int AS "servers" FROM pg_stat_activity
  WHERE "application_name" = 'fitgraph listener' AND "datname" = current_database()`;

export const migrate = ({ down, yes }: { down?: boolean; yes?: boolean }): Promise<void> =>
  withDatabase((context) => (down ? revert(context, yes) : apply(context.database)), { migrate: false });

async function apply(database: Database): Promise<void> {
  const names = await migrateUp(database);
  printLine(names.length ? `Applied: ${names.join(', ')}` : 'Nothing to do.');
}

async function revert({ database, session }: OperatorContext, yes = false): Promise<void> {
  const name = await lastMigration(database);
  if (name === undefined) return printLine('Nothing to do.');
  const { servers } = (await database.ask(COUNT_SERVERS))[0]!;
  if (servers)
    throw new ClientError('CONFLICT', 'A server runs on this database, and would fail without what is taken back: stop it first.');
  const question = `${name} will be taken back, with all data that only it has a place for. Type its name to go on: `;
  if (!yes && !(await promptConfirmation(question, name)))
    throw new ClientError('BAD_USER_INPUT', 'That is another name: nothing was changed.');
  const names = await migrateDown(database);
  // Fails if the reverted migration is that of the audit log.
  await recordOperatorEvent({ kind: 'COMMAND', detail: `migrate --down: ${names.join(', ')}` }, session).catch(() => undefined);
  printLine(`Taken back: ${names.join(', ')}`);
}
