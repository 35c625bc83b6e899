/**
 * Migration modules: the files in the folder `migrations`, in the order of their names, and their
 * exports.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OnlineSchemaChange } from './online-schema-change';

export type MigrationDirection = 'up' | 'down';
export type Migration = (query: (sql: string) => Promise<unknown>) => Promise<void>;
export type OnlineMigration = (change: OnlineSchemaChange) => Promise<void>;

interface MigrationOptions {
  /**
   * Oldest version of Fitgraph whose servers can use the migrated database. Absent: only the
   * version with this migration and later ones.
   */
  oldestVersion?: string;

  /**
   * Why the migration needs a maintenance window, in which no server runs. A server that finds such
   * a migration pending does not start.
   */
  maintenance?: string;
}

/**
 * A migration file. With `transactional: false` its steps run outside of a transaction, and an
 * interrupted migration starts again.
 */
export type MigrationModule = MigrationOptions &
  (
    | ({ transactional?: true } & Record<MigrationDirection, Migration>)
    | ({ transactional: false } & Record<MigrationDirection, OnlineMigration>)
  );

const MIGRATIONS_FOLDER = join(__dirname, 'migrations');

export const migrationNames = (): string[] =>
  readdirSync(MIGRATIONS_FOLDER)
    .map((file) => /^(\d{4}-[a-z-]+)\.(?:ts|js)$/.exec(file)?.[1])
    .filter((name): name is string => name !== undefined)
    .sort();

export const loadMigration = (name: string) =>
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- loads modules by name
  require(join(MIGRATIONS_FOLDER, name)) as MigrationModule;

export const findMaintenanceMigration = (names: readonly string[]): string | undefined =>
  names.find((name) => loadMigration(name).maintenance !== undefined);
