/**
 * Schema migrations, run at start under an advisory lock, so that several instances can start
 * concurrently. A migration runs in a transaction, or online (`OnlineSchemaChange`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase, Client } from 'pg';
import { ConfigError } from '../shared/config';
import { VERSION } from '../shared/version';
import { checkSchemaIsSupported } from './compatibility';
import type { Database } from './connection';
import { retryLockConflicts, TABLE_LOCK_TIMEOUT_MS } from './lock-conflicts';
import { ADVISORY_LOCK_KEYS } from './advisory-locks';
import {
  findMaintenanceMigration,
  loadMigration,
  migrationNames,
  type MigrationDirection,
} from './migration-modules';
import { OnlineSchemaChange } from './online-schema-change';
import {
  deleteSquashedMigrations,
  replaceSquashedNames,
  recordReplacementMigrations,
} from './squashed-migrations';
import { inTransaction } from './transaction';
import { assignRowSecurityPolicies, prepareViewerRole, rejectIfRowsAreHidden } from './viewer-role';

export type { Migration } from './migration-modules';

const LOCK_RETRY_INTERVAL_MS = 200;

/** SQL: the backend that holds the advisory lock `$1` of this database. */
const LOCK_HOLDER_SQL = `SELECT a."pid", host(a."client_addr") AS "address" FROM pg_locks l
  JOIN pg_stat_activity a ON a."pid" = l."pid"
  WHERE l."locktype" = 'advisory' AND l."granted" AND l."classid" = 0 AND l."objid" = $1
    AND l."objsubid" = 1 AND a."datname" = current_database()`;

type ReportWait = (message: string) => void;
const reportToStderr: ReportWait = (message) => void process.stderr.write(`${message}\n`);

export async function readAppliedMigrationNames(
  client: Pick<ClientBase, 'query'>,
): Promise<string[]> {
  const { rows } = await client.query('SELECT "name" FROM "migration" ORDER BY "name"');

  return replaceSquashedNames(rows.map(({ name }) => name as string));
}

async function recordMigration(
  client: ClientBase,
  name: string,
  direction: MigrationDirection,
): Promise<void> {
  if (direction === 'down') await client.query('DELETE FROM "migration" WHERE "name" = $1', [name]);
  else {
    await client.query(
      'INSERT INTO "migration" ("name", "version", "oldest_version") VALUES ($1, $2, $3)',
      [name, VERSION, loadMigration(name).oldestVersion],
    );
  }
}

export const CREATE_MIGRATION_TABLE_SQL =
  'CREATE TABLE IF NOT EXISTS "migration" ("name" text PRIMARY KEY, "applied" timestamptz NOT NULL DEFAULT now(), "version" text, "oldest_version" text)';

/** Columns of the migration table that earlier versions did not create. */
const ADDED_MIGRATION_COLUMNS = ['version', 'oldest_version'];

async function addMissingMigrationColumns(client: Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT attname::text AS "name" FROM pg_attribute WHERE attrelid = 'migration'::regclass`,
  );

  for (const column of ADDED_MIGRATION_COLUMNS) {
    if (!rows.some(({ name }) => name === column)) {
      await retryLockConflicts(
        () =>
          client.query(
            `SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}; ALTER TABLE "migration" ADD COLUMN "${column}" text`,
          ),
        () => undefined,
      );
    }
  }
}

/**
 * Acquires the migration lock, and reports which process holds it. Polls, because a blocking
 * statement would deadlock with a CREATE INDEX CONCURRENTLY of the other process, which waits for
 * the snapshots of all statements.
 */
async function acquireMigrationLock(client: ClientBase, reportWait: ReportWait): Promise<void> {
  for (let isWaitReported = false; ; isWaitReported = true) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS "taken"', [
      ADVISORY_LOCK_KEYS.migration,
    ]);

    if (rows[0].taken) return;

    if (!isWaitReported) {
      const { rows: holders } = await client.query(LOCK_HOLDER_SQL, [ADVISORY_LOCK_KEYS.migration]);
      const { pid, address } = holders[0] ?? {};

      reportWait(
        `waiting for another process that migrates or fills the database${pid ? ` (PostgreSQL process ${pid}, connected from ${address ?? 'this machine'})` : ''}`,
      );
    }

    await sleep(LOCK_RETRY_INTERVAL_MS);
  }
}

async function runMigration(
  client: ClientBase,
  name: string,
  direction: MigrationDirection,
  reportWait: ReportWait,
): Promise<void> {
  const migration = loadMigration(name);
  let isConflictReported = false;

  const reportConflict = () => {
    if (!isConflictReported) {
      reportWait(`the migration ${name} waits for transactions that use its tables; it is retried`);
    }

    isConflictReported = true;
  };

  if (migration.transactional === false) {
    await migration[direction](new OnlineSchemaChange(client, reportConflict));
    return recordMigration(client, name, direction);
  }

  const applyAndRecord = () =>
    inTransaction(client, async () => {
      await client.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
      await migration[direction]((sql) => client.query(sql));
      // Records the migration in the same transaction, so that it is not applied twice if the
      // process is killed.
      await recordMigration(client, name, direction);
    });

  await retryLockConflicts(applyAndRecord, reportConflict);
}

/**
 * Runs `callback` under the migration lock, after checking that this version supports the schema.
 */
function withMigrationLock<T>(
  database: Database,
  callback: (client: Client) => Promise<T>,
  reportWait: ReportWait,
): Promise<T> {
  return database.withoutTimeouts(async (client) => {
    try {
      await acquireMigrationLock(client, reportWait);
      await client.query(CREATE_MIGRATION_TABLE_SQL);
      await checkSchemaIsSupported(client);
      await addMissingMigrationColumns(client);
      return await callback(client);
    } finally {
      await client
        .query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCK_KEYS.migration])
        .catch(() => undefined);
    }
  });
}

export interface MigrateUpOptions {
  /** Receives messages about waiting for other processes. Default: stderr. */
  reportWait?: ReportWait;

  /** Permits migrations that need a maintenance window, in which no server runs. */
  isMaintenanceWindow?: boolean;
}

/**
 * Rejects pending migrations that need a maintenance window. A new database needs none, because it
 * serves no requests yet.
 */
function rejectMaintenanceMigrations(
  pendingMigrations: readonly string[],
  appliedMigrations: ReadonlySet<string>,
): void {
  const name = appliedMigrations.size > 0 && findMaintenanceMigration(pendingMigrations);

  if (name) {
    throw new ConfigError(
      `The migration ${name} needs a maintenance window (${loadMigration(name).maintenance}): stop all servers, ` +
        'take a backup and run `fitgraph migrate --maintenance`',
    );
  }
}

/** Applies all pending migrations and returns their names. */
export const migrateUp = (
  database: Database,
  { reportWait = reportToStderr, isMaintenanceWindow = false }: MigrateUpOptions = {},
): Promise<string[]> =>
  withMigrationLock(
    database,
    async (client) => {
      await recordReplacementMigrations(client);
      const appliedMigrations = new Set(await readAppliedMigrationNames(client));
      const pendingMigrations = migrationNames().filter((name) => !appliedMigrations.has(name));

      if (!isMaintenanceWindow) rejectMaintenanceMigrations(pendingMigrations, appliedMigrations);
      for (const name of pendingMigrations) await runMigration(client, name, 'up', reportWait);
      await rejectIfRowsAreHidden(client);

      if (database.options.rowSecurity === 'off') await assignRowSecurityPolicies(client);
      else await prepareViewerRole(client);

      return pendingMigrations;
    },
    reportWait,
  );

/**
 * The newest migration that stays applied. Null reverts all migrations; the default reverts only
 * the last one.
 */
type RevertTarget = string | null;

/** Names of the applied migrations to revert, newest first. */
function migrationNamesAfter(
  appliedMigrations: readonly string[],
  revertTarget?: RevertTarget,
): string[] {
  if (typeof revertTarget === 'string' && !appliedMigrations.includes(revertTarget)) {
    throw new ConfigError(
      `--to: the migration ${revertTarget} is not applied; applied are ${appliedMigrations.join(', ')}`,
    );
  }

  let startIndex = -1;

  if (revertTarget === null) startIndex = 0;
  else if (revertTarget !== undefined) startIndex = appliedMigrations.indexOf(revertTarget) + 1;
  const names = appliedMigrations.slice(startIndex).reverse();
  const unknownMigration = names.find((name) => !migrationNames().includes(name));

  if (unknownMigration !== undefined) {
    throw new ConfigError(
      `The migration ${unknownMigration} is of a newer version: revert it with that version`,
    );
  }

  return names;
}

/** Reverts the applied migrations after `revertTarget`. Returns their names, newest first. */
export const migrateDown = (database: Database, revertTarget?: RevertTarget): Promise<string[]> =>
  withMigrationLock(
    database,
    async (client) => {
      await recordReplacementMigrations(client);
      const migrations = migrationNamesAfter(await readAppliedMigrationNames(client), revertTarget);

      await deleteSquashedMigrations(client, migrations);
      for (const name of migrations) await runMigration(client, name, 'down', reportToStderr);

      return migrations;
    },
    reportToStderr,
  );

/** Names of the migrations that `migrateDown` would revert, newest first. */
export const findMigrationsToRevert = (
  database: Database,
  revertTarget?: RevertTarget,
): Promise<string[]> =>
  withMigrationLock(
    database,
    async (client) => migrationNamesAfter(await readAppliedMigrationNames(client), revertTarget),
    reportToStderr,
  );

/** Acquires the migration lock until the connection ends. */
export const lockMigrations = (client: ClientBase): Promise<void> =>
  acquireMigrationLock(client, reportToStderr);

/** Tries to acquire the migration lock until the end of the transaction, without waiting. */
export async function tryLockMigrations(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1) AS "taken"', [
    ADVISORY_LOCK_KEYS.migration,
  ]);

  return (rows as [{ taken: boolean }])[0].taken;
}

/**
 * Applies migrations within the caller's transaction, which must hold the migration lock and have
 * locked all tables.
 */
export async function applyMigrations(client: ClientBase, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const migration = loadMigration(name);

    if (migration.transactional === false) await migration.up(new OnlineSchemaChange(client));
    else await migration.up((sql) => client.query(sql));
    await recordMigration(client, name, 'up');
  }
}
