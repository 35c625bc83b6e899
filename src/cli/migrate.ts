/**
 * `fitgraph migrate`: applies pending migrations, or reverts the last ones. Migrations that need a
 * maintenance window require `--maintenance`.
 */
import { ClientError } from '../engine/declare/errors';
import type { Database } from '../database/connection';
import { migrateDown, migrateUp, findMigrationsToRevert } from '../database/migrate';
import { loadMigration } from '../database/migration-modules';
import { promptConfirmation } from './prompts';
import {
  requireNoRunningServer,
  recordOperatorEvent,
  withDatabase,
  printLine,
  type CommandContext,
} from './command-context';

interface MigrateOptions {
  down?: boolean;
  to?: string;
  yes?: boolean;
  maintenance?: boolean;
}

export async function migrate({ down, to, yes, maintenance }: MigrateOptions): Promise<void> {
  if (to !== undefined && !down) throw new ClientError('BAD_USER_INPUT', '--to requires --down.');

  if (maintenance && down) {
    throw new ClientError(
      'BAD_USER_INPUT',
      '--maintenance applies migrations; --down reverts them.',
    );
  }

  await withDatabase(
    (context) =>
      down ? revertMigrations(context, to, yes) : applyMigrations(context.database, maintenance),
    {
      migrate: false,
    },
  );
}

async function applyMigrations(database: Database, isMaintenanceWindow = false): Promise<void> {
  if (isMaintenanceWindow) {
    await requireNoRunningServer(database, 'cannot be served during the maintenance');
  }

  const migrationNames = await migrateUp(database, { isMaintenanceWindow });

  printLine(migrationNames.length ? `Applied: ${migrationNames.join(', ')}` : 'Nothing to do.');
}

async function revertMigrations(
  { database, session }: CommandContext,
  to: string | undefined,
  skipsConfirmation = false,
): Promise<void> {
  const migrations = await findMigrationsToRevert(database, to);
  const oldestMigration = migrations.at(-1);

  if (oldestMigration === undefined) return printLine('Nothing to do.');
  const canRevertOnline = migrations.every((name) => loadMigration(name).maintenance === undefined);

  await requireNoRunningServer(
    database,
    'would fail after the migration is reverted',
    canRevertOnline ? migrations : undefined,
  );
  let question = `The migration ${oldestMigration} will be reverted; data in its tables and columns will be lost. Type its name to continue: `;

  if (migrations.length > 1) {
    question = `These migrations will be reverted: ${migrations.join(', ')}. Data in their tables and columns will be lost. Type the last name to continue: `;
  }

  if (!skipsConfirmation && !(await promptConfirmation(question, oldestMigration))) {
    throw new ClientError('BAD_USER_INPUT', 'The name does not match. Nothing was changed.');
  }

  const migrationNames = await migrateDown(database, to);

  // Ignores errors, because the audit log may have been reverted together with its migration.
  await recordOperatorEvent(
    { kind: 'COMMAND', detail: `migrate --down: ${migrationNames.join(', ')}` },
    session,
  ).catch(() => undefined);
  printLine(`Reverted: ${migrationNames.join(', ')}`);
}
