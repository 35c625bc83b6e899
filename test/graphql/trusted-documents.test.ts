/** Operations that are sent by an id instead of their text. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { ConfigError, readConfig } from '../../src/shared/config';
import { buildGraphQLSchema } from '../../src/graphql/schema';
import { TrustedDocuments } from '../../src/graphql/trusted-documents';
import { Fitgraph } from '../setup/fitgraph';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const byHash = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: hashOf(text) } });

const EXERCISE = 'query Exercise($id: ID!) { exercise(id: $id) { name } }';
const WORKOUTS = 'query Workouts { workouts { totalCount } }';
const SQUAT = { data: { exercise: { name: 'Squat' } } };

const MANIFEST = {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [{ id: hashOf(EXERCISE), name: 'Exercise', type: 'query', body: EXERCISE }],
};
const RELAY = { abc123: WORKOUTS };

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-operations-'));

const write = (file: string, content: unknown) => {
  fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  fs.writeFileSync(
    path.join(folder, file),
    typeof content === 'string' ? content : JSON.stringify(content),
  );

  return path.join(folder, path.dirname(file));
};

const good = write('good/apollo.json', MANIFEST) && write('good/relay.json', RELAY);

afterAll(() => fs.rmSync(folder, { recursive: true }));

const running: Fitgraph[] = [];

async function startServer(
  environment: Record<string, string> = {},
): Promise<(body: unknown) => Promise<any>> {
  const fitgraph = await Fitgraph.start({ environment });

  running.push(fitgraph);
  const ann = await fitgraph.user('ann');

  return async (body) => {
    const { status, body: answer } = await ann.send('POST', '/graphql', body);

    return answer.errors ? [status, answer.errors[0].extensions.code] : answer;
  };
}

afterEach(() => Promise.all(running.splice(0).map((fitgraph) => fitgraph.stop())));
const currentServer = () => running.at(-1)!;

describe('automatic persisted queries', () => {
  const variables = { id: '1' };

  test('are executed by hash once the text has been sent', async () => {
    const send = await startServer();

    expect(await send({ variables, extensions: byHash(EXERCISE) })).toEqual([
      200,
      'PERSISTED_QUERY_NOT_FOUND',
    ]);
    expect(await send({ variables, extensions: byHash(EXERCISE), query: EXERCISE })).toEqual(SQUAT);
    expect(await send({ variables, extensions: byHash(EXERCISE) })).toEqual(SQUAT);
    const search = new URLSearchParams({
      variables: JSON.stringify(variables),
      extensions: JSON.stringify(byHash(EXERCISE)),
    });
    const get = await currentServer()
      .anonymous.withHeaders({ 'Apollo-Require-Preflight': 'yes' })
      .send('GET', `/graphql?${search}`);

    expect(get.body).toEqual(SQUAT);
  });

  test('are rejected, without a logged error, when the hash is that of another text or the version is unknown', async () => {
    const send = await startServer();
    const { sha256Hash } = byHash(EXERCISE).persistedQuery;
    const invalid = [
      { query: WORKOUTS, extensions: byHash(EXERCISE) },
      { query: '', extensions: byHash(EXERCISE) },
      { query: EXERCISE, extensions: { persistedQuery: { version: 1, sha256Hash: [sha256Hash] } } },
      { query: EXERCISE, extensions: { persistedQuery: { version: 2, sha256Hash } } },
      { extensions: { persistedQuery: { sha256Hash } } },
      { query: EXERCISE, extensions: { persistedQuery: 'no object' } },
    ];

    for (const body of invalid) {
      expect(await send({ variables, ...body })).toEqual([400, 'PERSISTED_QUERY_INVALID']);
    }

    for (const query of [WORKOUTS, '']) {
      const search = new URLSearchParams({ query, extensions: JSON.stringify(byHash(EXERCISE)) });
      const get = await currentServer()
        .anonymous.withHeaders({ 'Apollo-Require-Preflight': 'yes' })
        .send('GET', `/graphql?${search}`);

      expect([get.status, get.body.errors[0].extensions.code]).toEqual([
        400,
        'PERSISTED_QUERY_INVALID',
      ]);
    }

    expect(currentServer().logged.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
    expect(await send({ variables, extensions: byHash(EXERCISE) })).toEqual([
      200,
      'PERSISTED_QUERY_NOT_FOUND',
    ]);
  });
});

test('rejects several operations in one request', async () => {
  const send = await startServer();

  expect(await send([{ query: WORKOUTS }, { query: WORKOUTS }])).toEqual([400, 'BAD_REQUEST']);
});

describe('trusted documents', () => {
  const variables = { id: '1' };

  test('are found by the ids that Apollo, Relay and other clients send', async () => {
    const send = await startServer({ PERSISTED_OPERATIONS: good });

    expect(await send({ variables, extensions: byHash(EXERCISE) })).toEqual(SQUAT);
    expect(await send({ variables, documentId: hashOf(EXERCISE) })).toEqual(SQUAT);
    expect(await send({ id: 'abc123' })).toEqual({ data: { workouts: { totalCount: 0 } } });
    const search = new URLSearchParams({
      variables: JSON.stringify(variables),
      documentId: hashOf(EXERCISE),
    });
    const get = await currentServer()
      .anonymous.withHeaders({ 'Apollo-Require-Preflight': 'yes' })
      .send('GET', `/graphql?${search}`);

    expect(get.body).toEqual(SQUAT);
  });

  test('do not exclude other operations by default, but unknown and contradictory ids', async () => {
    const send = await startServer({ PERSISTED_OPERATIONS: good });

    expect(await send({ query: '{ exercise(id: 1) { name } }' })).toEqual(SQUAT);
    expect(await send({ documentId: 'unknown' })).toEqual([400, 'PERSISTED_QUERY_NOT_FOUND']);
    expect(await send({ query: WORKOUTS, documentId: hashOf(EXERCISE) })).toEqual([
      400,
      'BAD_REQUEST',
    ]);
  });

  test('are the only operations allowed with PERSISTED_ONLY, without effect on REST', async () => {
    const send = await startServer({ PERSISTED_OPERATIONS: good, PERSISTED_ONLY: 'true' });

    expect(await send({ variables, extensions: byHash(EXERCISE) })).toEqual(SQUAT);
    expect(await send({ query: WORKOUTS })).toEqual({ data: { workouts: { totalCount: 0 } } });
    const other = '{ exercise(id: 1) { name } }';
    const rejected = [
      { query: other },
      { query: other, id: 'unknown' },
      { query: other, extensions: byHash(other) },
      { extensions: byHash(other) },
      { documentId: 'unknown' },
      { query: '{ __schema { queryType { name } } }' },
    ];

    for (const body of rejected) expect(await send(body)).toEqual([400, 'PERSISTED_QUERY_ONLY']);
    expect(await send([{ query: other }])).toEqual([400, 'BAD_REQUEST']);
    const { anonymous } = currentServer();
    const preflighted = anonymous.withHeaders({ 'Apollo-Require-Preflight': 'yes' });

    for (const search of [
      `query=${encodeURIComponent(other)}`,
      `query=${encodeURIComponent(other)}&query=${encodeURIComponent(WORKOUTS)}`,
    ]) {
      expect((await preflighted.send('GET', `/graphql?${search}`)).status).toBe(400);
    }

    expect((await anonymous.get('/exercise/1/')).body.name).toBe('Squat');
    expect((await anonymous.send('GET', '/playground')).text).toContain(
      'accepts only registered operations (PERSISTED_ONLY)',
    );
  });

  test('are the only subscriptions allowed with PERSISTED_ONLY', async () => {
    const changed = 'subscription Changed { changed { cursor } }';
    const PERSISTED_OPERATIONS = write('live/relay.json', { changed });

    await startServer({ PERSISTED_OPERATIONS, PERSISTED_ONLY: 'true' });
    const { url } = currentServer();
    const { token } = await currentServer().user('ann');
    const connectionParams = { Authorization: `Token ${token}` };
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      connectionParams,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });

    const first = async (payload: object) => {
      const events = client.iterate({ query: '', ...payload });
      const answer = await events.next().catch((errors) => ({ value: { errors } }));

      await events.return?.();
      return answer.value;
    };

    const other = { query: 'subscription { changed { cursor changes { rowId } } }' };

    expect(await first({ extensions: { persistedQuery: { sha256Hash: 'changed' } } })).toEqual({
      data: { changed: { cursor: expect.any(String) } },
    });
    expect(await first(other)).toMatchObject({
      errors: [{ extensions: { code: 'PERSISTED_QUERY_ONLY' } }],
    });
    await client.dispose();
    const events = await currentServer()
      .anonymous.withHeaders({ Accept: 'text/event-stream' })
      .send('POST', '/graphql/stream', other);

    // graphql-sse clients do not read the body of a response with another status.
    expect([events.status, events.text]).toEqual([
      200,
      expect.stringMatching(/event: next\ndata: .*PERSISTED_QUERY_ONLY/),
    ]);

    const stream = new AbortController();

    try {
      const { status, body } = await fetch(`${currentServer().url}/graphql/stream`, {
        method: 'POST',
        headers: {
          Accept: 'text/event-stream',
          'Content-Type': 'application/json',
          ...connectionParams,
        },
        body: JSON.stringify({ documentId: 'changed' }),
        signal: stream.signal,
      });
      let text = '';

      for await (const chunk of body!) {
        if ((text += Buffer.from(chunk).toString()).includes('event: next')) break;
      }

      expect([status, text]).toEqual([200, expect.stringContaining('"cursor"')]);
    } finally {
      stream.abort();
    }
  });

  const schema = buildGraphQLSchema();
  const readDocuments = (PERSISTED_OPERATIONS: string) =>
    new TrustedDocuments(readConfig({ PERSISTED_OPERATIONS }), schema);

  test.each([
    [
      'a syntax error',
      'syntax.json',
      { one: '{ exercise(' },
      /syntax\.json: operation "one": Syntax Error/,
    ],
    [
      'an unknown field',
      'fields.json',
      { two: '{ nothing }' },
      /fields\.json: operation "two": Cannot query field "nothing"/,
    ],
    [
      'excessive depth',
      'depth.json',
      { deep: `{ workout(id: 1) { ${'days { workout { '.repeat(10)}id${' } }'.repeat(10)} } }` },
      /depth\.json: .*deeper than 20/,
    ],
    ['invalid JSON', 'broken.json', '{ "one": ', /broken\.json: /],
    ['a document that is no string', 'shape.json', { one: 1 }, /shape\.json: must be/],
    ['null', 'null.json', 'null', /null\.json: must be a manifest/],
    ['a number', 'number.json', '5', /number\.json: must be a manifest/],
    ['a boolean', 'boolean.json', 'true', /boolean\.json: must be a manifest/],
    ['a string', 'string.json', '""', /string\.json: must be a manifest/],
    ['an empty array', 'array.json', '[]', /array\.json: must be a manifest/],
    ['an array of texts', 'texts.json', [EXERCISE], /texts\.json: must be a manifest/],
    [
      'an unsupported version',
      'version.json',
      { ...MANIFEST, version: 2 },
      /version\.json: version 2/,
    ],
  ])('are rejected with the name of their file: %s', (name, file, content, message) => {
    const PERSISTED_OPERATIONS = write(`${name}/${file}`, content);

    expect(() => readDocuments(PERSISTED_OPERATIONS)).toThrow(message);
    expect(() => readDocuments(PERSISTED_OPERATIONS)).toThrow(ConfigError);
  });

  test('are rejected when an id has two texts or the folder is missing', () => {
    write('twice/a.json', RELAY);
    const PERSISTED_OPERATIONS = write('twice/b.json', { abc123: EXERCISE });

    expect(() => readDocuments(PERSISTED_OPERATIONS)).toThrow(/b\.json: operation "abc123"/);
    expect(() => readDocuments(path.join(folder, 'nowhere'))).toThrow(/ENOENT/);
  });
});
