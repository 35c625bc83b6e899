/** Clients that disconnect before the response: their reads are cancelled, their writes are atomic. */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import WebSocket from 'ws';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { until } from '../../setup/waits';

const fitgraph = fitgraphForThisFile({ environment: { ANONYMOUS_TIMEOUT: 'off', STATEMENT_TIMEOUT: 'off', LOCK_TIMEOUT: 'off' } });

/** Connections of the test, outside the server's pools. */
const [watcher, blocker] = [() => clients[0]!, () => clients[1]!];
let clients: Client[];
beforeAll(async () => {
  clients = [1, 2].map(() => new Client(fitgraph.database.options.connection));
  // The database is stopped before these connections end.
  for (const client of clients) await client.on('error', () => undefined).connect();
});

/** The server's active statements, with the kind of event that each waits for. */
const running = async (): Promise<{ waitsFor: string }[]> =>
  (
    await watcher().query(
      `SELECT wait_event_type AS "waitsFor" FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'fitgraph' AND state = 'active'`,
    )
  ).rows;
const waiting = async () => (await running()).filter(({ waitsFor }) => waitsFor === 'Lock').length;

/** Waits until the statements are cancelled. Nothing else ends them: the lock is still held, and timeouts are off. */
const cancelled = () => until('the statements are cancelled', async () => (await running()).length === 0);

/** Locks the table during `work`, so that statements on it wait. */
async function locked<T>(table: string, work: () => Promise<T>, mode = 'ACCESS EXCLUSIVE'): Promise<T> {
  await blocker().query('BEGIN');
  try {
    await blocker().query(`LOCK TABLE "${table}" IN ${mode} MODE`);
    return await work();
  } finally {
    await blocker().query('ROLLBACK');
  }
}

/** Sends a request. Returns a function that disconnects. */
function asked(method: string, path: string, body?: unknown, headers: http.OutgoingHttpHeaders = {}): () => void {
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
  ['REST', () => asked('GET', '/api/v2/exercise/')],
  ['GraphQL', () => asked('POST', '/graphql', { query: '{ exercises(first: 5) { totalCount nodes { name } } }' })],
  [
    'GraphQL with several fields',
    () =>
      asked('POST', '/graphql', {
        query: '{ a: exercises(first: 5) { nodes { name } } b: exercises { totalCount } c: exercises(first: 9) { totalCount } }',
      }),
  ],
  ['an HTML page', () => asked('GET', '/api/v2/exercise/', undefined, { Accept: 'text/html' })],
  [
    'server-sent events',
    () =>
      asked(
        'POST',
        '/graphql/stream',
        { query: 'subscription { changed(types: [EXERCISE]) { cursor } }' },
        { Accept: 'text/event-stream' },
      ),
  ],
];

test.each(READS)('cancels the reads of %s when the client disconnects', async (name, ask) => {
  await locked(name === 'server-sent events' ? 'change_log' : 'exercise', async () => {
    const leave = [ask(), ask()];
    await until('both wait', async () => (await waiting()) >= 2);
    for (const go of leave) go();
    await cancelled();
  });
  expect((await fitgraph.anyone.get('/exercise/')).status).toBe(200);
});

test('cancels the reads of a WebSocket subscription when the client disconnects', async () => {
  await locked('change_log', async () => {
    const socket = new WebSocket(`${fitgraph.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await new Promise((resolve) => socket.once('message', resolve));
    socket.send(
      JSON.stringify({ id: '1', type: 'subscribe', payload: { query: 'subscription { changed(types: [EXERCISE]) { cursor } }' } }),
    );
    await until('it waits', async () => (await waiting()) === 1);
    socket.terminate();
    await cancelled();
  });
});

test('serves other clients on connections whose earlier statements are cancelled', async () => {
  const answers = await locked('exercise', async () => {
    for (let round = 0; round < 20; round += 1) {
      const leave = Array.from({ length: 4 }, () => asked('GET', `/api/v2/exercise/?limit=${round + 1}`));
      await until('some wait', async () => (await waiting()) >= 1);
      const others = Array.from({ length: 10 }, () => fitgraph.anyone.get('/ingredient/'));
      for (const go of leave) go();
      for (const { status } of await Promise.all(others)) expect(status).toBe(200);
    }
    return fitgraph.anyone.get('/muscle/');
  });
  expect(answers.status).toBe(200);
});

test('drops a write during validation and completes one in its transaction when the client disconnects', async () => {
  const ann = await fitgraph.user('ann');
  const dates = Array.from({ length: 50 }, (_, day) => new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10));
  const many = {
    query: 'mutation ($inputs: [WeightEntryInput!]!) { createWeightEntries(inputs: $inputs) { __typename } }',
    variables: { inputs: dates.map((date) => ({ date, weight: '70' })) },
  };
  const held = async () => (await ann.get('/weightentry/')).body.count;

  // The client disconnects during validation, before the transaction.
  await locked('weight_entry', async () => {
    const leave = asked('POST', '/graphql', many, token(ann));
    await until('it waits', async () => (await waiting()) === 1);
    leave();
    await cancelled();
  });
  await sleep(100);
  expect(await held()).toBe(0);

  // The client disconnects during the transaction.
  await locked(
    'weight_entry',
    async () => {
      const leave = asked('POST', '/graphql', many, token(ann));
      await until('it waits', async () => (await waiting()) === 1);
      leave();
      await sleep(300);
      expect(await waiting()).toBe(1);
    },
    'SHARE',
  );
  await until('it is made', async () => (await held()) > 0);
  expect(await held()).toBe(50);
});

test('completes a write with an Idempotency-Key and keeps its response when the client disconnects', async () => {
  const bea = await fitgraph.user('bea');
  const entry = { date: '2024-01-01', weight: '70.00' };
  const headers = { 'Idempotency-Key': 'gone' };
  await locked('weight_entry', async () => {
    const leave = asked('POST', '/api/v2/weightentry/', entry, { ...token(bea), ...headers });
    await until('it waits', async () => (await waiting()) === 1);
    leave();
    await sleep(100);
  });
  await until('it is made', async () => (await bea.get('/weightentry/')).body.count === 1);
  await until('its answer is kept', async () => (await bea.sending(headers).post('/weightentry/', entry)).status === 201);
  expect((await bea.get('/weightentry/')).body.count).toBe(1);
});
