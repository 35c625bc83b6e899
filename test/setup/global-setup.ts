/**
 * Global setup: creates a folder for the whole run and a socket at which tests ask for the run's
 * embedded PostgreSQL. The first request starts it, so that tests without a database need not wait.
 */
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { openEmbeddedDatabase, type EmbeddedDatabase } from '../../src/database/embedded';
import { SERVER_ENV } from '../../src/database/embedded/binaries';
import { DATABASE_SOCKET, FOLDER } from './shared-server';

/**
 * Jest's workers allocate quickly; with V8's default of 16 MB a tenth of their time is spent on
 * garbage collection.
 */
const YOUNG_GENERATION_MB = 64;

export interface Run {
  folder: string;
  listener: net.Server;
  embedded?: Promise<EmbeddedDatabase>;
}

export default async function start(): Promise<void> {
  // Processes that the tested code starts must also load TypeScript.
  const options = [
    `--require=${path.join(__dirname, 'typescript.js')}`,
    `--max-semi-space-size=${YOUNG_GENERATION_MB}`,
  ];

  process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS, ...options].filter(Boolean).join(' ');
  // PostgreSQL uses the same clock as Node.js, also when it is shifted.
  const { LD_PRELOAD, CLOCK_OFFSET } = process.env;

  if (CLOCK_OFFSET) Object.assign(SERVER_ENV, { LD_PRELOAD, CLOCK_OFFSET });
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-tests-'));

  fs.chmodSync(folder, 0o755);
  process.env[FOLDER] = folder;
  const run: Run = { folder, listener: net.createServer(answer) };

  function answer(socket: net.Socket): void {
    socket.on('error', () => undefined);
    run.embedded ??= openEmbeddedDatabase({ dataDir: path.join(folder, 'data') });
    run.embedded.then(
      ({ connection }) => socket.end(JSON.stringify({ connection })),
      (error: Error) => socket.end(JSON.stringify({ error: error.message })),
    );
  }

  await new Promise<void>((resolve) =>
    run.listener.listen(path.join(folder, DATABASE_SOCKET), resolve),
  );
  (globalThis as { testRun?: Run }).testRun = run;
}
