// Runs the service like `npm start`, on a database of its own with the data of the benchmarks.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { fill } from './data.mjs';

const require = createRequire(import.meta.url);
const { openEmbeddedDatabase } = require('../dist/src/database/embedded.js');
const { V8_MEMORY_FLAGS } = require('../dist/src/server/primary.js');

export const PORT = 8191;
export const BASE = `http://127.0.0.1:${PORT}`;

/** Connections per server, of Fitgraph for each of anonymous clients and signed-in users. */
export const POOL_SIZE = 15;

/** Terminates a child process and waits until it has exited. */
const end = (child) => {
  const exited = new Promise((resolve) => child.removeAllListeners('exit').once('exit', resolve));

  if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) return exited;
};

const local = (path) => fileURLToPath(new URL(path, import.meta.url));
const children = [];

function spawnScript(script, args, environment, node = process.execPath) {
  const child = spawn(node, [...V8_MEMORY_FLAGS, local(script), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });

  children.push(child);
  return child;
}

/** For libraries that check more during development. */
const PRODUCTION = { NODE_ENV: 'production', GRAPHILE_ENV: 'production' };

/**
 * Starts a script of this folder, by default with the Node of this process. Resolves once it has
 * printed `ready`.
 */
export function start(script, args, ready, node) {
  const child = spawnScript(script, args, PRODUCTION, node);

  return new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => String(data).includes(ready) && resolve(child));
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
}

/**
 * Starts the service with Server-Timing headers, fills the database with `sizes` (see data.mjs) and
 * calls `prepare`; restarts it, by default without these headers, and calls `run`. Both receive a
 * connection to the database and a function that starts another service on it, with a port and
 * settings. `operations` are trusted documents by id.
 */
export async function withService({ prepare, run, operations = {}, timing = 'off', sizes }) {
  const folder = mkdtempSync(join(tmpdir(), 'fitgraph-bench-'));
  const environment = {
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'silent',
    NODE_ENV: 'production',
    SECRET_KEY: 'benchmark'.repeat(8),
    HOST: '127.0.0.1',
    DATABASE_POOL: String(POOL_SIZE),
    BUDGET: 'off',
    PERSISTED_OPERATIONS: join(folder, 'operations'),
  };

  // PostgreSQL runs as another user if this process is that of root.
  chmodSync(folder, 0o711);
  mkdirSync(environment.PERSISTED_OPERATIONS);
  writeFileSync(join(environment.PERSISTED_OPERATIONS, 'bench.json'), JSON.stringify(operations));

  const startService = async (port, settings) => {
    const child = spawnScript('../dist/src/index.js', [], {
      ...environment,
      PORT: String(port),
      ...settings,
    });
    const url = `http://127.0.0.1:${port}/health/ready`;

    while (!(await fetch(url).catch(() => undefined))?.ok) await sleep(50);
    return child;
  };

  try {
    const embedded = await openEmbeddedDatabase({ dataDir: environment.DATA_DIR });

    // The first start creates the tables and the reference data.
    await startService(PORT, { SERVER_TIMING: 'on' });
    // Only the superuser of the embedded database can disable triggers.
    const client = new pg.Client({ ...embedded.connection, user: 'fitgraph' });

    await client.connect();
    await fill(client, (line) => process.stderr.write(`${line}\n`), sizes);
    await prepare?.(client, startService);
    await client.end();
    await Promise.all(children.splice(0).map(end));
    const service = await startService(PORT, { SERVER_TIMING: timing });

    await run(embedded.connection, startService, service);
    // The processes stop before the database, because the pools of the other servers cannot handle
    // lost connections.
    await Promise.all(children.map(end));
    await embedded.release();
  } finally {
    await Promise.all(children.map(end));
    setTimeout(() => rmSync(folder, { recursive: true, force: true }), 2000);
  }
}
