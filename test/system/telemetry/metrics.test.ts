/** Metrics: access, content, and bounds on labels that clients choose. */
import { createServer, type AddressInfo } from 'node:net';
import { build, Installation } from '../../setup/server-process';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { until } from '../../setup/waits';

const TOKEN = 'a token of the metrics';
const fitgraph = fitgraphForThisFile({
  environment: { METRICS_TOKEN: TOKEN, LOGIN_RATE: '2/min' },
});
const reader = () => fitgraph.anonymous.withHeaders({ Authorization: `Bearer ${TOKEN}` });
let ann: Person;

beforeAll(async () => (ann = await fitgraph.user('ann')));

/** Parses metrics. Returns the values by name with labels, as printed: `name{a="b"}`. */
const valuesOf = (text: string): Map<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => [
        line.slice(0, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' ') + 1)),
      ]),
  );
const readMetrics = async () => valuesOf((await reader().send('GET', '/metrics')).text);
const sum = (values: Map<string, number>, start: string) =>
  [...values]
    .filter(([name]) => name.startsWith(start))
    .reduce((total, [, value]) => total + value, 0);

/**
 * Waits until a metric has a value, because a response is counted only after its connection has
 * accepted it.
 */
async function waitUntilCounted(what: string, expected: number): Promise<void> {
  await until(`${what} is ${expected}`, async () => (await readMetrics()).get(what) === expected);
}

describe('/metrics', () => {
  test('returns 404 when METRICS_TOKEN is not set', async () => {
    const withoutToken = await Fitgraph.start({ sameDatabaseAs: fitgraph });

    expect((await withoutToken.anonymous.send('GET', '/metrics')).status).toBe(404);
    await withoutToken.stop();
  });

  test.each([
    ['without a token', {}],
    ['with a wrong token', { Authorization: 'Bearer another token' }],
    ['with the token of a user', 'ann'],
    ['with a very long token', { Authorization: `Bearer ${TOKEN.repeat(400)}` }],
  ])('returns 401 %s', async (_what, headers) => {
    const person = typeof headers === 'string' ? ann : fitgraph.anonymous.withHeaders(headers);
    const answer = await person.send('GET', '/metrics');

    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    expect(answer.text).not.toContain('fitgraph_');
  });

  test('returns the metrics with METRICS_TOKEN', async () => {
    const answer = await reader().send('GET', '/metrics');

    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const values = valuesOf(answer.text);

    expect([
      values.get('fitgraph_ready'),
      values.get('fitgraph_degraded{reason="disk_full"}'),
    ]).toEqual([1, 0]);

    // `promtool check metrics` rejects the label "quantile" on a gauge.
    for (const name of ['p50', 'p99', 'max']) {
      expect(values.get(`fitgraph_event_loop_lag_${name}_seconds`)).toBeGreaterThanOrEqual(0);
    }

    expect(answer.text).not.toContain('quantile=');
  });
});

test('reports why an instance is degraded, which stays ready', async () => {
  await fitgraph.sql('ALTER TABLE "weight_entry" RENAME TO "renamed"');

  try {
    await waitUntilCounted('fitgraph_degraded{reason="table_missing"}', 1);
    expect((await readMetrics()).get('fitgraph_ready')).toBe(1);
  } finally {
    await fitgraph.sql('ALTER TABLE "renamed" RENAME TO "weight_entry"');
  }

  await waitUntilCounted('fitgraph_degraded{reason="table_missing"}', 0);
});

test('counts requests by route pattern, without ids and query strings', async () => {
  for (const id of [1, 2, 3]) await ann.get(`/exercise/${id}/`);
  await ann.get('/workout/?comment=xyzzyx');
  await ann.send('GET', '/nothing/here');
  await ann.send('GET', '/nothing/there');
  for (const path of ['/docs', '/docs/analysts', '/healthz']) await ann.send('GET', path);
  const rest = 'fitgraph_http_requests_total{method="GET",status="200",route="/api/v2/';

  await waitUntilCounted(`${rest}workout/"}`, 1);
  await waitUntilCounted(
    'fitgraph_http_requests_total{method="GET",status="404",route="other"}',
    2,
  );
  const values = await readMetrics();
  const countOf = (route: string) =>
    values.get(`fitgraph_http_requests_total{method="GET",status="200",route="${route}"}`);

  expect([countOf('/docs'), countOf('/healthz')]).toEqual([2, 1]);
  expect(
    sum(values, 'fitgraph_http_request_duration_seconds_count{route="/api/v2/exercise/{id}/"}'),
  ).toBe(3);
  expect([...values.keys()].filter((name) => /xyzzyx|nothing/.test(name))).toEqual([]);
});

test('counts operations by name, and excess names of anonymous clients as "other"', async () => {
  await ann.query('query Mine { workouts { totalCount } }');
  await ann.query('{ workouts { totalCount } }');

  for (let number = 0; number < 60; number += 1) {
    await fitgraph.anonymous.query(`query Stranger${number} { __typename }`);
  }

  await ann.query('query Mine { workouts { totalCount } }');
  const of = (name: string) =>
    `fitgraph_graphql_operation_duration_seconds_count{operation="${name}"}`;

  await waitUntilCounted(of('Mine'), 2);
  await waitUntilCounted(of('other'), 10);
  const values = await readMetrics();

  expect(values.get(of('(none)'))).toBeGreaterThan(0);
  expect(
    [...values.keys()].filter((name) => name.startsWith(of('Stranger').slice(0, -2))),
  ).toHaveLength(50);
});

test('counts statements, costs, errors and rejections', async () => {
  const before = await readMetrics();

  await ann.get('/weightentry/');
  await ann.query('{ exercises(first: -1) { totalCount } }');

  for (let tries = 0; tries < 3; tries += 1) {
    await fitgraph.anonymous.post('/login/', { username: 'nobody', password: 'wrong password' });
  }

  await waitUntilCounted('fitgraph_rejections_total{reason="login"}', 1);
  const after = await readMetrics();
  const growthOf = (name: string) => sum(after, name) - sum(before, name);

  expect(growthOf('fitgraph_statements_total')).toBeGreaterThan(2);
  expect(growthOf('fitgraph_statement_seconds_total')).toBeGreaterThan(0);
  expect(growthOf('fitgraph_operation_cost_count{api="rest"}')).toBeGreaterThan(0);
  expect(growthOf('fitgraph_errors_total{api="graphql",code="BAD_USER_INPUT"}')).toBe(1);
  expect(after.get('fitgraph_limiter_slots{limiter="users"}')).toBe(15);
  expect(after.get('fitgraph_listener_connected')).toBe(1);
  expect(after.get('fitgraph_cache_entries{cache="reference_rows"}')).toBeGreaterThan(0);
  expect(after.get('fitgraph_database_connections_idle{pool="users"}')).toBeGreaterThan(0);
});

test('counts open subscriptions and their connections', async () => {
  const stop = new AbortController();
  const subscription = 'subscription { changed { cursor } }';
  const stream = await fetch(
    `${fitgraph.url}/graphql/stream?query=${encodeURIComponent(subscription)}`,
    {
      headers: { Accept: 'text/event-stream', Authorization: `Token ${ann.token}` },
      signal: stop.signal,
    },
  );

  expect(stream.status).toBe(200);
  await waitUntilCounted('fitgraph_subscriptions', 1);
  expect((await readMetrics()).get('fitgraph_subscription_connections{transport="sse"}')).toBe(1);
  stop.abort();
  await waitUntilCounted('fitgraph_subscriptions', 0);
});

async function freePort(): Promise<number> {
  const server = createServer();

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('sums the workers that serve', async () => {
  build();
  const installation = await Installation.started();

  try {
    const port = await freePort();
    const server = await installation.start({ WEB_CONCURRENCY: '2', METRICS_PORT: String(port) });
    const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const workers = async (count: number) =>
      until(
        `${count} workers serve`,
        async () => valuesOf(await scrape()).get('fitgraph_workers') === count,
      );

    await workers(2);
    const requests =
      'fitgraph_http_requests_total{method="GET",status="200",route="/api/v2/language/"}';

    for (let number = 0; number < 20; number += 1) {
      await server.anonymous.withHeaders({ Connection: 'close' }).get('/language/');
    }

    await until(
      'all requests are counted',
      async () => valuesOf(await scrape()).get(requests) === 20,
    );
    expect(valuesOf(await scrape()).get('fitgraph_listener_connected')).toBe(2);

    process.kill(server.workers[0]!, 'SIGKILL');
    await until(
      'the worker is replaced',
      async () =>
        valuesOf(await scrape()).get('fitgraph_worker_exits_total{reason="crashed"}') === 1,
    );
    await workers(2);
    // Scraping has not started a server: each of the three workers has logged `ready` once, and
    // only the first start has printed the URLs.
    const ready = () => server.stdout.match(/"msg":"ready"/g)?.length;

    await until('the replacement has reported that it is ready', () => (ready() ?? 0) >= 3);
    expect(ready()).toBe(3);
    expect(server.stdout.match(/Playground/g)).toHaveLength(1);
    // Without METRICS_TOKEN, the service port returns no metrics. The metrics port returns nothing
    // else.
    expect((await server.anonymous.send('GET', '/metrics')).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/api/v2/language/`)).status).toBe(404);
  } finally {
    await installation.remove();
  }
});

test('serves the metrics of all workers on the service port with METRICS_TOKEN', async () => {
  const installation = await Installation.started({ METRICS_TOKEN: TOKEN, WEB_CONCURRENCY: '2' });

  try {
    const server = await installation.start();
    const page = () =>
      server.anonymous.withHeaders({ Authorization: `Bearer ${TOKEN}` }).send('GET', '/metrics');

    await until(
      'the metrics include both workers',
      async () => valuesOf((await page()).text).get('fitgraph_workers') === 2,
    );
    expect((await server.anonymous.send('GET', '/metrics')).status).toBe(401);
  } finally {
    await installation.remove();
  }
});
