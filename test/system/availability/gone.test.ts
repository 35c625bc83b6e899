/**
 * Clients that disconnect before the response: their reads are cancelled, their writes are atomic.
 */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import WebSocket from 'ws';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { until } from '../../setup/waits';

const fitgraph = fitgraphForThisFile({
  environment: { ANONYMOUS_TIMEOUT: 'off', STATEMENT_TIMEOUT: 'off', LOCK_TIMEOUT: 'off' },
});

/** Connections of the test, outside the server's pools. */
const [watcher, blocker] = [() => clients[0]!, () => clients[1]!];
let clients: Client[];

beforeAll(async () => {
  clients = [1, 2].map(() => new Client(fitgraph.database.options.connection));
  // The database is stopped before these connections end.
  for (const client of clients) await client.on('error', () => undefined).connect();
});

/** The server's active statements, with the kind of event that each waits for. */
const activeStatements = async (): Promise<{ waitsFor: string }[]> =>
  (
    await watcher().query(
      `SELECT wait_event_type AS "waitsFor" FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'fitgraph' AND state = 'active'`,
    )
  ).rows;
const countLockWaits = async () =>
  (await activeStatements()).filter(({ waitsFor }) => waitsFor === 'Lock').length;

/**
 * Waits until the statements are cancelled. Nothing else ends them: the lock is still held, and
 * timeouts are off.
 */
const waitUntilCancelled = () =>
  until('the statements are cancelled', async () => (await activeStatements()).length === 0);

/** Locks the table during `work`, so that statements on it wait. */
async function withLockedTable<T>(
  table: string,
  work: () => Promise<T>,
  mode = 'ACCESS EXCLUSIVE',
): Promise<T> {
  await blocker().query('BEGIN');

  try {
    await blocker().query(`LOCK TABLE "${table}" IN ${mode} MODE`);
    return await work();
  } finally {
    await blocker().query('ROLLBACK');
  }
}

/** Sends a request. Returns a function that disconnects. */
function sendRequest(
  method: string,
  path: string,
  body?: unknown,
  headers: http.OutgoingHttpHeaders = {},
): () => void {
  const request = http.request(`${fitgraph.url}${path}`, {
    method,
    agent: false,
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
  });

  request.on('error', () => undefined);
  request.end(body === undefined ? undefined : JSON.stringify(body));
  return () => request.destroy();
}

const token = (person: { token: string }) => ({ Authorization: `Token ${person.token}` });

const READS: [string, () => () => void][] = [
  ['REST', () => sendRequest('GET', '/api/v2/exercise/')],
  [
    'GraphQL',
    () =>
      sendRequest('POST', '/graphql', {
        query: '{ exerciseTranslations(first: 5) { totalCount nodes { name } } }',
      }),
  ],
  [
    'GraphQL with several fields',
    () =>
      sendRequest('POST', '/graphql', {
        query:
          '{ a: exerciseTranslations(first: 5) { nodes { name } } b: exerciseTranslations { totalCount } c: exerciseTranslations(first: 9) { totalCount } }',
      }),
  ],
  [
    'an HTML page',
    () => sendRequest('GET', '/api/v2/exercise/', undefined, { Accept: 'text/html' }),
  ],
  [
    'server-sent events',
    () =>
      sendRequest(
        'POST',
        '/graphql/stream',
        { query: 'subscription { changed(types: [EXERCISE]) { cursor } }' },
        { Accept: 'text/event-stream' },
      ),
  ],
];

test.each(READS)('cancels the reads of %s when the client disconnects', async (name, ask) => {
  await withLockedTable(name === 'server-sent events' ? 'change_log' : 'exercise', async () => {
    const disconnects = [ask(), ask()];
    // The statements of one network for subscriptions run one after the other.
    const expected = name === 'server-sent events' ? 1 : 2;

    await until(
      'the statements wait for the lock',
      async () => (await countLockWaits()) >= expected,
    );
    for (const go of disconnects) go();
    await waitUntilCancelled();
  });
  expect((await fitgraph.anonymous.get('/exercise/')).status).toBe(200);
});

test('cancels the reads of a WebSocket subscription when the client disconnects', async () => {
  await withLockedTable('change_log', async () => {
    const socket = new WebSocket(
      `${fitgraph.url.replace('http', 'ws')}/graphql`,
      'graphql-transport-ws',
    );

    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await new Promise((resolve) => socket.once('message', resolve));
    socket.send(
      JSON.stringify({
        id: '1',
        type: 'subscribe',
        payload: { query: 'subscription { changed(types: [EXERCISE]) { cursor } }' },
      }),
    );
    await until('the statement waits for the lock', async () => (await countLockWaits()) === 1);
    socket.terminate();
    await waitUntilCancelled();
  });
});

test('serves other clients on connections whose earlier statements are cancelled', async () => {
  const answers = await withLockedTable('exercise', async () => {
    for (let round = 0; round < 20; round += 1) {
      const disconnects = Array.from({ length: 4 }, () =>
        sendRequest('GET', `/api/v2/exercise/?limit=${round + 1}`),
      );

      await until('a statement waits for the lock', async () => (await countLockWaits()) >= 1);
      const otherRequests = Array.from({ length: 10 }, () =>
        fitgraph.anonymous.get('/ingredient/'),
      );

      for (const go of disconnects) go();
      for (const { status } of await Promise.all(otherRequests)) expect(status).toBe(200);
    }

    return fitgraph.anonymous.get('/muscle/');
  });

  expect(answers.status).toBe(200);
});

test('drops a write during validation and completes one in its transaction when the client disconnects', async () => {
  const ann = await fitgraph.user('ann');
  const dates = Array.from({ length: 50 }, (_, day) =>
    new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10),
  );
  const many = {
    query:
      'mutation ($inputs: [WeightEntryInput!]!) { createWeightEntries(inputs: $inputs) { __typename } }',
    variables: { inputs: dates.map((date) => ({ date, weight: '70' })) },
  };
  const countEntries = async () => (await ann.get('/weightentry/')).body.count;

  // The client disconnects during validation, before the transaction.
  await withLockedTable('weight_entry', async () => {
    const disconnect = sendRequest('POST', '/graphql', many, token(ann));

    await until('the write waits for the lock', async () => (await countLockWaits()) === 1);
    disconnect();
    await waitUntilCancelled();
  });
  await sleep(100);
  expect(await countEntries()).toBe(0);

  // The client disconnects during the transaction.
  await withLockedTable(
    'weight_entry',
    async () => {
      const disconnect = sendRequest('POST', '/graphql', many, token(ann));

      await until('the write waits for the lock', async () => (await countLockWaits()) === 1);
      disconnect();
      await sleep(300);
      expect(await countLockWaits()).toBe(1);
    },
    'SHARE',
  );
  await until('the entry is created', async () => (await countEntries()) > 0);
  expect(await countEntries()).toBe(50);
});

test('completes a write with an Idempotency-Key and keeps its response when the client disconnects', async () => {
  const bea = await fitgraph.user('bea');
  const entry = { date: '2024-01-01', weight: '70.00' };
  const headers = { 'Idempotency-Key': 'gone' };

  await withLockedTable('weight_entry', async () => {
    const disconnect = sendRequest('POST', '/api/v2/weightentry/', entry, {
      ...token(bea),
      ...headers,
    });

    await until('the write waits for the lock', async () => (await countLockWaits()) === 1);
    disconnect();
    await sleep(100);
  });
  await until(
    'the entry is created',
    async () => (await bea.get('/weightentry/')).body.count === 1,
  );
  await until(
    'the response is stored',
    async () => (await bea.withHeaders(headers).post('/weightentry/', entry)).status === 201,
  );
  expect((await bea.get('/weightentry/')).body.count).toBe(1);
});
