/** The database that the configuration names: any PostgreSQL by DATABASE_URL, or else the embedded one. */
import type { ModelCtor } from 'sequelize-typescript';
import { ConfigError, type Config } from '../config';
import { Database } from './connection';
import { checkDataDir } from './datadir';
import { openEmbedded } from './embedded';
import { isPooled, refusedByPooler } from './pooler';
import { secretKeyOf } from './secretkey';

const MIN_VERSION = 140_000;

export interface OpenDatabase {
  database: Database;
  embedded: boolean;
  secretKey: string;
  close(): Promise<void>;
}

/** `key: false`: whoever brings one along asks for none, and `secretKey` is empty where there is none. */
export async function openDatabase(
  config: Config,
  models: ModelCtor[],
  log: (message: string) => void,
  { key = true } = {},
): Promise<OpenDatabase> {
  const { databaseUrl, queue } = config;
  checkDataDir(config.dataDir);
  const embedded = databaseUrl ? undefined : await openEmbedded({ dataDir: config.dataDir, log });
  const connection = databaseUrl ? { connectionString: databaseUrl } : embedded!.connection;
  const database = new Database({ ...config, connection, patience: queue, models });
  const close = async () => {
    await database.close();
    await embedded?.release();
  };
  try {
    await check(database);
    return { database, embedded: embedded !== undefined, secretKey: key ? await secretKeyOf(config, database) : '', close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function check(database: Database): Promise<void> {
  const { rows } = await database.pool.query(`SELECT current_setting('server_version_num')::int AS version`).catch((error: Error) => {
    throw (
      refusedByPooler(error) ??
      new ConfigError(`DATABASE_URL: the database cannot be reached: ${error.message || (error as NodeJS.ErrnoException).code}`)
    );
  });
  if (rows[0].version < MIN_VERSION) throw new ConfigError('DATABASE_URL: PostgreSQL 14 or newer is needed');
  database.pooled = await isPooled(database.pool);
}
