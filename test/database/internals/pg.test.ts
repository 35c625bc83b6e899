/** Private members of pg that `src/database/internals/pg.ts` uses. */
import { once } from 'node:events';
import net from 'node:net';
import { Client, type Connection, type PoolConfig } from 'pg';
import { cancelStatement } from '../../../src/database/cancel';
import {
  backendKeyOf,
  closePreparedStatement,
  NamedQuery,
  socketOf,
  type PrecedingStatement,
} from '../../../src/database/internals/pg';
import { createDatabase } from '../../setup/databases';
import { until } from '../../setup/waits';

let database: Awaited<ReturnType<typeof createDatabase>>;
let client: Client;

beforeAll(async () => {
  database = await createDatabase('nothing');
});
afterAll(() => database.drop());

beforeEach(async () => {
  client = new Client(database.connection as PoolConfig as object);
  client.on('error', () => undefined);
  await client.connect();
});
afterEach(() => client.end());

interface Outcome {
  error: (Error & { code?: string }) | null;
  rows: Record<string, unknown>[];
}

const run = (name: string, text: string, before?: PrecedingStatement): Promise<Outcome> =>
  new Promise((resolve) => {
    client.query(
      new NamedQuery(
        name,
        text,
        [],
        { sqlTextLength: text.length },
        client,
        (error, rows) => resolve({ error, rows }),
        before,
      ),
    );
  });

const value = async (text: string): Promise<unknown> => {
  const { rows } = await run('', `SELECT ${text} AS "value"`);

  return rows[0]!.value;
};

const setUser = (user: string): PrecedingStatement => ({
  text: `SELECT WHERE set_config('test.user', $1, false) IS NULL`,
  values: [user],
});

/** Returns pg's records of prepared statements, by name. */
const records = () => {
  const { parsedStatements, submittedNamedStatements } = client.connection as Connection &
    Record<string, Record<string, string>>;

  return { parsed: parsedStatements!, submitted: submittedNamedStatements! };
};

test('the socket is the one of the connection', () => {
  expect(socketOf(client)).toBeInstanceOf(net.Socket);
});

test('the backend key is that of the connection, and cancels its statement', async () => {
  const { processID, secretKey } = backendKeyOf(client);

  expect(processID).toBe(await value('pg_backend_pid()'));
  expect(Number.isInteger(secretKey)).toBe(true);
  const sleeping = run('', 'SELECT pg_sleep(3600)');
  // Waits until the statement runs, because PostgreSQL ignores a CancelRequest for a backend that
  // has not begun its statement.
  const observer = new Client(database.connection as PoolConfig as object);

  await observer.connect();
  const isAsleep = async () =>
    (
      await observer.query(
        `SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'`,
        [processID],
      )
    ).rowCount === 1;

  await until('the statement runs', isAsleep);
  await observer.end();
  await cancelStatement(client as never);
  expect((await sleeping).error?.code).toBe('57014');
});

test('pg records a prepared statement when PostgreSQL has confirmed it', async () => {
  const running = run('one', 'SELECT 1');

  expect(records()).toEqual({ parsed: {}, submitted: { one: 'SELECT 1' } });
  expect(closePreparedStatement(client, 'one')).toBe(false);
  await running;
  expect(records()).toEqual({ parsed: { one: 'SELECT 1' }, submitted: {} });
  expect(closePreparedStatement(client, 'one')).toBe(true);
  expect(records().parsed).toEqual({});
  expect(await value('(SELECT count(*)::int FROM pg_prepared_statements)')).toBe(0);
  // A closed statement is prepared again.
  expect((await run('one', 'SELECT 1')).error).toBeNull();
});

test('a statement is prepared again after its result has changed', async () => {
  await run('', 'CREATE TEMPORARY TABLE "changing" ("a" integer)');
  const read = () => run('changing', 'SELECT * FROM "changing"');

  expect((await read()).error).toBeNull();
  await run('', 'ALTER TABLE "changing" ADD COLUMN "b" integer');
  expect((await read()).error?.code).toBe('0A000');
  expect((await read()).error).toBeNull();
});

test('a CancelRequest that is not processed in time is reported, because it may still cancel another statement', async () => {
  const silentServer = net
    .createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => undefined))
    .listen(0, '127.0.0.1');

  await once(silentServer, 'listening');
  const { port } = silentServer.address() as net.AddressInfo;
  const elsewhere = Object.create(client, {
    host: { value: '127.0.0.1' },
    port: { value: port },
  }) as never;

  expect(await cancelStatement(elsewhere)).toBe(false);
  silentServer.close();
  expect(await cancelStatement(client as never)).toBe(true);
});

test('the preceding statement is sent before the same Sync, and is prepared once', async () => {
  expect(
    (await run('named', `SELECT current_setting('test.user') AS "user"`, setUser('ann'))).rows,
  ).toEqual([{ user: 'ann' }]);
  expect(
    (await run('named', `SELECT current_setting('test.user') AS "user"`, setUser('bob'))).rows,
  ).toEqual([{ user: 'bob' }]);
  expect(await value(`(SELECT count(*)::int FROM pg_prepared_statements)`)).toBe(2);
});

test('a query is not run if the preceding statement fails', async () => {
  await run('', 'CREATE TEMP TABLE "written" ("id" int)');
  const { error } = await run('insertion', 'INSERT INTO "written" VALUES (1)', {
    text: 'SELECT 1 / $1::int',
    values: ['0'],
  });

  expect(error?.code).toBe('22012');
  expect(await value('(SELECT count(*)::int FROM "written")')).toBe(0);
});

test('in pipeline mode a query is run even if the one before it fails', async () => {
  const pipeline = new Client({ ...database.connection, pipeline: true });

  await pipeline.connect();
  await pipeline.query('CREATE TEMP TABLE "written" ("id" int)');
  const outcomes = await Promise.allSettled([
    pipeline.query('SELECT 1 / $1::int', [0]),
    pipeline.query('INSERT INTO "written" VALUES ($1)', [1]),
  ]);

  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  await pipeline.end();
});
