/** The servers of the benchmark on one database, each with the same number of connections. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { parentOf } from './measure.mjs';
import { BASE, POOL_SIZE, PORT, start } from './service.mjs';

const PORTS = { fitgraph: PORT, handWritten: PORT + 1, postgraphile: PORT + 2, cold: PORT + 3 };

export const NAMES = {
  fitgraph: 'Fitgraph',
  cold: 'Fitgraph, cold',
  handWritten: 'hand-written',
  postgraphile: 'PostGraphile',
};

const POSTGRAPHILE = fileURLToPath(new URL('postgraphile/', import.meta.url));
const POSTGRAPHILE_NODE = `${POSTGRAPHILE}node_modules/node/bin/node`;

export const isPostGraphileInstalled = () => existsSync(POSTGRAPHILE_NODE);

export function installPostGraphile() {
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: POSTGRAPHILE,
    stdio: ['ignore', 2, 2],
  });

  if (status !== 0) throw new Error('npm ci failed in bench/postgraphile');
}

/** Settings of a Fitgraph that keeps no finished answers. */
const COLD_SETTINGS = { RESULT_CACHE: 'off' };

/** Starts a Fitgraph that keeps no finished answers. */
export const startCold = async (startService, settings) => ({
  port: PORTS.cold,
  pid: (await startService(PORTS.cold, { ...COLD_SETTINGS, ...settings })).pid,
});

/**
 * Starts the other servers, PostGraphile if it is installed. Returns the port and process id of
 * each, and the process id of PostgreSQL.
 */
export async function startServers(connection, startService, service) {
  const pool = JSON.stringify({ ...connection, max: POOL_SIZE, idleTimeoutMillis: 0 });
  const startOther = async (who, script, args = [], node = undefined) => ({
    port: PORTS[who],
    pid: (await start(script, [pool, String(PORTS[who]), ...args], 'ready', node)).pid,
  });

  const servers = {
    fitgraph: { port: PORT, pid: service.pid },
    cold: await startCold(startService),
    handWritten: await startOther('handWritten', 'hand-written.mjs', [BASE]),
  };

  if (isPostGraphileInstalled()) {
    servers.postgraphile = await startOther(
      'postgraphile',
      'postgraphile/server.mjs',
      [],
      POSTGRAPHILE_NODE,
    );
  }

  return { servers, databasePid: await databasePidOf(connection) };
}

async function databasePidOf(connection) {
  const client = new pg.Client(connection);

  await client.connect();
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const pid = parentOf(rows[0].pid);

  await client.end();
  return pid;
}
