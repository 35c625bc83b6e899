/**
 * Schema compatibility: whether this version can use a database that another version has migrated. Each migration is recorded with the oldest version whose
 * servers can use the migrated database, so that servers of two versions can share it during a rolling upgrade.
 */
import type { ClientBase } from 'pg';
import { ConfigError } from '../platform/settingparsers';
import { VERSION } from '../platform/version';
import type { Database } from './connection';
import { findMigrationNeedingMaintenanceWindow, migrationNames } from './migrationmodules';
import { findMissingReplacedMigration, replaceSquashedNames } from './squashedmigrations';

/** `outdated`: migrations of this version are pending. `incompatible`: a newer version has applied a migration that this version does not support. */
export type SchemaState = 'current' | 'outdated' | 'incompatible';

interface AppliedMigration {
  name: string;
  version: string | null;
  oldestVersion: string | null;
}

/** SQL: applied migrations, newest first. `to_jsonb` yields NULL for columns that the table lacks in a database of an early version. */
const APPLIED_MIGRATIONS_SQL = `SELECT "name", to_jsonb(m) ->> 'version' AS "version", to_jsonb(m) ->> 'oldest_version' AS "oldestVersion"
  FROM "migration" m ORDER BY "name" DESC`;

/** Whether `version` is equal to `other` or newer. Compares numerically: 0.10.0 is newer than 0.9.1. */
const isVersionAtLeast = (version: string, other: string) =>
  version.localeCompare(other, 'en', { numeric: true }) >= 0;

/** Returns the applied migrations that this version does not have, newest first. */
function findNewerMigrations(rows: readonly AppliedMigration[]): AppliedMigration[] {
  const ownMigrationNames = new Set(migrationNames());
  const unknownMigrationNames = new Set(
    replaceSquashedNames(rows.map(({ name }) => name)).filter(
      (name) => !ownMigrationNames.has(name),
    ),
  );
  return rows.filter(({ name }) => unknownMigrationNames.has(name));
}

/** Returns the first migration of a newer version that has made the database unusable for this version; undefined if there is none. */
const findUnsupportedMigration = (
  newerMigrations: readonly AppliedMigration[],
): AppliedMigration | undefined =>
  newerMigrations.find(
    ({ oldestVersion }) => oldestVersion === null || !isVersionAtLeast(VERSION, oldestVersion),
  );

/**
 * Throws a ConfigError if the schema is older than that of Fitgraph 0.2, or so new that this version does not support it. Returns the names of the
 * applied migrations that only newer versions have.
 */
export async function requireSupportedSchema(client: Pick<ClientBase, 'query'>): Promise<string[]> {
  const { rows } = (await client.query(APPLIED_MIGRATIONS_SQL)) as { rows: AppliedMigration[] };
  const missingMigration = findMissingReplacedMigration(rows.map(({ name }) => name));
  if (missingMigration !== undefined)
    throw new ConfigError(
      `The database schema is older than that of Fitgraph 0.2 (${missingMigration} is missing): start Fitgraph 0.2 first, which migrates it, ` +
        `and then Fitgraph ${VERSION}`,
    );
  const newerMigrations = findNewerMigrations(rows);
  const unsupportedMigration = findUnsupportedMigration(newerMigrations);
  if (unsupportedMigration)
    throw new ConfigError(
      `The database has the schema of ${unsupportedMigration.version ? `Fitgraph ${unsupportedMigration.version}` : 'another version of Fitgraph'} (${unsupportedMigration.name}), ` +
        `but Fitgraph ${VERSION} supports it only up to ${migrationNames().at(-1)}: start the newer version, or restore an older backup`,
    );
  return newerMigrations.map(({ name }) => name);
}

async function readAppliedMigrations(database: Database): Promise<AppliedMigration[]> {
  const [{ present }] = (await database.queryAsServer(
    `SELECT to_regclass('migration') IS NOT NULL AS present`,
  )) as [{ present: boolean }];
  return present
    ? ((await database.queryAsServer(APPLIED_MIGRATIONS_SQL)) as AppliedMigration[])
    : [];
}

function pendingMigrationNames(rows: readonly AppliedMigration[]): string[] {
  const appliedNames = new Set(rows.map(({ name }) => name));
  return migrationNames().filter((name) => !appliedNames.has(name));
}

export async function readSchemaState(database: Database): Promise<SchemaState> {
  const rows = await readAppliedMigrations(database);
  if (findUnsupportedMigration(findNewerMigrations(rows))) return 'incompatible';
  return pendingMigrationNames(rows).length > 0 ? 'outdated' : 'current';
}

/** Returns the first pending migration that needs a maintenance window. A new database needs none, because it serves no requests yet. */
export async function findPendingMaintenanceMigration(
  database: Database,
): Promise<string | undefined> {
  const rows = await readAppliedMigrations(database);
  return rows.length > 0
    ? findMigrationNeedingMaintenanceWindow(pendingMigrationNames(rows))
    : undefined;
}
