/** What global setup provides for the tests of a run. */
import net from 'node:net';
import path from 'node:path';
import type { PoolConfig } from 'pg';

/** The environment variable with the path of the folder that all tests of a run share. */
export const FOLDER = 'FITGRAPH_TEST_FOLDER';
export const DATABASE_SOCKET = 'database.sock';

let known: Promise<PoolConfig> | undefined;

/** Returns the connection of the run's PostgreSQL, which starts when the first test asks for it. */
export const runServer = (): Promise<PoolConfig> => (known ??= ask());

async function ask(): Promise<PoolConfig> {
  const socket = net.connect(path.join(process.env[FOLDER]!, DATABASE_SOCKET));
  const chunks: Buffer[] = [];

  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const { connection, error } = JSON.parse(Buffer.concat(chunks).toString()) as {
    connection?: PoolConfig;
    error?: string;
  };

  if (!connection) throw new Error(`PostgreSQL did not start: ${error}`);

  return connection;
}
