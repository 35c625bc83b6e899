/**
 * Cursors of the change log after PostgreSQL was restarted, restored from a copy, or replaced by a
 * promoted standby.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { ChangeLog } from '../../../src/engine/changes/change-log';
import { NotificationListener } from '../../../src/engine/changes/listener';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { migrateUp } from '../../../src/database/migrate';
import { createLogger } from '../../../src/shared/logging';
import { asSuperuser, open } from '../../setup/databases';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-timeline-'));

fs.chmodSync(folder, 0o755);
const dataDir = path.join(folder, 'data');
const copy = path.join(folder, 'copy');

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const log = createLogger('silent');
const watchedTables = { ownerId: 1, ownedTables: ['weight_entry'], publicTables: [] };

type Running = Awaited<ReturnType<typeof start>>;

/** Starts PostgreSQL on the data folder and opens the change log like an instance of the server. */
async function start(promote = false) {
  const embedded = await openEmbeddedDatabase({ dataDir });
  const database = open(embedded.connection);
  const sql = async (text: string) => (await database.pool.query(text)).rows;

  if (promote) {
    const superuser = new Client(asSuperuser(embedded.connection));

    await superuser.connect();
    await superuser.query('SELECT pg_promote()');
    await superuser.end();
  }

  await migrateUp(database);
  const changes = new ChangeLog(database, new NotificationListener(database, log), log);

  await changes.start();
  return {
    sql,

    /** Reads the changes after a cursor: their number and the next cursor, or the error code. */
    async since(cursor: string | null): Promise<{ told: number; cursor: string; code?: string }> {
      try {
        const page = await changes.read(watchedTables, cursor, 100, database.createSession());

        return { told: page.changes.length, cursor: page.cursor };
      } catch (error) {
        return {
          told: 0,
          cursor: '',
          code: (error as { extensions: { code: string } }).extensions.code,
        };
      }
    },
    async stop() {
      changes.stop();
      await database.close();
      await embedded.release();
    },
  };
}

let day = 0;

async function write({ sql }: Running, rows: number): Promise<void> {
  for (let row = 0; row < rows; row += 1) {
    await sql(
      `INSERT INTO "weight_entry" ("user_id", "date", "weight") VALUES (1, date '2020-01-01' + ${(day += 1)}, 80)`,
    );
  }
}

/**
 * Copies a data folder with the owners and modes of its files, which `fs.cpSync` does not preserve.
 */
const copyFolder = (from: string, to: string): void => void execFileSync('cp', ['-a', from, to]);

/** Restores the data folder from the copy. */
function restoreCopy(): void {
  fs.rmSync(dataDir, { recursive: true });
  copyFolder(copy, dataDir);
}

test('accepts cursors of retained changes and expires cursors of lost ones', async () => {
  let running = await start();

  await running.sql(
    `INSERT INTO "user_account" ("id", "username", "password") VALUES (1, 'anna', '')`,
  );
  const first = (await running.since(null)).cursor;

  await write(running, 3);
  const { told, cursor: early } = await running.since(first);

  expect(told).toBe(3);
  await running.stop();
  copyFolder(dataDir, copy);

  // After an ordinary restart all cursors are valid.
  running = await start();
  expect(await running.since(early)).toEqual({ told: 0, cursor: expect.any(String) });
  await write(running, 20);
  const late = (await running.since(early)).cursor;

  await write(running, 1);
  expect((await running.since(late)).told).toBe(1);
  expect((await running.since(early)).told).toBe(21);
  expect((await running.since(first)).told).toBe(24);
  await running.stop();

  // After the copy is restored, changes that a client has read are lost, and other changes take
  // their place.
  restoreCopy();
  running = await start();
  expect((await running.since(late)).code).toBe('CURSOR_EXPIRED');
  await write(running, 40);
  expect((await running.since(late)).code).toBe('CURSOR_EXPIRED');
  expect((await running.since(early)).told).toBe(40);
  const other = (await running.since(early)).cursor;

  await running.stop();

  // Restores the copy again and promotes it as a standby.
  restoreCopy();
  fs.writeFileSync(path.join(dataDir, 'postgres', 'standby.signal'), '');
  running = await start(true);
  await write(running, 50);
  expect((await running.since(late)).code).toBe('CURSOR_EXPIRED');
  expect((await running.since(other)).code).toBe('CURSOR_EXPIRED');
  expect((await running.since(early)).told).toBe(50);
  await running.stop();
});
