/** Diagnostics of the database schema: its version, differences from the objects that the migrations create, and required extensions. */
import type { Database } from '../database/connection';
import { findPendingMaintenanceMigration, requireSupportedSchema, readSchemaState } from '../database/compatibility';
import { compareSchema } from '../database/schemaobjects';
import type { DiagnosticReporter } from './diagnosticreporter';

/** Checks the database schema and the required PostgreSQL extensions. Returns whether all tables and columns exist. */
export async function examineSchema(database: Database, report: DiagnosticReporter): Promise<boolean> {
  const hasMigrationTable = (await database.pool.query(`SELECT to_regclass('migration') AS "table"`)).rows[0].table !== null;
  const newerMigrations = hasMigrationTable ? await requireSupportedSchema(database.pool) : [];
  const isSchemaCurrent = (await readSchemaState(database)) === 'current';
  const isSchemaComplete = isSchemaCurrent && !newerMigrations.length ? await reportSchemaDifferences(database, report) : undefined;
  const maintenanceMigration = isSchemaCurrent ? undefined : await findPendingMaintenanceMigration(database);
  if (maintenanceMigration !== undefined)
    report.warn(
      'Schema',
      `older than this version; the migration ${maintenanceMigration} needs a maintenance window, so this version does not start`,
      'stop all servers, take a backup and run fitgraph migrate --maintenance',
    );
  else if (!isSchemaCurrent) report.ok('Schema', 'older than this version; the next start migrates it');
  else if (newerMigrations.length)
    report.ok('Schema', `of a newer version that this one supports (${newerMigrations[0]}); its objects are not compared`);
  const { rows } = await database.pool.query(
    `SELECT "name" FROM unnest(ARRAY['pg_trgm', 'unaccent']) AS "name" WHERE "name" NOT IN (SELECT "name" FROM pg_available_extensions)`,
  );
  if (rows.length) report.fail('Extensions', `${rows.map(({ name }) => name).join(', ')} missing`, "install PostgreSQL's contrib package");
  return isSchemaComplete ?? true;
}

async function reportSchemaDifferences({ pool }: Database, report: DiagnosticReporter): Promise<boolean> {
  const { defects, isSchemaIncomplete, unknownObjects } = await compareSchema(pool);
  for (const text of defects) report.fail('Schema', text, 'undo the change, or restore a backup: fitgraph restore FILE --replace');
  if (unknownObjects.length)
    report.warn(
      'Schema',
      `${unknownObjects.join(', ')}: created by no migration`,
      'keep own objects in a schema of their own: a later version may create others of the same name',
    );
  if (!defects.length) report.ok('Schema', 'up to date, all objects are as the migrations create them');
  return !isSchemaIncomplete;
}
