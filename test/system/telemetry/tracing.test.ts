/** Traces as an OpenTelemetry collector receives them (OTLP over HTTP, JSON). */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build, Installation } from '../../setup/server-process';
import type { Person } from '../../setup/person';
import { until } from '../../setup/waits';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  status: { code: number };
}

const SERVER = 2;
const CLIENT = 3;
const received: Span[] = [];
const services = new Set<unknown>();
let receiver: Server;
let installation: Installation;
let token: string;

type Attributes = { key: string; value: Record<string, unknown> }[];
const plain = (attributes: Attributes) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];

    for await (const chunk of request) chunks.push(chunk as Buffer);
    expect(request.url).toBe('/v1/traces');

    for (const { resource, scopeSpans } of JSON.parse(Buffer.concat(chunks).toString())
      .resourceSpans) {
      services.add(plain(resource.attributes)['service.name']);

      for (const { spans } of scopeSpans) {
        for (const span of spans) received.push({ ...span, attributes: plain(span.attributes) });
      }
    }

    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

  // The server runs in a separate process, because the exporter loads its modules in a way that
  // Jest does not support.
  build();
  installation = await Installation.started({
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_SERVICE_NAME: 'fit',
  });
  const server = await installation.start();

  token = server.demo.token;
  const demo = server.signedIn(token);

  for (const [name, ask] of Object.entries(REQUESTS)) {
    TRACES[name] = (Object.keys(TRACES).length + 1).toString(16).padStart(32, '0');
    await ask(demo.withHeaders({ traceparent: `00-${TRACES[name]}-00f067aa0ba902b7-01` }));
  }

  await demo.withHeaders({ traceparent: `00-${NOT_SAMPLED}-00f067aa0ba902b7-00` }).get('/workout/');
  await demo.withHeaders({ traceparent: 'nonsense' }).get('/day/');
  // The server exports pending spans when it stops.
  server.process.kill('SIGTERM');
  await server.ended;
  await until('the last trace is received', () =>
    received.some(({ name }) => name === 'GET /api/v2/day/'),
  );
});
afterAll(async () => {
  await installation.remove();
  await new Promise((resolve) => receiver.close(resolve));
});

const SECRET = 'xyzzyx';
const NOT_SAMPLED = 'f'.repeat(32);
const TRACES: Record<string, string> = {};
const REQUESTS: Record<string, (person: Person) => Promise<unknown>> = {
  rest: (person) => person.get(`/workout/?comment=${SECRET}`),
  graphql: (person) =>
    person.query(
      'query Mine($comment: String) { workouts(where: { name: { eq: $comment } }) { totalCount } }',
      { comment: SECRET },
    ),
  longName: (person) => person.query(`query ${'Q'.repeat(1_000)} { __typename }`),
  write: (person) =>
    person.query(`mutation { createWorkout(input: { name: "${SECRET}" }) { workout { id } } }`),
};

const of = (name: string) => {
  const spans = received.filter(({ traceId }) => traceId === TRACES[name]);
  const request = spans.find(({ kind }) => kind === SERVER)!;
  const operations = spans.filter((span) => 'graphql.operation.type' in span.attributes);
  const statements = spans.filter(({ kind }) => kind === CLIENT);

  return { request, operations, statements };
};

test('continues the trace of the caller and records route, status, user and request id', () => {
  const { request } = of('rest');

  expect(request).toMatchObject({ name: 'GET /api/v2/workout/', parentSpanId: '00f067aa0ba902b7' });
  expect(request.attributes).toMatchObject({
    'http.route': '/api/v2/workout/',
    'http.response.status_code': 200,
    'url.path': '/api/v2/workout/',
    'user.id': expect.any(Number),
    'fitgraph.request.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect([...services]).toEqual(['fit']);
});

test('nests operations below the request and statements below operations', () => {
  const { request, operations, statements } = of('graphql');

  expect(operations).toEqual([
    expect.objectContaining({ name: 'query Mine', parentSpanId: request.spanId }),
  ]);
  const [operation] = operations;
  const read = statements.filter(({ parentSpanId }) => parentSpanId === operation!.spanId);

  expect(read).toEqual([expect.objectContaining({ name: 'SELECT workout' })]);
  expect(read[0]!.attributes).toMatchObject({
    'db.system.name': 'postgresql',
    'db.response.returned_rows': 1,
  });
  // The statement that looks up the viewer belongs to the request, not to the operation.
  expect(statements.filter(({ parentSpanId }) => parentSpanId === request.spanId)).toHaveLength(1);
});

test('shortens the operation names that clients choose', () => {
  const { operations } = of('longName');
  const name = 'Q'.repeat(200);

  expect(operations).toEqual([expect.objectContaining({ name: `query ${name}` })]);
  expect(operations[0]!.attributes['graphql.operation.name']).toBe(name);
});

test('records mutations and their statements', () => {
  const { operations, statements } = of('write');

  expect(operations).toEqual([expect.objectContaining({ name: 'mutation createWorkout' })]);
  expect(statements.map(({ name }) => name)).toContain('INSERT workout');
});

test('exports no user content and no token', () => {
  expect(received.length).toBeGreaterThan(8);
  expect(JSON.stringify(received)).not.toContain(SECRET);
  expect(JSON.stringify(received)).not.toContain(token);
});

test('exports no unsampled trace, and starts a new trace when traceparent is invalid', () => {
  expect(received.filter(({ traceId }) => traceId === NOT_SAMPLED)).toEqual([]);
  const { traceId, parentSpanId } = received.find(({ name }) => name === 'GET /api/v2/day/')!;

  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(parentSpanId ?? '').toBe('');
});
