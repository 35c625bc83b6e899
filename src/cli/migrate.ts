/** `fitgraph migrate`: applies pending migrations or reverts the last one. */
import { ClientError } from '../core/model/errors';
import type { Database } from '../database/connection';
import { lastMigration, migrateDown, migrateUp } from '../database/migrate';
import { promptConfirmation } from './prompts';
import { recordOperatorEvent, withDatabase, printLine, type OperatorContext } from './operator';

/** Counts running servers, that is workers of all instances: each has a listener connection with this name. */
export const COUNT_SERVERS = `SELECT count(*)::int AS "servers" FROM pg_stat_activity
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
    throw new ClientError('CONFLICT', 'A running server uses this database and would fail after the migration is reverted. Stop it first.');
  const question = `The migration ${name} will be reverted; data in its tables and columns will be lost. Type its name to continue: `;
  if (!yes && !(await promptConfirmation(question, name)))
    throw new ClientError('BAD_USER_INPUT', 'The name does not match. Nothing was changed.');
  const names = await migrateDown(database);
  // Fails if the reverted migration is that of the audit log.
  await recordOperatorEvent({ kind: 'COMMAND', detail: `migrate --down: ${names.join(', ')}` }, session).catch(() => undefined);
  printLine(`Reverted: ${names.join(', ')}`);
}
