/** Migration modules: the files in the folder `migrations`, in the order of their names, and the properties that each one exports. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OnlineSchemaChange } from './onlineschemachange';

export type MigrationDirection = 'up' | 'down';
export type Migration = (query: (sql: string) => Promise<unknown>) => Promise<void>;
export type OnlineMigration = (change: OnlineSchemaChange) => Promise<void>;

interface MigrationOptions {
  /** Oldest version of Fitgraph whose servers can use the migrated database. Absent: no older version can. */
  oldestVersion?: string;
  /** Reason for a maintenance window, in which no server runs; absent if none is needed. A server does not apply such a migration at its start. */
  maintenance?: string;
}

/** A migration file. With `transactional: false` its steps do not run in one transaction, and an interrupted migration starts again. */
export type MigrationModule = MigrationOptions &
  (
    | ({ transactional?: true } & Record<MigrationDirection, Migration>)
    | ({ transactional: false } & Record<MigrationDirection, OnlineMigration>)
  );

const MIGRATIONS_FOLDER = join(__dirname, 'migrations');

/** Returns the names of all migrations of this version, in order. */
export const migrationNames = (): string[] =>
  readdirSync(MIGRATIONS_FOLDER)
    .map((file) => /^(\d{4}-[a-z-]+)\.(?:ts|js)$/.exec(file)?.[1])
    .filter((name): name is string => name !== undefined)
    .sort();

// eslint-disable-next-line @typescript-eslint/no-require-imports -- the module's name is known only at run time
export const loadMigration = (name: string) =>
  require(join(MIGRATIONS_FOLDER, name)) as MigrationModule;

export const findMigrationNeedingMaintenanceWindow = (
  names: readonly string[],
): string | undefined => names.find((name) => loadMigration(name).maintenance !== undefined);
