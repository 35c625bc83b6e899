/** The database that the configuration names: any PostgreSQL by DATABASE_URL, or else the embedded one. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ModelCtor } from 'sequelize-typescript';
import { ConfigError, type Config } from '../config';
import { Database } from './connection';
import { openEmbedded } from './embedded';

const MIN_VERSION = 140_000;

export interface OpenDatabase {
  database: Database;
  embedded: boolean;
  secretKey: string;
  close(): Promise<void>;
}

export async function openDatabase(config: Config, models: ModelCtor[], log: (message: string) => void): Promise<OpenDatabase> {
  const { databaseUrl, poolSize, timeZone, statementTimeout, anonymousTimeout, queue } = config;
  const embedded = databaseUrl ? undefined : await openEmbedded({ dataDir: config.dataDir, log });
  const connection = databaseUrl ? { connectionString: databaseUrl } : embedded!.connection;
  const database = new Database({ connection, poolSize, timeZone, statementTimeout, anonymousTimeout, patience: queue, models });
  const close = async () => {
    await database.close();
    await embedded?.release();
  };
  try {
    await check(database);
    return { database, embedded: embedded !== undefined, secretKey: config.secretKey ?? keptKey(config), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function check(database: Database): Promise<void> {
  const { rows } = await database.pool.query(`SELECT current_setting('server_version_num')::int AS version`).catch((error: Error) => {
    throw new ConfigError(`DATABASE_URL: the database cannot be reached: ${error.message || (error as NodeJS.ErrnoException).code}`);
  });
  if (rows[0].version < MIN_VERSION) throw new ConfigError('DATABASE_URL: PostgreSQL 14 or newer is needed');
}

/** The key that seals the tokens, made at first start and kept beside the embedded database. */
function keptKey({ dataDir, databaseUrl }: Config): string {
  const file = join(dataDir, 'secret-key');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  if (databaseUrl) throw new ConfigError('SECRET_KEY is missing: it is needed with DATABASE_URL');
  mkdirSync(dataDir, { recursive: true });
  try {
    writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
    chmodSync(file, 0o600);
  } catch (error) {
    // Another process made it at the same moment.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8').trim();
}
