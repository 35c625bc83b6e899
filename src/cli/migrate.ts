/** `fitgraph migrate`: applies pending migrations (including those that need a maintenance window) or reverts the last ones. */
import { ClientError } from '../core/model/errors';
import type { Database } from '../database/connection';
import { migrateDown, migrateUp, migrationsToRevert } from '../database/migrate';
import { loadMigration } from '../database/migrationmodules';
import { promptConfirmation } from './prompts';
import { requireNoServers, recordOperatorEvent, withDatabase, printLine, type OperatorContext } from './commandcontext';

interface MigrateOptions {
  down?: boolean;
  to?: string;
  yes?: boolean;
  maintenance?: boolean;
}

export async function migrate({ down, to, yes, maintenance }: MigrateOptions): Promise<void> {
  if (to !== undefined && !down) throw new ClientError('BAD_USER_INPUT', '--to requires --down.');
  if (maintenance && down) throw new ClientError('BAD_USER_INPUT', '--maintenance applies migrations; --down reverts them.');
  await withDatabase((context) => (down ? revertMigrations(context, to, yes) : applyMigrations(context.database, maintenance)), {
    migrate: false,
  });
}

async function applyMigrations(database: Database, maintenance = false): Promise<void> {
  if (maintenance) await requireNoServers(database, 'cannot be served during the maintenance');
  const migrationNames = await migrateUp(database, { isMaintenanceWindow: maintenance });
  printLine(migrationNames.length ? `Applied: ${migrationNames.join(', ')}` : 'Nothing to do.');
}

async function revertMigrations({ database, session }: OperatorContext, to: string | undefined, yes = false): Promise<void> {
  const migrations = await migrationsToRevert(database, to);
  const oldestMigration = migrations.at(-1);
  if (oldestMigration === undefined) return printLine('Nothing to do.');
  const isOnline = migrations.every((name) => loadMigration(name).maintenance === undefined);
  await requireNoServers(database, 'would fail after the migration is reverted', isOnline ? migrations : undefined);
  const question =
    migrations.length > 1
      ? `These migrations will be reverted: ${migrations.join(', ')}. Data in their tables and columns will be lost. Type the last name to continue: `
      : `The migration ${oldestMigration} will be reverted; data in its tables and columns will be lost. Type its name to continue: `;
  if (!yes && !(await promptConfirmation(question, oldestMigration)))
    throw new ClientError('BAD_USER_INPUT', 'The name does not match. Nothing was changed.');
  const migrationNames = await migrateDown(database, to);
  // Ignores a failure to log the command, because the migration that creates the audit log may have been reverted.
  await recordOperatorEvent({ kind: 'COMMAND', detail: `migrate --down: ${migrationNames.join(', ')}` }, session).catch(() => undefined);
  printLine(`Reverted: ${migrationNames.join(', ')}`);
}
