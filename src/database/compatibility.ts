/**
 * Schema compatibility: whether this version can use a database that another version has migrated.
 * Each migration records the oldest version that can use the migrated database, so that servers of
 * two versions can share it during a rolling upgrade.
 */
import type { ClientBase } from 'pg';
import { ConfigError } from '../shared/setting-parsers';
import { VERSION } from '../shared/version';
import type { Database } from './connection';
import { findMaintenanceMigration, migrationNames } from './migration-modules';
import { findMissingSquashedMigration, replaceSquashedNames } from './squashed-migrations';

/**
 * State of the schema for this version: `outdated` if migrations are pending, `incompatible` if a
 * newer version has applied a migration after which this version cannot use the database.
 */
export type SchemaState = 'current' | 'outdated' | 'incompatible';

interface AppliedMigration {
  name: string;
  version: string | null;
  oldestVersion: string | null;
}

/**
 * SQL: applied migrations, newest first. `to_jsonb` yields NULL for columns that early versions did
 * not create.
 */
const APPLIED_MIGRATIONS_SQL = `SELECT "name", to_jsonb(m) ->> 'version' AS "version",
  to_jsonb(m) ->> 'oldest_version' AS "oldestVersion"
  FROM "migration" m ORDER BY "name" DESC`;

/**
 * Whether this version is `minVersion` or newer. Numbers are compared numerically: 0.10.0 is newer
 * than 0.9.1.
 */
const isVersionAtLeast = (minVersion: string) =>
  VERSION.localeCompare(minVersion, 'en', { numeric: true }) >= 0;

/** Finds the applied migrations that only newer versions have, newest first. */
function findNewerMigrations(migrations: readonly AppliedMigration[]): AppliedMigration[] {
  const ownMigrationNames = new Set(migrationNames());
  const unknownMigrationNames = new Set(
    replaceSquashedNames(migrations.map(({ name }) => name)).filter(
      (name) => !ownMigrationNames.has(name),
    ),
  );

  return migrations.filter(({ name }) => unknownMigrationNames.has(name));
}

/** Finds a migration of a newer version whose database this version cannot use. */
const findUnsupportedMigration = (
  newerMigrations: readonly AppliedMigration[],
): AppliedMigration | undefined =>
  newerMigrations.find(
    ({ oldestVersion }) => oldestVersion === null || !isVersionAtLeast(oldestVersion),
  );

/**
 * Throws if the schema is older than that of Fitgraph 0.2 or too new for this version. Returns the
 * names of the applied migrations that only newer versions have.
 */
export async function checkSchemaIsSupported(client: Pick<ClientBase, 'query'>): Promise<string[]> {
  const { rows: appliedMigrations } = (await client.query(APPLIED_MIGRATIONS_SQL)) as {
    rows: AppliedMigration[];
  };
  const missingMigration = findMissingSquashedMigration(appliedMigrations.map(({ name }) => name));

  if (missingMigration !== undefined) {
    throw new ConfigError(
      `The database schema is older than that of Fitgraph 0.2 (${missingMigration} is missing): start Fitgraph 0.2 first, which migrates it, ` +
        `and then Fitgraph ${VERSION}`,
    );
  }

  const newerMigrations = findNewerMigrations(appliedMigrations);
  const unsupportedMigration = findUnsupportedMigration(newerMigrations);

  if (unsupportedMigration) {
    throw new ConfigError(
      `The database has the schema of ${unsupportedMigration.version ? `Fitgraph ${unsupportedMigration.version}` : 'another version of Fitgraph'} (${unsupportedMigration.name}), ` +
        `but Fitgraph ${VERSION} supports it only up to ${migrationNames().at(-1)}: start the newer version, or restore an older backup`,
    );
  }

  return newerMigrations.map(({ name }) => name);
}

async function readAppliedMigrations(database: Database): Promise<AppliedMigration[]> {
  const [{ present }] = (await database.queryAsServer(
    `SELECT to_regclass('migration') IS NOT NULL AS present`,
  )) as [{ present: boolean }];

  if (!present) return [];

  return (await database.queryAsServer(APPLIED_MIGRATIONS_SQL)) as AppliedMigration[];
}

function pendingMigrationNames(appliedMigrations: readonly AppliedMigration[]): string[] {
  const appliedNames = new Set(appliedMigrations.map(({ name }) => name));

  return migrationNames().filter((name) => !appliedNames.has(name));
}

export async function readSchemaState(database: Database): Promise<SchemaState> {
  const appliedMigrations = await readAppliedMigrations(database);

  if (findUnsupportedMigration(findNewerMigrations(appliedMigrations))) return 'incompatible';

  return pendingMigrationNames(appliedMigrations).length > 0 ? 'outdated' : 'current';
}

/**
 * Finds a pending migration that needs a maintenance window. A new database needs none, because it
 * serves no requests yet.
 */
export async function findPendingMaintenanceMigration(
  database: Database,
): Promise<string | undefined> {
  const appliedMigrations = await readAppliedMigrations(database);

  if (appliedMigrations.length === 0) return undefined;

  return findMaintenanceMigration(pendingMigrationNames(appliedMigrations));
}
