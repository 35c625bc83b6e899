// Runs the service like `npm start`, on a database of its own with the data of the benchmarks.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

/** Terminates a child process and waits until it has exited. */
const end = (child) => {
  const exited = new Promise((resolve) => child.removeAllListeners('exit').once('exit', resolve));

  if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) return exited;
};

const local = (path) => fileURLToPath(new URL(path, import.meta.url));
const children = [];

function spawnScript(script, args, environment) {
  const child = spawn(process.execPath, [...V8_MEMORY_FLAGS, local(script), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });

  children.push(child);
  return child;
}

/** Starts a script of this folder. Resolves once it has printed `ready`. */
export function start(script, args, environment, ready) {
  const child = spawnScript(script, args, environment);

  return new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => String(data).includes(ready) && resolve(child));
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
}

/**
 * Starts the service with Server-Timing headers, fills the database and calls `prepare`; restarts
 * it, by default without these headers, and calls `run`. `operations` are trusted documents by id.
 */
export async function withService({ prepare, run, operations = {}, timing = 'off' }) {
  const folder = mkdtempSync(join(tmpdir(), 'fitgraph-bench-'));
  const environment = {
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'silent',
    NODE_ENV: 'production',
    SECRET_KEY: 'benchmark'.repeat(8),
    HOST: '127.0.0.1',
    PORT: String(PORT),
    PERSISTED_OPERATIONS: join(folder, 'operations'),
  };

  mkdirSync(environment.PERSISTED_OPERATIONS);
  writeFileSync(join(environment.PERSISTED_OPERATIONS, 'bench.json'), JSON.stringify(operations));

  const service = async (timing) => {
    const child = spawnScript('../dist/src/index.js', [], {
      ...environment,
      SERVER_TIMING: timing,
      BUDGET: 'off',
    });

    while (!(await fetch(`${BASE}/health/ready`).catch(() => undefined))?.ok) await sleep(50);
    return child;
  };

  try {
    const embedded = await openEmbeddedDatabase({ dataDir: environment.DATA_DIR });
    // The first start creates the tables and the reference data.
    const first = await service('on');
    // Only the superuser of the embedded database can disable triggers.
    const client = new pg.Client({ ...embedded.connection, user: 'fitgraph' });

    await client.connect();
    await fill(client, (line) => process.stderr.write(`${line}\n`));
    await prepare?.(client);
    await client.end();
    await end(first);
    await service(timing);
    await run(embedded.connection);
    // The processes stop before the database, because the pool of the baseline cannot handle lost
    // connections.
    await Promise.all(children.map(end));
    await embedded.release();
  } finally {
    await Promise.all(children.map(end));
    setTimeout(() => rmSync(folder, { recursive: true, force: true }), 2000);
  }
}
