/** Writes src/database/schemaobjects.json from a new database that the migrations have created. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Database } from '../dist/src/database/connection.js';
import { openEmbeddedDatabase } from '../dist/src/database/embedded.js';
import { migrateUp } from '../dist/src/database/migrate.js';
import { describeSchema } from '../dist/src/database/schemaobjects.js';

const FILE = fileURLToPath(new URL('../src/database/schemaobjects.json', import.meta.url));

const dataDir = mkdtempSync(join(tmpdir(), 'fitgraph-schema-'));
const embedded = await openEmbeddedDatabase({ dataDir });
const database = new Database({
  connection: embedded.connection,
  poolSize: 1,
  timeZone: 'UTC',
  queueLimits: { maxQueued: 1, maxWaitMs: 1000 },
  models: [],
});
try {
  await migrateUp(database);
  writeFileSync(FILE, `${JSON.stringify(await describeSchema(database.pool), null, 2)}\n`);
} finally {
  await database.close();
  await embedded.release();
  rmSync(dataDir, { recursive: true, force: true });
}
