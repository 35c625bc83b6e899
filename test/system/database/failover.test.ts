/**
 * Behind an address that leads to another PostgreSQL after a failover, such as that of a proxy, the
 * server needs no restart.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client, type PoolConfig } from 'pg';
import { createUser, getOrCreateApiKey } from '../../../src/accounts/accounts';
import { TokenVault } from '../../../src/accounts/tokens';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { migrateUp } from '../../../src/database/migrate';
import { readConfig } from '../../../src/shared/config';
import { validateDump } from '../../../src/transfer/dump';
import { openDedicatedConnection } from '../../../src/transfer/backup/tables';
import { importDumpRows } from '../../../src/transfer/importer';
import { catalogue } from '../../setup/catalogue';
import { asSuperuser, open, SECRET_KEY } from '../../setup/databases';
import { Fitgraph } from '../../setup/fitgraph';
import { createStandby } from '../../setup/standby';
import { Proxy } from '../faults/proxy';
import { until } from '../../setup/waits';

type Embedded = Awaited<ReturnType<typeof openEmbeddedDatabase>>;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-failover-'));

fs.chmodSync(folder, 0o755);
const [oneDir, twoDir] = ['one', 'two'].map((name) => path.join(folder, name)) as [string, string];
const tokenVault = new TokenVault(SECRET_KEY);
let [one, two]: (Embedded | undefined)[] = [];
let relay: Proxy | undefined;
let fitgraph: Fitgraph | undefined;
let token: string;

async function ask(connection: PoolConfig, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client(connection);

  await client.connect();
  return (await client.query(text).finally(() => client.end())).rows as Record<string, unknown>[];
}

const comments = async (at: Embedded) =>
  (await ask(at.connection, 'SELECT "comment" FROM "workout"')).map(({ comment }) => comment);
const listeners = (at: Embedded) =>
  ask(
    asSuperuser(at.connection),
    `SELECT "pid" FROM pg_stat_activity WHERE "application_name" LIKE 'fitgraph listener%'`,
  );

beforeAll(async () => {
  one = await openEmbeddedDatabase({ dataDir: oneDir });
  const database = open(one.connection);

  await migrateUp(database);
  await importDumpRows(validateDump(catalogue()), database, { tokenVault });
  const id = await createUser(
    { username: 'ann', password: 'a good password' },
    database.createSession(),
  );

  token = await getOrCreateApiKey(id, database.createSession(), tokenVault);
  await database.close();
  await createStandby(one.connection, oneDir, twoDir);
  two = await openEmbeddedDatabase({ dataDir: twoDir });
});
afterAll(async () => {
  await fitgraph?.stop();
  await relay?.close();
  await one?.release();
  await two?.release();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('writes fail with Retry-After until the address leads to a writable server', async () => {
  relay = await Proxy.before(one!.connection);
  const database = open({
    connectionString: readConfig({ DATABASE_URL: relay.url, SECRET_KEY }).databaseUrl,
  });

  fitgraph = await Fitgraph.start({ sameDatabaseAs: { database } });
  const ann = fitgraph.anonymous.withHeaders({ Authorization: `Token ${token}` });
  const write = (comment: string) =>
    ann.post('/workout/', { creation_date: '2026-01-01', comment });

  expect((await write('before')).status).toBe(201);
  await until(
    'the standby has replayed the write',
    async () => (await comments(two!)).length === 1,
  );
  expect([(await listeners(one!)).length, (await listeners(two!)).length]).toEqual([1, 0]);

  await one!.release();
  one = undefined;
  const whileEnded = await write('while there is no primary');

  expect([whileEnded.status, whileEnded.headers.has('retry-after')]).toEqual([503, true]);

  relay.leadTo(two!.connection);
  await until('reads work again', async () => (await ann.get('/workout/')).status === 200);
  const whileReadOnly = await write('while the standby is read-only');

  expect([whileReadOnly.status, whileReadOnly.headers.has('retry-after')]).toEqual([503, true]);

  await ask(asSuperuser(two!.connection), 'SELECT pg_promote()');
  await until('writes work again', async () => (await write('after')).status === 201);
  expect((await comments(two!)).sort()).toEqual(['after', 'before']);
  expect((await ann.get('/workout/')).body.count).toBe(2);
  await until('notifications are received again', async () => (await listeners(two!)).length === 1);
  // Commands, which open their own connections, and migrations use the new primary, too.
  const client = await openDedicatedConnection(database);

  expect((await client.query('SELECT "comment" FROM "workout"')).rows).toContainEqual({
    comment: 'after',
  });
  await client.end();
  expect(await migrateUp(database)).toEqual([]);
  await database.close();
});
