/** Before the first test: one embedded PostgreSQL for the whole run, in a folder of its own. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded, type Embedded } from '../../src/database/embedded';
import { createTemplates, FOLDER, SERVER } from './databases';

export interface TestServer {
  embedded: Embedded;
  folder: string;
}

export default async function start(): Promise<void> {
  // Processes that the tested code starts read TypeScript too.
  process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS, `--require=${path.join(__dirname, 'typescript.js')}`].filter(Boolean).join(' ');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-tests-'));
  fs.chmodSync(folder, 0o755);
  const embedded = await openEmbedded({ dataDir: path.join(folder, 'data') });
  (globalThis as { testServer?: TestServer }).testServer = { embedded, folder };
  process.env[FOLDER] = folder;
  process.env[SERVER] = JSON.stringify(embedded.connection);
  await createTemplates();
}
