/**
 * npm run bench:export: exports a million rows to a file from the real server. Prints the duration
 * and the server's peak resident memory as reported by the operating system; fails above 300 MB.
 * EXPORT_ROWS changes the number of rows.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setInterval, clearInterval } from 'node:timers';
import { createRequire } from 'node:module';
import pg from 'pg';

const require = createRequire(import.meta.url);
const { openEmbeddedDatabase } = require('../dist/src/database/embedded.js');
const { V8_MEMORY_FLAGS } = require('../dist/src/server/primary.js');

const ROWS = Number(process.env.EXPORT_ROWS ?? 1_000_000);
const MOST_MB = 300;
const QUERY =
  '{ workoutLogs(orderBy: [{ date: ASC }]) { nodes { id date reps weight weightKg exercise { name category { name } } } } }';

const folder = mkdtempSync(join(tmpdir(), 'fitgraph-export-'));

// PostgreSQL runs as another user if this process is that of root.
chmodSync(folder, 0o711);
const environment = {
  ...process.env,
  DATA_DIR: join(folder, 'data'),
  PORT: '0',
  WEB_CONCURRENCY: '0',
  LOG_LEVEL: 'warn',
};

/** Starts the server. Resolves once it has printed its address and the demo user. */
function startServer() {
  const server = spawn(process.execPath, [...V8_MEMORY_FLAGS, 'dist/src/index.js'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

  return new Promise((resolve, reject) => {
    let output = '';

    server.stdout.on('data', (chunk) => {
      output += chunk;
      const url = /REST +(http:\S+)\/api\/v2\//.exec(output)?.[1];

      if (url) resolve({ server, url, said: output });
    });
    server.once('exit', (status) => reject(new Error(`the server ended with ${status}`)));
  });
}

/**
 * Inserts the rows directly into the database, without entries in the change log, which this
 * benchmark does not measure.
 */
async function fill(username) {
  const embedded = await openEmbeddedDatabase({ dataDir: environment.DATA_DIR });
  // Only the superuser can disable triggers.
  const client = new pg.Client({ ...embedded.connection, user: 'fitgraph' });

  await client.connect();
  await client.query('SET session_replication_role = replica');
  await client.query(
    `INSERT INTO "workout_log" ("reps", "weight", "date", "exercise_id", "exercise_base_id", "mass_unit", "workout_id", "user_id")
       SELECT 1 + n % 12, 20 + n % 100, date '2000-01-01' + n % 9000, e."id", e."exercise_base_id", 'kg', w."id", w."user_id"
       FROM generate_series(1, $1::int) n, (SELECT "id", "exercise_base_id" FROM "exercise" ORDER BY "id" LIMIT 1) e,
         (SELECT w."id", w."user_id" FROM "workout" w JOIN "account" a ON a."id" = w."user_id" WHERE a."username" = $2 LIMIT 1) w`,
    [ROWS, username],
  );
  await client.query('ANALYZE "workout_log"');
  await client.end();
  await embedded.release();
}

const residentMb = (pid) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
const peakMb = (pid) =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

const waitForExit = (server) => {
  const serverExit = new Promise((resolve) =>
    server.removeAllListeners('exit').once('exit', resolve),
  );

  server.kill('SIGTERM');
  return serverExit;
};

// The first start creates the tables, the reference data and the demo user.
const first = await startServer();
const [, username, , token] = /User (\S+), password (\S+)\s+Authorization: Token (\S+)/.exec(
  first.said,
);

await fill(username);
await waitForExit(first.server);
const { server, url } = await startServer();

try {
  const before = residentMb(server.pid);

  for (const format of ['csv', 'jsonl']) {
    const began = performance.now();
    let bytes = 0;
    let lines = 0;
    const seen = [];
    const watching = setInterval(() => seen.push(residentMb(server.pid)), 500);
    const address = `${url}/graphql/export.${format}?${new URLSearchParams({ query: QUERY })}`;
    const answer = await fetch(address, { headers: { Authorization: `Token ${token}` } });

    for await (const chunk of answer.body) {
      bytes += chunk.length;
      for (const byte of chunk) if (byte === 10) lines += 1;
    }

    clearInterval(watching);
    const seconds = (performance.now() - began) / 1000;
    const highest = Math.max(...seen);

    console.log(
      `${format}: ${answer.status}, ${lines} lines, ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s (${Math.round(lines / seconds)} rows/s); ` +
        `the server held ${before.toFixed(0)} MB before and ${highest.toFixed(0)} MB at most`,
    );
    if (lines < ROWS) process.exitCode = 1;
  }

  const peak = peakMb(server.pid);

  console.log(`highest of all: ${peak.toFixed(0)} MB; ${MOST_MB} MB are allowed`);
  if (peak > MOST_MB) process.exitCode = 1;
} finally {
  await waitForExit(server);
  rmSync(folder, { recursive: true, force: true });
}
