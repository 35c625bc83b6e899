/** Migrations, run at start: each in a transaction, all under an advisory lock, so that two instances can start at once. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Umzug, type UmzugStorage } from 'umzug';
import type { PoolClient } from 'pg';
import type { Database } from './connection';

export type Migration = (query: (sql: string) => Promise<unknown>) => Promise<void>;

/** Any number that no other program locks. */
const LOCK = 7_316_402;

const folder = join(__dirname, 'migrations');
const names = () =>
  readdirSync(folder)
    .map((file) => /^(\d{4}-[a-z-]+)\.(?:ts|js)$/.exec(file)?.[1])
    .filter((name): name is string => name !== undefined)
    .sort();

class Applied implements UmzugStorage {
  constructor(private readonly client: PoolClient) {}
  async executed(): Promise<string[]> {
    return (await this.client.query('SELECT "name" FROM "migration" ORDER BY "name"')).rows.map((row) => row.name);
  }
  async logMigration({ name }: { name: string }): Promise<void> {
    await this.client.query('INSERT INTO "migration" ("name") VALUES ($1)', [name]);
  }
  async unlogMigration({ name }: { name: string }): Promise<void> {
    await this.client.query('DELETE FROM "migration" WHERE "name" = $1', [name]);
  }
}

async function umzug<T>(database: Database, work: (migrations: Umzug<PoolClient>) => Promise<T>): Promise<T> {
  return database.unlimited(async (client) => {
    try {
      await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
      await client.query('CREATE TABLE IF NOT EXISTS "migration" ("name" text PRIMARY KEY, "applied" timestamptz NOT NULL DEFAULT now())');
      const one = (name: string, direction: 'up' | 'down') => async () => {
        // eslint-disable-next-line @typescript-eslint/no-require-imports -- found by name, once, at start
        const migration = require(join(folder, name)) as Record<typeof direction, Migration>;
        await client.query('BEGIN');
        try {
          await migration[direction]((sql) => client.query(sql));
          await client.query('COMMIT');
        } catch (error) {
          await client.query('ROLLBACK');
          throw error;
        }
      };
      const migrations = names().map((name) => ({ name, up: one(name, 'up'), down: one(name, 'down') }));
      return await work(new Umzug({ migrations, context: client, storage: new Applied(client), logger: undefined }));
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [LOCK]).catch(() => undefined);
    }
  });
}

/** Brings the database up to date; answers the names of what was applied. */
export const migrateUp = (database: Database): Promise<string[]> =>
  umzug(database, async (migrations) => (await migrations.up()).map(({ name }) => name));

/** Takes the last migration back, or all of them. */
export const migrateDown = (database: Database, all = false): Promise<string[]> =>
  umzug(database, async (migrations) => (await migrations.down(all ? { to: 0 } : undefined)).map(({ name }) => name));

/** Whether every migration of this version is applied. */
export async function migrated(database: Database): Promise<boolean> {
  const { rows } = await database.pool.query(`SELECT to_regclass('migration') IS NOT NULL AS present`);
  if (!rows[0].present) return false;
  const applied = new Set((await database.pool.query('SELECT "name" FROM "migration"')).rows.map((row) => row.name));
  return names().every((name) => applied.has(name));
}
