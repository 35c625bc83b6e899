/** Compressed responses and conditional requests. */
import http from 'node:http';
import zlib from 'node:zlib';
import { fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { Visitor } from '../setup/visitor';
import { until } from '../setup/waits';

const fitgraph = fitgraphForThisFile();

let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
});

interface RawResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

/** Sends a request and returns the response, whose body is still encoded. */
function send(
  path: string,
  headers: http.OutgoingHttpHeaders = {},
  method = 'GET',
  body?: unknown,
): Promise<RawResponse> {
  const text = body === undefined ? undefined : JSON.stringify(body);

  return new Promise((resolve, reject) => {
    const request = http.request(
      `${fitgraph.url}${path}`,
      {
        method,
        agent: false,
        headers: {
          Accept: 'application/json',
          ...(text && { 'Content-Type': 'application/json' }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];

        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      },
    );

    request.on('error', reject);
    request.end(text);
  });
}

const accepting = (codings: string, headers: http.OutgoingHttpHeaders = {}) => ({
  'Accept-Encoding': codings,
  ...headers,
});
const LONG = '/api/v2/exerciseinfo/?limit=20';
const DECODE: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  br: zlib.brotliDecompressSync,
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
};

describe.each(Object.keys(DECODE))('the content coding %s', (coding) => {
  const token = () => ({ Authorization: `Token ${ann.token}` });
  const introspection = {
    query: '{ __schema { types { name description fields { name description } } } }',
  };

  test.each<[string, string, () => http.OutgoingHttpHeaders, string, unknown]>([
    ['a list for an anonymous client', LONG, () => ({}), 'GET', undefined],
    ['a list for a token', LONG, token, 'GET', undefined],
    ['a GraphQL response for an anonymous client', '/graphql', () => ({}), 'POST', introspection],
    ['a GraphQL response for a token', '/graphql', token, 'POST', introspection],
    ['the API description', '/api/v2/schema/', () => ({}), 'GET', undefined],
    ['the start page', '/', () => ({ Accept: 'text/html' }), 'GET', undefined],
    [
      'a list as HTML',
      '/api/v2/exercise/?limit=20',
      () => ({ Accept: 'text/html' }),
      'GET',
      undefined,
    ],
  ])('compresses %s to less than half of its size', async (_name, path, headers, method, body) => {
    const plain = await send(path, headers(), method, body);
    const short = await send(path, accepting(coding, headers()), method, body);

    expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
    expect([short.status, short.headers['content-encoding']]).toEqual([200, coding]);
    expect(short.headers.vary).toMatch(/accept-encoding/i);
    expect(short.headers['content-type']).toBe(plain.headers['content-type']);
    // A response that is compressed while it is sent has no Content-Length.
    const length = short.headers['content-length'] ?? short.body.length;

    expect(Number(length)).toBe(short.body.length);
    expect(short.body.length).toBeLessThan(plain.body.length / 2);
    const text = DECODE[coding]!(short.body).toString();

    // HTML pages and GraphQL responses contain their own duration, so only their lengths are
    // compared.
    if (path === LONG || path.endsWith('schema/')) expect(text).toBe(plain.body.toString());
    else expect(text.length).toBeGreaterThan(0.98 * plain.body.length);
  });
});

test('chooses the best content coding that Accept-Encoding allows', async () => {
  const chosenCoding = async (accepted: string) =>
    (await send(LONG, accepting(accepted))).headers['content-encoding'];

  expect(await chosenCoding('gzip, deflate, br')).toBe('br');
  expect(await chosenCoding('gzip, br;q=0')).toBe('gzip');
  expect(await chosenCoding('gzip;q=0.1')).toBe('gzip');

  for (const none of [
    'identity',
    'br;q=0, gzip;q=0',
    'zstd',
    '',
    'nonsense',
    `gzip, ${'x'.repeat(300)}`,
  ]) {
    expect(await chosenCoding(none)).toBeUndefined();
  }
});

test('does not compress short responses, responses to HEAD and errors', async () => {
  expect(
    (await send('/api/v2/exercise/1/', accepting('br'))).headers['content-encoding'],
  ).toBeUndefined();
  expect((await send(LONG, accepting('br'), 'HEAD')).headers['content-encoding']).toBeUndefined();
  const root = await send('/api/v2/', accepting('br'));

  expect([root.headers['content-encoding'], root.headers.vary]).toEqual([undefined, 'Accept']);
  const missing = await send('/api/v2/exercise/999999/', accepting('br'));

  expect([missing.status, missing.headers['content-encoding']]).toEqual([404, undefined]);
});

test('does not compress responses to requests with cookies', async () => {
  const visitor = new Visitor(fitgraph.url);
  const form = await visitor.get('/login');
  const signIn = /name="(\w+)" value="([^"]+)"/.exec(form.text);

  await visitor.post('/login', {
    username: 'ann',
    password: PASSWORD,
    ...(signIn && { [signIn[1]!]: signIn[2]! }),
  });
  const Cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');

  for (const headers of [{ Cookie }, { Cookie: 'other=1' }]) {
    for (const accept of ['text/html', 'application/json']) {
      const answer = await send(LONG, accepting('br, gzip', { ...headers, Accept: accept }));

      expect([answer.status, answer.headers['content-encoding']]).toEqual([200, undefined]);
    }
  }
});

test('compresses the files of the API reference, which are the same for all, also with cookies', async () => {
  const page = (await send('/api/v2/schema/docs')).body.toString();
  const urls = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path!);
  const files = ['swagger-ui.css', 'swagger-ui-bundle.js', 'schema.json', 'schema.yaml'].map(
    (name) => urls.find((url) => url.endsWith(`/${name}`))!,
  );

  for (const path of files) {
    const answer = await send(path, accepting('br', { Cookie: 'other=1' }));

    expect([path, answer.status, answer.headers['content-encoding']]).toEqual([path, 200, 'br']);
  }
});

describe('public REST responses', () => {
  const STRONG = /^"[^"]+"$/;

  test('have a strong ETag per content coding, and a matching If-None-Match returns 304', async () => {
    const plain = await send(LONG);

    expect(plain.headers).toMatchObject({
      etag: expect.stringMatching(STRONG),
      'cache-control': 'public, no-cache',
    });
    const short = await send(LONG, accepting('gzip'));

    expect(short.headers.etag).toMatch(STRONG);
    expect(short.headers.etag).not.toBe(plain.headers.etag);

    for (const tag of [
      plain.headers.etag,
      short.headers.etag,
      `W/${plain.headers.etag}`,
      `"other", ${short.headers.etag}`,
      '*',
    ]) {
      for (const method of ['GET', 'HEAD']) {
        const known = await send(LONG, accepting('gzip', { 'If-None-Match': tag }), method);

        expect([known.status, known.body.length, known.headers['cache-control']]).toEqual([
          304,
          0,
          'public, no-cache',
        ]);
      }
    }

    for (const tag of ['"other"', '""', 'nonsense', plain.headers.etag!.slice(0, -2)]) {
      expect((await send(LONG, { 'If-None-Match': tag })).status).toBe(200);
    }

    expect(
      (await send('/api/v2/exerciseinfo/?limit=1', { 'If-None-Match': plain.headers.etag })).status,
    ).toBe(200);
  });

  test('get a new ETag after a change', async () => {
    const path = '/api/v2/muscle/';
    const { etag } = (await send(path)).headers;

    await fitgraph.sql(`UPDATE "muscle" SET "name" = 'Changed' WHERE "id" = 1`);
    await until(
      'the change is visible',
      async () => (await send(path, { 'If-None-Match': etag })).status !== 304,
    );
    const after = await send(path, { 'If-None-Match': etag });

    expect([after.status, after.body.toString().includes('Changed')]).toEqual([200, true]);
  });

  test('have no ETag with a token, for errors and for OPTIONS', async () => {
    const none = {
      status: expect.any(Number),
      headers: expect.not.objectContaining({ etag: expect.anything() }),
    };

    expect(await send(LONG, { Authorization: `Token ${ann.token}` })).toMatchObject(none);
    expect(await send('/api/v2/exercise/999999/')).toMatchObject(none);
    expect(await send(LONG, {}, 'OPTIONS')).toMatchObject(none);
  });
});

test('accepts the ETag of a compressed row in If-Match until the row changes', async () => {
  const body = { comment: 'A plan. '.repeat(10), date: '2026-01-01' };
  const { id } = (await ann.post('/workout/', body)).body;
  const key = { Authorization: `Token ${ann.token}` };
  const { etag } = (await send(`/api/v2/workout/${id}/`, key)).headers;
  const change = (tag: string, comment: string) =>
    send(`/api/v2/workout/${id}/`, { ...key, 'If-Match': tag }, 'PATCH', { comment });

  expect((await change(etag!.replace(/"$/, '-br"'), 'Changed')).status).toBe(200);
  expect((await change(etag!.replace(/"$/, '-br"'), 'Changed again')).status).toBe(412);
});
