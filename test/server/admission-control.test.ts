/** Requests that admission control sheds: when it does, and how they are logged and counted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { dripping, type Dripping } from '../setup/slow-upload';
import { Fitgraph, fitgraphForThisFile } from '../setup/fitgraph';
import { LONG_TIMEOUT_MS, until } from '../setup/waits';

const METRICS_TOKEN = 'a token for metrics of this file only';
const fitgraph = fitgraphForThisFile({ environment: { MAX_LAG: '100ms', METRICS_TOKEN } });

/** Blocks the event loop, which the server shares with the test. */
const blockEventLoop = (ms = 300) =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/**
 * Blocks the event loop repeatedly, until the measured lag makes the server shed requests of
 * anonymous clients.
 */
async function overloadServer() {
  for (let pauses = 0; pauses < 8; pauses += 1) {
    blockEventLoop();
    await sleep(10);
  }
}

test('sheds no request after a single long pause', async () => {
  const withHighMaxLag = await Fitgraph.start({
    environment: { MAX_LAG: '1s' },
    sameDatabaseAs: fitgraph,
  });

  try {
    expect((await withHighMaxLag.anonymous.get('/muscle/')).status).toBe(200);
    blockEventLoop(3_000);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => withHighMaxLag.anonymous.get('/muscle/')),
    );

    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
  } finally {
    await withHighMaxLag.stop();
  }
});

test(
  'sheds no request of a few sequential clients, whatever the event-loop lag',
  async () => {
    const statuses: number[] = [];

    const client = async () => {
      for (let requests = 0; requests < 20; requests += 1) {
        statuses.push((await fitgraph.anonymous.get('/muscle/')).status);
      }
    };

    let isOver = false;
    const clients = Promise.all(Array.from({ length: 4 }, client)).then(() => (isOver = true));

    while (!isOver) await overloadServer();
    await clients;
    expect(statuses).toEqual(Array(80).fill(200));
    await waitUntilIdle();
  },
  LONG_TIMEOUT_MS,
);

interface Line {
  id: string;
  method: string;
  path: string;
  status: number;
  address: string;
  reason: string;
  msg: string;
}

test('logs shed requests under their X-Request-Id and without the query string', async () => {
  const shedStatusById = new Map<string, number>();

  await until('some requests are shed', async () => {
    await overloadServer();
    const requests = Array.from({ length: 50 }, () =>
      fetch(`${fitgraph.url}/api/v2/muscle/?secret=plugh`),
    );
    const answers = await Promise.all(requests);

    for (const answer of answers) {
      await answer.arrayBuffer();

      if (answer.status === 503) {
        shedStatusById.set(answer.headers.get('x-request-id')!, answer.status);
      }
    }

    return shedStatusById.size > 10;
  });
  const rejected = fitgraph.logged
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => msg === 'rejected');

  expect(new Set(rejected.map(({ id }) => id))).toEqual(new Set(shedStatusById.keys()));

  for (const { method, path, status, address, reason } of rejected) {
    expect({ method, path, status }).toEqual({
      method: 'GET',
      path: '/api/v2/muscle/',
      status: 503,
    });
    expect(address).toMatch(/^(127\.0\.0\.1|::1)$/);
    expect(['overload', 'queue_timeout']).toContain(reason);
  }

  expect(fitgraph.logged.join('')).not.toContain('plugh');
  await waitUntilIdle();
});

test('counts each shed request once in the metrics', async () => {
  const { status, text } = await fitgraph.anonymous
    .withHeaders({ Authorization: `Bearer ${METRICS_TOKEN}` })
    .send('GET', '/metrics');

  expect(status).toBe(200);
  const counted = [
    ...text.matchAll(/^fitgraph_rejections_total\{reason="(?:overload|queue_timeout)"\} (\d+)$/gm),
  ].map(([, count]) => Number(count));
  const lines = fitgraph.logged.filter((line) => (JSON.parse(line) as Line).msg === 'rejected');

  expect(lines.length).toBeGreaterThan(10);
  expect(counted.reduce((sum, count) => sum + count)).toBe(lines.length);
});

test('reports a shed GraphQL request with the same code and delay as an overloaded resolver', async () => {
  const shed: { body: unknown; retryAfter: string | null }[] = [];

  await until('some requests are shed', async () => {
    await overloadServer();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => fetch(`${fitgraph.url}/graphql?query={__typename}`)),
    );

    for (const answer of answers) {
      const body: unknown = await answer.json();

      if (answer.status === 503) shed.push({ body, retryAfter: answer.headers.get('retry-after') });
    }

    return shed.length > 10;
  });
  const message = 'The server is overloaded. Try again in a moment.';

  for (const { body, retryAfter } of shed) {
    expect(body).toEqual({
      errors: [{ message, extensions: { code: 'OVERLOADED', retryAfter: Number(retryAfter) } }],
    });
    expect(Number(retryAfter)).toBeGreaterThan(0);
  }

  await waitUntilIdle();
});

test('lets pages of other origins read that a request was shed, and sheds no preflight request', async () => {
  const shedOrigins: (string | null)[] = [];
  const url = `${fitgraph.url}/graphql?query={__typename}`;
  const Origin = 'https://app.example.com';
  const preflight = {
    method: 'OPTIONS',
    headers: { Origin, 'Access-Control-Request-Method': 'POST' },
  };

  await until('some requests are shed', async () => {
    await overloadServer();
    const [answers, preflightAnswers] = await Promise.all(
      [{ headers: { Origin } }, preflight].map((init) =>
        Promise.all(Array.from({ length: 50 }, () => fetch(url, init))),
      ),
    );

    for (const { status, headers } of answers!) {
      if (status === 503) shedOrigins.push(headers.get('access-control-allow-origin'));
    }

    expect(new Set(preflightAnswers!.map(({ status }) => status))).toEqual(new Set([200]));

    return shedOrigins.length > 10;
  });
  expect(new Set(shedOrigins)).toEqual(new Set(['*']));
  await waitUntilIdle();
});

/** Waits until requests are no longer shed. */
const waitUntilIdle = () =>
  until('no requests are shed', async () => {
    await sleep(200);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => fitgraph.anonymous.get('/muscle/')),
    );

    return answers.every(({ status }) => status === 200);
  });

test('closes the connection of a shed request without waiting for its body', async () => {
  const port = Number(new URL(fitgraph.url).port);
  const shedConnections: Dripping[] = [];

  await until('some requests are shed', async () => {
    await overloadServer();
    const connections = Array.from({ length: 50 }, () => dripping(port));

    await sleep(200);

    for (const one of connections) {
      if (one.answer().startsWith('HTTP/1.1 503')) shedConnections.push(one);
      else one.leave();
    }

    return shedConnections.length > 10;
  });
  // The server must close these connections, because the clients would never stop sending.
  await until('the server has closed the connections', () =>
    shedConnections.every((one) => one.isOver()),
  );
  for (const one of shedConnections) one.leave();
  await waitUntilIdle();
});
