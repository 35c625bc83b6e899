/** Reads from a hot standby, created from a base backup, which the tests stop, pause and disconnect. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool, type PoolConfig } from 'pg';
import { TokenVault } from '../../src/auth/tokens';
import { Database } from '../../src/database/connection';
import { openEmbeddedDatabase } from '../../src/database/embedded';
import { migrateUp } from '../../src/database/migrate';
import { Replica } from '../../src/database/replica';
import { activateViewerRole } from '../../src/database/viewerrole';
import { buildGraphQLSchema } from '../../src/graphql/schema';
import { createLogger } from '../../src/platform/logging';
import { validateDump } from '../../src/transfer/dump';
import { importDumpRows } from '../../src/transfer/importer';
import { catalogue } from '../setup/catalogue';
import { asSuperuser, open, SECRET_KEY } from '../setup/databases';
import { Fitgraph } from '../setup/fitgraph';
import { createStandby } from '../setup/standby';
import { Documents } from '../graphql/fuzz/documents';
import { randomFor, seeded } from '../setup/random';
import { until } from '../setup/waits';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-replica-'));
fs.chmodSync(folder, 0o755);
const [first, second] = ['first', 'second'].map((name) => path.join(folder, name)) as [string, string];

const METRICS_TOKEN = 'sixteen letters at least';

type Embedded = Awaited<ReturnType<typeof openEmbeddedDatabase>>;
let primary: Embedded;
let standby: Embedded;
let fitgraph: Fitgraph;
/** A server that uses the same primary, but no replica. */
let withoutReplica: Fitgraph;

const urlOf = ({ user, database, host, port }: PoolConfig) =>
  `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host!)}`;

async function ask(at: Embedded, text: string, values?: unknown[]): Promise<Record<string, any>[]> {
  const client = new Client(at.connection);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

const replica = () => fitgraph.database.replica!;
const waitUntilUsed = () => until('the replica is used', async () => replica().isUsable);
const waitUntilUnused = () => until('the replica is not used', async () => !replica().isUsable);
const command = async (text: string) => {
  const client = new Client(asSuperuser(standby.connection));
  await client.connect();
  await client.query(text).finally(() => client.end());
};
const pauseReplay = () => command('SELECT pg_wal_replay_pause()');
const resumeReplay = () => command('SELECT pg_wal_replay_resume()');

/** Runs `work`; returns the number of statements that the standby answers meanwhile, and the result of `work`. */
async function countReplicaReads<T>(work: () => Promise<T>): Promise<[number, T]> {
  const before = replica().statementCount;
  const result = await work();
  return [replica().statementCount - before, result];
}

/** Repeats `work` until the standby answers. On a busy machine its lag is sometimes checked late, and the standby is not used until then. */
const readFromReplica = (work: () => Promise<unknown>, statements = 1) =>
  until('the replica answers', async () => (await countReplicaReads(work))[0] >= statements);

const LISTS = ['exercise', 'exercisebaseinfo', 'exerciseinfo', 'ingredient', 'ingredientinfo', 'exerciseimage', 'exercisecomment'];
const NAMES = '{ exercises(first: 50) { totalCount nodes { name exerciseBase { category { name } images { isMain } } } } }';
const rename = (name: string) => ask(primary, 'UPDATE "ingredient" SET "name" = $1 WHERE "id" = 1', [name]);
const readName = async () => (await fitgraph.anonymous.get('/ingredient/1/')).body.name as string;

beforeAll(async () => {
  primary = await openEmbeddedDatabase({ dataDir: first });
  const database = open(primary.connection);
  await migrateUp(database);
  await importDumpRows(validateDump(catalogue()), database, { tokenVault: new TokenVault(SECRET_KEY) });
  await createStandby(primary.connection, first, second);
  standby = await openEmbeddedDatabase({ dataDir: second });
  const [DATABASE_URL, DATABASE_REPLICA_URL] = [primary, standby].map(({ connection }) => urlOf(connection)) as [string, string];
  // Long timeouts: on a slow machine, only one of the two servers might time out.
  const LONG_TIMEOUTS = { STATEMENT_TIMEOUT: '1min', ANONYMOUS_TIMEOUT: '1min' };
  fitgraph = await Fitgraph.start({
    sameDatabaseAs: { database },
    environment: { DATABASE_URL, DATABASE_REPLICA_URL, DATABASE_REPLICA_LAG: '2s', METRICS_TOKEN, ...LONG_TIMEOUTS },
  });
  withoutReplica = await Fitgraph.start({ sameDatabaseAs: { database }, environment: LONG_TIMEOUTS });
  await database.close();
});

afterAll(async () => {
  await fitgraph?.stop();
  await withoutReplica?.stop();
  await standby?.release();
  await primary?.release();
  fs.rmSync(folder, { recursive: true, force: true });
});

beforeEach(waitUntilUsed);

describe('public rows', () => {
  test('are read from the standby for anonymous clients', async () => {
    await readFromReplica(() => fitgraph.anonymous.get('/exercise/'));
    await readFromReplica(() => fitgraph.anonymous.ask(NAMES), 2);
    await readFromReplica(async () => expect((await fitgraph.anonymous.get('/exercise/?language=2&limit=2&offset=1')).status).toBe(200));
  });

  test(seeded('are the same with and without a standby, for lists and random documents'), async () => {
    /** Sorts the errors of a response, because fields are resolved concurrently, and removes the URL of the server. */
    const of = (one: Fitgraph, text: string) => {
      const answer = JSON.parse(text.replaceAll(one.url, '')) as { errors?: object[] };
      return JSON.stringify({ ...answer, errors: answer.errors?.map((error) => JSON.stringify(error)).sort() });
    };
    const onBothServers = (work: (one: Fitgraph) => Promise<{ text: string }>) =>
      Promise.all([fitgraph, withoutReplica].map(async (one) => of(one, (await work(one)).text)));
    for (const name of LISTS) {
      const [found, expected] = await onBothServers((one) => one.anonymous.get(`/${name}/?limit=7`));
      expect(found).toBe(expected);
    }
    const documents = new Documents(buildGraphQLSchema(), randomFor('documents for the standby'));
    let replicaReads = 0;
    // Continues until enough documents were read from the standby, because not every document is.
    for (let number = 0; number < 150 || replicaReads <= 40; number += 1) {
      const { text: query, kind, operationName, variables } = documents.next();
      // The two servers have separate budgets.
      if (kind !== 'query' || query.includes('rateLimit')) continue;
      const [count, [found, expected]] = await countReplicaReads(() =>
        onBothServers((one) => one.anonymous.send('POST', '/graphql', { query, operationName, variables })),
      );
      expect([query, found]).toEqual([query, expected]);
      replicaReads += count;
    }
  });

  test('are read from the primary after a change until the standby has replayed it', async () => {
    await pauseReplay();
    try {
      for (const name of ['One', 'Two', 'Three']) {
        const previousCount = fitgraph.services.notificationListener.notificationCount;
        await rename(name);
        await until(
          'the change notification is received',
          async () => fitgraph.services.notificationListener.notificationCount > previousCount,
        );
        expect(await readName()).toBe(name);
      }
      expect((await countReplicaReads(readName))[0]).toBe(0);
    } finally {
      await resumeReplay();
    }
    await waitUntilUsed();
    expect(await countReplicaReads(readName)).toEqual([expect.any(Number), 'Three']);
    await readFromReplica(readName);
  });

  test('are read from the primary while the standby lags too far behind', async () => {
    await pauseReplay();
    try {
      // A change that increases the lag without a notification.
      await ask(primary, 'CREATE TABLE "nothing" ()');
      await waitUntilUnused();
      expect(fitgraph.logged.some((line) => line.includes('its replication lag is too high'))).toBe(true);
      expect(await countReplicaReads(readName)).toEqual([0, 'Three']);
    } finally {
      await resumeReplay();
    }
    await waitUntilUsed();
    await until('the replica has caught up', () => replica().lagSeconds! < 2);
  });
});

describe('requests of a signed-in user', () => {
  test('never read from the standby, not even public rows', async () => {
    await pauseReplay();
    try {
      const ann = await fitgraph.user('ann');
      const [count] = await countReplicaReads(async () => {
        for (let day = 1; day <= 9; day += 1) {
          const { body } = await ann.post('/weightentry/', { date: `2024-01-0${day}`, weight: '80.00' });
          expect((await ann.get(`/weightentry/${body.id}/`)).status).toBe(200);
          expect((await ann.get('/weightentry/')).body.count).toBe(day);
        }
        await ann.get('/exercise/');
      });
      expect(count).toBe(0);
    } finally {
      await resumeReplay();
    }
  });
});

test.each([undefined, 'transaction'] as const)('applies the viewer role to reads from the standby (pooling: %s)', async (pooling) => {
  const { options } = fitgraph.database;
  const database = new Database({ ...options, poolerMode: pooling, directConnection: options.connection });
  try {
    await activateViewerRole(database, () => undefined);
    database.replica!.startMonitoring((text) => database.queryAsServer(text), database.sessionUsers.role, createLogger('silent'));
    await until('the replica is used', async () => database.replica!.isUsable);
    const session = database.createSession();
    session.setClient('anonymous', 'somebody');
    const read = () =>
      session.queryMaybeStale(
        `SELECT current_user::text AS "role", pg_is_in_recovery() AS "there", current_setting('fitgraph.viewer', true) AS "viewer"`,
      );
    expect(await read()).toEqual([{ role: database.sessionUsers.role, there: true, viewer: '' }]);
    expect(database.sessionUsers.role).toBeDefined();
    // A session that has read from the primary continues to read from it.
    await session.query('SELECT 1');
    expect(await read()).toEqual([{ role: database.sessionUsers.role, there: false, viewer: '' }]);
  } finally {
    await database.close();
  }
});

describe('requests of anonymous clients', () => {
  /** Returns the distinct statuses of the requests that four clients send while `happening` runs. */
  async function readWhile(happening: () => Promise<unknown>): Promise<number[]> {
    const statuses = new Set<number>();
    let isStopped = false;
    const reading = Array.from({ length: 4 }, async () => {
      while (!isStopped)
        for (const name of ['exercise', 'ingredient']) statuses.add((await fitgraph.anonymous.get(`/${name}/?limit=5`)).status);
    });
    await happening();
    isStopped = true;
    await Promise.all(reading);
    return [...statuses];
  }

  test('succeed while connections to the standby are terminated', async () => {
    const ended = await readWhile(async () => {
      for (let times = 0; times < 5; times += 1) {
        await ask(standby, `SELECT pg_terminate_backend("pid") FROM pg_stat_activity WHERE "application_name" = 'fitgraph'`);
        await sleep(100);
      }
    });
    expect(ended).toEqual([200]);
  });

  test('succeed while the standby is stopped and started again', async () => {
    const statuses = await readWhile(async () => {
      await standby.release();
      await waitUntilUnused();
      await sleep(300);
      standby = await openEmbeddedDatabase({ dataDir: second });
      await waitUntilUsed();
    });
    expect(statuses).toEqual([200]);
  });
});

test('exports metrics about the replica', async () => {
  const headers = { Authorization: `Bearer ${METRICS_TOKEN}` };
  const { text } = await fitgraph.anonymous.withHeaders(headers).send('GET', '/metrics');
  expect(text).toMatch(/^fitgraph_replica_used 1$/m);
  expect(text).toMatch(new RegExp(`^fitgraph_replica_statements_total ${replica().statementCount}$`, 'm'));
  expect(text).toMatch(/^fitgraph_database_connections_idle\{pool="replica"\} [1-9]/m);
  // The metric is present even while the next check runs.
  for (let scrape = 0; scrape < 50; scrape += 1)
    expect((await fitgraph.anonymous.withHeaders(headers).send('GET', '/metrics')).text).toMatch(/^fitgraph_replica_lag_seconds \d/m);
});

test.each([
  ['the primary itself', () => urlOf(primary.connection), 'it is not a standby'],
  ['unreachable', () => 'postgres://nobody@localhost:1/nothing', expect.stringContaining('ECONNREFUSED')],
  // The query of each inspection fails on a connection that the next inspection uses again.
  ['not migrated', () => urlOf({ ...primary.connection, database: 'postgres' }), 'relation "change_log" does not exist'],
])('reports a replica that is %s', async (_what, url, why) => {
  const connection = { connectionString: url() };
  const wrong = new Replica({ connection, maxLagMs: 2_000 }, () => new Pool({ ...connection, max: 1, connectionTimeoutMillis: 10_000 }));
  try {
    expect(await wrong.waitUntilUsable((text) => fitgraph.database.queryAsServer(text))).toEqual(why);
  } finally {
    wrong.stop();
    await wrong.pool.end();
  }
});
