/** Oversized request bodies and stalled connections. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../setup/waits';
import {
  LIVENESS_LIMIT_MS,
  RESPONSE_LIMIT_MS,
  MEMORY_MB,
  send,
  Siege,
  type Reply,
} from './server-under-attack';

const PATIENCE_MS = 1_500;
const JSON_TYPE = 'application/json';

/**
 * Each attack takes a tenth of a second and is repeated. The best result counts, which excludes
 * pauses caused by other processes.
 */
const TIMES = 3;
const FORM = 'multipart/form-data; boundary=b';

let siege: Siege;

beforeAll(async () => {
  siege = await Siege.start({ CLIENT_TIMEOUT: `${PATIENCE_MS}ms` });
});
afterAll(() => siege.end());

const post = (path: string, type: string, body: string | Buffer, headers = {}) =>
  send(siege.base, {
    method: 'POST',
    path,
    headers: { 'Content-Type': type, 'Apollo-Require-Preflight': '1', ...headers },
    body,
  });

const part = (name: string, content: string, filename?: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${filename ? `; filename="${filename}"` : ''}\r\n\r\n${content}\r\n`;

const large = 'x'.repeat(5_000_000);
const json = JSON.stringify({ query: '{ viewer { id } }', variables: { large } });

test.each<[string, string, string, string]>([
  ['JSON sent to GraphQL', '/graphql', JSON_TYPE, json],
  ['a form sent to GraphQL', '/graphql', FORM, `${part('operations', large)}--b--\r\n`],
  [
    'a file sent to GraphQL',
    '/graphql',
    FORM,
    `${part('operations', '{}')}${part('map', '{}')}${part('0', large, 'a.png')}--b--\r\n`,
  ],
  ['JSON sent to /graphql/stream', '/graphql/stream', JSON_TYPE, json],
  ['text sent to /graphql/stream', '/graphql/stream', `text/plain; x="${JSON_TYPE}"`, json],
  ['a form sent to /login', '/login', 'application/x-www-form-urlencoded', `username=${large}`],
  ['JSON sent to REST', '/api/v2/login/', JSON_TYPE, json],
  [
    'a form sent to REST',
    '/api/v2/login/',
    'application/x-www-form-urlencoded',
    `username=${large}`,
  ],
  ['a file sent to REST', '/api/v2/login/', FORM, `${part('username', large, 'a.png')}--b--\r\n`],
])(
  'rejects 50 anonymous bodies of 5 MB and stays responsive: %s',
  async (_name, path, type, body) => {
    // Encoded once, so that this work does not count.
    const bytes = Buffer.from(body);
    const sendBody = () =>
      post(path, type, bytes, { Accept: path.endsWith('stream') ? 'text/event-stream' : '*/*' });

    // Warm-up: the first body that a process reads takes longer.
    await sendBody();
    const silences: number[] = [];

    for (let time = 0; time < TIMES; time += 1) {
      const { result, aliveMs, answerLimitMs, memoryMb } = await siege.measureDuring(() =>
        Promise.all(Array.from({ length: 50 }, sendBody)),
      );

      for (const { status, ms } of result) {
        expect([413, type.startsWith('text') ? 415 : 413]).toContain(status);
        expect(ms).toBeLessThan(answerLimitMs);
      }

      expect(memoryMb).toBeLessThan(MEMORY_MB);
      silences.push(aliveMs);
    }

    expect(Math.min(...silences)).toBeLessThan(LIVENESS_LIMIT_MS);
  },
);

test('returns 413 for an oversized body without Content-Length', async () => {
  for (const path of ['/graphql', '/api/v2/login/']) {
    expect((await post(path, JSON_TYPE, json, { 'Transfer-Encoding': 'chunked' })).status).toBe(
      413,
    );
  }
});

test('fetch receives the response that precedes the end of a long body', async () => {
  const upload = () =>
    fetch(`${siege.base}/api/v2/exercise/`, {
      method: 'POST',
      body: large,
      headers: { 'Content-Type': JSON_TYPE },
    });
  const statuses = (await Promise.all(Array.from({ length: 10 }, upload))).map(
    ({ status }) => status,
  );

  expect(statuses).toEqual(Array(10).fill(403));
});

test.each<[string, string, string]>([
  ['GraphQL', '/graphql', JSON_TYPE],
  ['REST', '/api/v2/login/', JSON_TYPE],
  ['a form sent to /login', '/login', 'application/x-www-form-urlencoded'],
])(
  'returns 413 before the rest of an oversized body has arrived: %s',
  async (_name, path, type) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n`;

    for (const begun of [
      `Content-Length: 100000000\r\n\r\nx`,
      `Transfer-Encoding: chunked\r\n\r\n${(400_000).toString(16)}\r\n${large.slice(0, 300_000)}`,
    ]) {
      const delays = siege.delays();
      const { socket, ended } = connection(head + begun);
      const firstChunk = new Promise<string>((resolve) =>
        socket.once('data', (chunk: Buffer) => resolve(chunk.toString())),
      );

      void sendSlowly(socket, 'x');
      expect(await firstChunk).toMatch(/^HTTP\/1\.1 413 /);
      expect((await ended) - delays()).toBeLessThan(2 * RESPONSE_LIMIT_MS);
    }
  },
);

test.each([
  ['with a response before the end of the body', '/api/v2/exercise/', 1_000, '405'],
  ['after a long body', '/api/v2/weightentry/', 200_000, '400'],
])('keeps a connection %s', async (_when, path, sent, status) => {
  // Rows of the catalogue cannot be written over REST. The server says so without reading the body.
  const length = 200_000;
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${siege.token}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${length}\r\n\r\n`;
  const body = `"${'x'.repeat(length - 2)}"`;
  const { socket } = connection(head + body.slice(0, sent));
  let text = '';

  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await until('the request is answered', () => text.startsWith(`HTTP/1.1 ${status} `));
  socket.write(`${body.slice(sent)}GET /api/v2/language/ HTTP/1.1\r\nHost: x\r\n\r\n`);
  await until('the next request is answered', () => text.includes('HTTP/1.1 200 '));
  socket.destroy();
});

test('accepts larger bodies from signed-in users, up to a limit', async () => {
  const mine = { Authorization: `Token ${siege.token}` };
  const body = (length: number) =>
    JSON.stringify({ query: '{ viewer { username } }', variables: { large: 'x'.repeat(length) } });

  expect(JSON.parse((await post('/graphql', JSON_TYPE, body(1_000_000), mine)).text)).toMatchObject(
    { data: { viewer: {} } },
  );
  expect((await post('/graphql', JSON_TYPE, body(6_000_000), mine)).status).toBe(413);
  expect(
    (await post('/graphql', JSON_TYPE, body(1_000_000), { Authorization: 'Token wrong' })).status,
  ).toBe(413);
});

test('returns 413 for 990 files, and stores none of an anonymous client and at most 20 of a user', async () => {
  const files = Array.from({ length: 990 }, (_, index) =>
    part(`${index}`, 'x', `${index}.png`),
  ).join('');
  const query = '{ viewer { id } }';
  const form = (parts: string) =>
    `${part('operations', JSON.stringify({ query }))}${part('map', '{}')}${parts}--b--\r\n`;
  const incoming = join(siege.dataDir, 'incoming');
  let most = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, existsSync(incoming) ? readdirSync(incoming).length : 0);
      await sleep(1);
    }
  })();
  const delays = siege.delays();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => post('/graphql', FORM, form(files))),
  );
  const delayMs = delays();

  for (const { status, ms } of answers) {
    expect(status).toBe(413);
    expect(ms - delayMs).toBeLessThan(RESPONSE_LIMIT_MS);
  }

  expect((await post('/graphql', FORM, form(part('0', 'x', 'a.png')))).status).toBe(200);
  expect(most).toBe(0);
  const { status, text } = await post('/graphql', FORM, form(files), {
    Authorization: `Token ${siege.token}`,
  });

  isOver = true;
  await watching;
  expect([status, text]).toEqual([413, expect.stringContaining('at most 20 files')]);
  expect(most).toBeLessThanOrEqual(20);
});

/**
 * Opens a connection and sends the text. `ended` resolves to the milliseconds until the connection
 * is closed.
 */
function connection(
  text: string,
  { reading = true } = {},
): { socket: net.Socket; ended: Promise<number> } {
  const began = performance.now();
  const { port, hostname } = new URL(siege.base);
  const socket = net.connect(Number(port), hostname);
  const ended = new Promise<number>((resolve) =>
    socket.once('close', () => resolve(performance.now() - began)),
  );

  socket.on('error', () => undefined);
  if (reading) socket.resume();
  socket.write(text);
  return { socket, ended };
}

const sendSlowly = async (socket: net.Socket, text: string) => {
  while (!socket.destroyed) {
    socket.write(text);
    await sleep(200);
  }
};

const ending: [what: string, text: string, drip: string][] = [
  ['no data', '', ''],
  ['endless headers', 'GET / HTTP/1.1\r\nHost: x\r\n', 'X-A: b\r\n'],
  [
    'an incomplete body',
    'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
    '',
  ],
  [
    'a slow body',
    'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{',
    ' ',
  ],
  [
    'a slow body sent to REST',
    'POST /api/v2/login/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{',
    ' ',
  ],
  [
    'a slow form',
    `POST /graphql HTTP/1.1\r\nHost: x\r\nApollo-Require-Preflight: 1\r\nContent-Type: ${FORM}\r\nContent-Length: 9999\r\n\r\n--b\r\n`,
    'a',
  ],
];

test('closes connections that send nothing, an incomplete request or a very slow one', async () => {
  const delays = siege.delays();
  const closingTimes = await Promise.all(
    ending.map(async ([what, text, drip]) => {
      const { socket, ended } = connection(text);

      if (drip) void sendSlowly(socket, drip);

      return [what, (await ended) - delays()] as const;
    }),
  );

  for (const [what, ms] of closingTimes) {
    expect([what, Math.floor(ms / (12 * PATIENCE_MS))]).toEqual([what, 0]);
  }
});

/**
 * Counts the connections that the server has not closed, according to the kernel: closed ones have
 * inode 0.
 */
function countOpenConnections(sockets: readonly net.Socket[]): number {
  const ours = new Set(sockets.map(({ localPort }) => localPort));
  const port = Number(new URL(siege.base).port);
  const ends = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    readFileSync(file, 'utf8').trim().split('\n').slice(1),
  );

  return ends.filter((line) => {
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
    const portOf = (end?: string) => Number.parseInt(end!.split(':')[1]!, 16);

    return portOf(local) === port && ours.has(portOf(remote)) && inode !== '0';
  }).length;
}

test('stays responsive while 60 clients do not read a long page', async () => {
  const page =
    'GET /api/v2/ingredient/?limit=10000 HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n'.repeat(
      5,
    );

  // Warm-up: the first pages of a process take longer.
  for (let run = 0; run < 5; run += 1) {
    await send(siege.base, {
      path: '/api/v2/ingredient/?limit=200',
      headers: { Accept: 'text/html' },
    });
  }

  const { aliveMs, memoryMb } = await siege.measureDuring(async () => {
    const connections = Array.from({ length: 60 }, () => connection(page, { reading: false }));

    await sleep(3 * PATIENCE_MS);
    for (const { socket } of connections) socket.destroy();
  });

  expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
  expect(memoryMb).toBeLessThan(MEMORY_MB);
});

test('closes connections that read no responses and keeps those that read slowly', async () => {
  const head = `GET /api/v2/ingredient/?limit=10000 HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${siege.token}\r\n\r\n`;
  const requests = head.repeat(80);
  const stuck = Array.from({ length: 3 }, () => connection(requests, { reading: false }).socket);
  const slow = connection(requests, { reading: false }).socket;
  let read = 0;

  slow.on('data', (chunk: Buffer) => {
    read += chunk.length;
    slow.pause();
    setTimeout(() => slow.resume(), 10);
  });
  await until('all clients are connected', () => countOpenConnections([...stuck, slow]) === 4);
  await until(
    'connections of clients that do not read are closed',
    () => countOpenConnections(stuck) === 0,
  );
  expect(countOpenConnections([slow])).toBe(1);
  expect(read).toBeGreaterThan(0);
  for (const socket of [...stuck, slow]) socket.destroy();
});

test.each([
  ['raw UTF-8 in a URL', 'GET /api/v2/wörkout/ HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['a URL that is too long', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
  ['an invalid Content-Length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: y\r\n\r\n', 400],
])('rejects an unreadable request and closes its connection: %s', async (_what, text, status) => {
  const { socket, ended } = connection(text);
  let answer = '';

  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  await ended;
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toContain('\r\nAccess-Control-Allow-Origin: *\r\n');
});

test('answers pipelined requests in order', async () => {
  const path = (id: number) => `/api/v2/language/${id}/`;
  const ahead = Array.from(
    { length: 20 },
    (_, index) => `GET ${path(index % 2 ? 1 : 999)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  );
  const { socket } = connection(ahead.join(''), { reading: false });
  let text = '';

  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await until('all requests are answered', () => text.split('HTTP/1.1 ').length > 20);
  socket.destroy();
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

  expect(statuses).toEqual(ahead.map((_, index) => (index % 2 ? 200 : 404)));
});

test('logs no unexpected error when clients disconnect', () => {
  expect(siege.server.stdout + siege.server.stderr).not.toContain('unexpected error');
});

const rowsOf = ({ text }: Reply) => text.match(/<tr\b/g)?.length ?? 0;

test('limits HTML pages to 100 rows with a link to the next page, and does not limit JSON', async () => {
  const page = await send(siege.base, {
    path: '/api/v2/ingredient/?limit=10000',
    headers: { Accept: 'text/html' },
  });

  expect(page.text).toContain('Pages show at most 100 rows');
  expect(page.text).toContain('limit=100&amp;offset=100');
  expect(rowsOf(page)).toBeLessThan(150);
  const all = await send(siege.base, {
    path: '/api/v2/ingredient/?limit=10000',
    headers: { Accept: JSON_TYPE },
  });

  expect(JSON.parse(all.text).results.length).toBeGreaterThan(100);
  const few = await send(siege.base, {
    path: '/api/v2/ingredient/?limit=100',
    headers: { Accept: 'text/html' },
  });

  expect(few.text).not.toContain('Pages show at most');
});
