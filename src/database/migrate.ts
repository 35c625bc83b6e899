/** Schema migrations, run at start: each in a transaction, all under an advisory lock, so that instances can start concurrently. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Umzug, UmzugStorage } from 'umzug';
import { DatabaseError, type ClientBase, type PoolClient } from 'pg';
import { ConfigError } from '../platform/config';
import { VERSION } from '../platform/version';
import type { Database } from './connection';
import { LOCKS } from './locks';
import { missingBefore02, squash, squashApplied } from './squashed';
import { assignPolicies, prepareViewerRole, rejectIfRowsAreHidden } from './viewerrole';

export type Migration = (query: (sql: string) => Promise<unknown>) => Promise<void>;

const LOCK_EVERY_MS = 200;

/** Every later request for a table queues behind a waiting migration, so this also bounds how long the service stalls. */
const TABLE_LOCK_TIMEOUT_MS = 500;
const TABLE_LOCK_PAUSE_MS = 1_000;
const TABLE_LOCK_ATTEMPTS = 200;
/** SQLSTATE lock_not_available and deadlock_detected. */
const LOCK_CONFLICTS = ['55P03', '40P01'];
const isLockConflict = (error: unknown) => error instanceof DatabaseError && LOCK_CONFLICTS.includes(error.code ?? '');

const HOLDER = `SELECT a."pid", host(a."client_addr") AS "address" FROM pg_locks l JOIN pg_stat_activity a ON a."pid" = l."pid"
  WHERE l."locktype" = 'advisory' AND l."granted" AND l."classid" = 0 AND l."objid" = $1 AND l."objsubid" = 1`;

/** Receives messages about waiting for other processes. */
type Tell = (message: string) => void;
const toStderr: Tell = (message) => void process.stderr.write(`${message}\n`);

const folder = join(__dirname, 'migrations');
const names = () =>
  readdirSync(folder)
    .map((file) => /^(\d{4}-[a-z-]+)\.(?:ts|js)$/.exec(file)?.[1])
    .filter((name): name is string => name !== undefined)
    .sort();

class Applied implements UmzugStorage {
  constructor(private readonly client: ClientBase) {}
  async executed(): Promise<string[]> {
    return (await this.client.query('SELECT "name" FROM "migration" ORDER BY "name"')).rows.map((row) => row.name);
  }
  async logMigration({ name }: { name: string }): Promise<void> {
    await this.client.query('INSERT INTO "migration" ("name", "version") VALUES ($1, $2)', [name, VERSION]);
  }
  async unlogMigration({ name }: { name: string }): Promise<void> {
    await this.client.query('DELETE FROM "migration" WHERE "name" = $1', [name]);
  }
}

export const MIGRATION_TABLE =
  'CREATE TABLE IF NOT EXISTS "migration" ("name" text PRIMARY KEY, "applied" timestamptz NOT NULL DEFAULT now(), "version" text)';

async function prepare(client: PoolClient): Promise<void> {
  await client.query(MIGRATION_TABLE);
  const { rowCount } = await client.query(`SELECT FROM pg_attribute WHERE attrelid = 'migration'::regclass AND attname = 'version'`);
  // Absent in databases of early versions.
  if (!rowCount) await client.query('ALTER TABLE "migration" ADD COLUMN "version" text');
}

/** Throws a ConfigError for a schema older than that of Fitgraph 0.2, or newer than this version. */
export async function refuseUnsupported(client: Pick<ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query('SELECT "name", "version" FROM "migration" ORDER BY "name" DESC');
  const applied = rows.map(({ name }) => name as string);
  const missing = missingBefore02(applied);
  if (missing !== undefined)
    throw new ConfigError(
      `The database schema is older than that of Fitgraph 0.2 (${missing} is missing): start Fitgraph 0.2 first, which migrates it, ` +
        `and then Fitgraph ${VERSION}`,
    );
  const known = names();
  const unknown = squash(applied).filter((name) => !known.includes(name));
  if (!unknown.length) return;
  const newest = rows.find(({ name }) => unknown.includes(name));
  throw new ConfigError(
    `The database has the schema of ${newest.version ? `Fitgraph ${newest.version}` : 'another version of Fitgraph'} (${newest.name}), ` +
      `but Fitgraph ${VERSION} supports it only up to ${known.at(-1)}: start the newer version, or restore an older backup`,
  );
}

type Direction = 'up' | 'down';

// eslint-disable-next-line @typescript-eslint/no-require-imports -- found by name, once, at start
const migrationNamed = (name: string) => require(join(folder, name)) as Record<Direction, Migration>;

/** Acquires the migration lock. While waiting, reports the process that holds it, which may be a leftover. */
async function takeLock(client: PoolClient, tell: Tell): Promise<void> {
  for (let told = false; ; told = true) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS "taken"', [LOCKS.migration]);
    if (rows[0].taken) return;
    if (!told) {
      const { rows: holders } = await client.query(HOLDER, [LOCKS.migration]);
      const { pid, address } = holders[0] ?? {};
      tell(
        `waiting for another process that migrates or fills the database${pid ? ` (PostgreSQL process ${pid}, connected from ${address ?? 'this machine'})` : ''}`,
      );
    }
    await sleep(LOCK_EVERY_MS);
  }
}

/** Loaded only if there are pending migrations, because umzug loads a command-line parser. */
async function umzugOn(client: PoolClient, tell: Tell): Promise<Umzug<PoolClient>> {
  const { Umzug } = await import('umzug');
  const attempt = async (name: string, direction: Direction) => {
    await client.query('BEGIN');
    try {
      await client.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
      await migrationNamed(name)[direction]((sql) => client.query(sql));
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  };
  const one = (name: string, direction: Direction) => async () => {
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await attempt(name, direction);
      } catch (error) {
        if (!isLockConflict(error) || attempts === TABLE_LOCK_ATTEMPTS) throw error;
        if (attempts === 1) tell(`the migration ${name} waits for transactions that use its tables; it is retried`);
      }
      await sleep(TABLE_LOCK_PAUSE_MS);
    }
  };
  const migrations = names().map((name) => ({ name, up: one(name, 'up'), down: one(name, 'down') }));
  return new Umzug({ migrations, context: client, storage: new Applied(client), logger: undefined });
}

function locked<T>(database: Database, work: (client: PoolClient) => Promise<T>, tell: Tell): Promise<T> {
  return database.unlimited(async (client) => {
    try {
      await takeLock(client, tell);
      await prepare(client);
      await refuseUnsupported(client);
      return await work(client);
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [LOCKS.migration]).catch(() => undefined);
    }
  });
}

/** Applies pending migrations and returns their names. */
export const migrateUp = (database: Database, tell: Tell = toStderr): Promise<string[]> =>
  locked(
    database,
    async (client) => {
      await squashApplied(client);
      const present = new Set(await new Applied(client).executed());
      const applied = names().every((name) => present.has(name)) ? [] : await (await umzugOn(client, tell)).up();
      await rejectIfRowsAreHidden(client);
      await (database.options.rowSecurity === 'off' ? assignPolicies(client) : prepareViewerRole(client));
      return applied.map(({ name }) => name);
    },
    tell,
  );

/** The newest migration that stays applied; null reverts all. By default only the last migration is reverted. */
type Target = string | null;

/** Returns the names of the migrations after the target, newest first. */
function namesAfter(applied: readonly string[], target?: Target): string[] {
  if (target === undefined) return applied.slice(-1);
  if (target !== null && !applied.includes(target))
    throw new ConfigError(`--to: the migration ${target} is not applied; applied are ${applied.join(', ')}`);
  return applied.slice(target === null ? 0 : applied.indexOf(target) + 1).reverse();
}

/** Reverts the migrations after the target and returns their names, newest first. */
export const migrateDown = (database: Database, target?: Target): Promise<string[]> =>
  locked(
    database,
    async (client) => {
      await squashApplied(client);
      const migrations = namesAfter(await new Applied(client).executed(), target);
      if (!migrations.length) return [];
      return (await (await umzugOn(client, toStderr)).down({ migrations })).map(({ name }) => name);
    },
    toStderr,
  );

/** Names of the migrations that `migrateDown` would revert, newest first. */
export const migrationsToRevert = (database: Database, target?: Target): Promise<string[]> =>
  locked(database, async (client) => namesAfter(squash(await new Applied(client).executed()), target), toStderr);

/** Names of all migrations of this version, in order. */
export const migrationNames = (): string[] => names();

/** Holds the migration lock until the connection ends. */
export const lockMigrations = (client: ClientBase): Promise<unknown> => client.query('SELECT pg_advisory_lock($1)', [LOCKS.migration]);

/** Tries to hold the migration lock until the transaction ends; returns false if another process has it. */
export async function tryLockMigrations(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1) AS "taken"', [LOCKS.migration]);
  return (rows as [{ taken: boolean }])[0].taken;
}

/** Applies the migrations in order, within the caller's transaction, which must hold the lock. */
export async function applyWithin(client: ClientBase, those: readonly string[]): Promise<void> {
  const storage = new Applied(client);
  for (const name of those) {
    await migrationNamed(name).up((sql) => client.query(sql));
    await storage.logMigration({ name });
  }
}

/** Whether every migration of this version is applied. */
export async function migrated(database: Database): Promise<boolean> {
  const [{ present }] = (await database.ask(`SELECT to_regclass('migration') IS NOT NULL AS present`)) as [{ present: boolean }];
  if (!present) return false;
  const applied = new Set((await database.ask('SELECT "name" FROM "migration"')).map((row) => row.name));
  return names().every((name) => applied.has(name));
}
