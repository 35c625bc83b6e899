/** The database that the configuration names: any PostgreSQL by DATABASE_URL, or else the embedded one. */
import { Client, type PoolConfig } from 'pg';
import type { ModelCtor } from 'sequelize-typescript';
import { ConfigError, type Config } from '../platform/config';
import { Database } from './connection';
import { checkDataDir } from './datadir';
import { openEmbedded } from './embedded';
import type { Pooling } from './options';
import { poolingOf, refusedByPooler } from './pooler';
import { CONNECTION_TIMEOUT_MS } from './pools';
import { KEEP_ALIVE } from './pulse';
import type { ReplicaOptions } from './replica';
import { settingsOf } from './settings';
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
  const { databaseUrl, listenUrl, queue } = config;
  checkDataDir(config.dataDir);
  const embedded = databaseUrl ? undefined : await openEmbedded({ dataDir: config.dataDir, log });
  const connection = databaseUrl ? { connectionString: databaseUrl } : embedded!.connection;
  const direct = listenUrl === undefined ? undefined : { connectionString: listenUrl };
  const pooling = databaseUrl === undefined ? undefined : await check(config, connection, direct);
  const database = new Database({ ...config, connection, direct, replica: replicaOf(config), pooling, patience: queue, models });
  const close = async () => {
    await database.close();
    await embedded?.release();
  };
  try {
    return { database, embedded: embedded !== undefined, secretKey: key ? await secretKeyOf(config, database) : '', close };
  } catch (error) {
    await close();
    throw error;
  }
}

export const replicaOf = ({ replicaUrl, replicaLag }: Pick<Config, 'replicaUrl' | 'replicaLag'>): ReplicaOptions | undefined =>
  replicaUrl === undefined ? undefined : { connection: { connectionString: replicaUrl }, maxLag: replicaLag };

/** What stands between, if anything. Throws a ConfigError for what cannot be used. */
async function check(config: Config, connection: PoolConfig, direct: PoolConfig | undefined): Promise<Pooling | undefined> {
  const ends = [{ name: 'DATABASE_URL', to: connection }, ...(direct ? [{ name: 'DATABASE_LISTEN_URL', to: direct }] : [])];
  const clients: Client[] = [];
  const reach = async ({ name, to }: (typeof ends)[number]): Promise<Client> => {
    const client = new Client({
      ...to,
      ...KEEP_ALIVE,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      options: settingsOf(config, config.statementTimeout),
    });
    client.on('error', () => undefined);
    clients.push(client);
    await client.connect().catch((error: Error) => {
      throw (
        refusedByPooler(error) ??
        new ConfigError(`${name}: the database cannot be reached: ${error.message || (error as NodeJS.ErrnoException).code}`)
      );
    });
    const [{ version }] = (await client.query(`SELECT current_setting('server_version_num')::int AS "version"`)).rows;
    if (version < MIN_VERSION) throw new ConfigError(`${name}: PostgreSQL 14 or newer is needed`);
    return client;
  };
  try {
    return await poolingOf(() => reach(ends[0]!), ends[1] && (() => reach(ends[1]!)));
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}
