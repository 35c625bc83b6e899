/**
 * Many small things at once: documents, messages, frames, and body chunks of one byte. Each is
 * cheap; their number must be bounded or spread.
 */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { graphql, LIVENESS_LIMIT_MS, MEMORY_MB, send, Siege } from './server-under-attack';

let siege: Siege;

beforeAll(async () => {
  siege = await Siege.start();
});
afterAll(() => siege.end());

const repeat = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** A document that takes about as long to validate as the limits allow. */
const slowDocument = (id: number, operation = 'query') => {
  const root = operation === 'query' ? 'exercise(id: 1)' : 'rowChanges';

  return `${operation} Q${id} { ${root} { ${repeat(190, (i) => `...F${i}`)} } } ${repeat(190, (i) => `fragment F${i} on Exercise { ${i % 2 ? 'id' : 'name'} }`)}`;
};

test('answers other clients while one sends 60 slow documents at once', async () => {
  const attack = () =>
    Promise.all(Array.from({ length: 60 }, (_, id) => graphql(siege.base, slowDocument(id))));
  const { result, aliveMs } = await siege.measureDuring(attack);

  expect(new Set(result.map(({ status }) => status))).toEqual(new Set([200]));
  expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
});

/** Opens a WebSocket, which has sent `connection_init`, and returns it with its close code. */
async function connect(): Promise<{ socket: WebSocket; closed: Promise<number> }> {
  const socket = new WebSocket(
    `${siege.base.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  );
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));

  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send('{"type":"connection_init"}');
  await new Promise((resolve) => socket.once('message', resolve));
  return { socket, closed };
}

test('answers other clients while a WebSocket sends 100 slow documents in one packet', async () => {
  const attack = async () => {
    const { socket, closed } = await connect();
    const answers = new Promise<void>((resolve) => {
      let count = 0;

      socket.on('message', () => (count += 1) === 100 && resolve());
    });

    for (let id = 0; id < 100; id += 1) {
      socket.send(
        JSON.stringify({
          id: String(id),
          type: 'subscribe',
          payload: { query: slowDocument(id, 'subscription') },
        }),
      );
    }

    await answers;
    socket.close();
    await closed;
  };

  expect((await siege.measureDuring(attack)).aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
});

test.each([
  ['pings', (socket: WebSocket) => socket.ping()],
  ['pongs', (socket: WebSocket) => socket.pong()],
  ['empty continuation frames', (socket: WebSocket) => socket.send('', { fin: false })],
  ['empty messages', (socket: WebSocket) => socket.send('')],
])('closes a WebSocket that sends thousands of %s', async (_what, sendOne) => {
  const attack = async () => {
    const { socket, closed } = await connect();

    for (let count = 0; count < 5_000; count += 1) {
      if (socket.readyState === socket.OPEN) sendOne(socket);
    }

    return closed;
  };

  const { result, aliveMs } = await siege.measureDuring(attack);

  expect([1006, 1008, 4400]).toContain(result);
  expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
});

/**
 * Sends `count` chunks with pauses between groups of `group`. Returns the first line of the
 * response, or nothing if the connection was closed.
 */
function sendChunks(
  path: string,
  type: string,
  chunk: Buffer,
  count: number,
  group = count,
): Promise<string> {
  const { hostname, port } = new URL(siege.base);
  const socket = net.connect(Number(port), hostname).setNoDelay();
  let answer = '';

  socket
    .on('data', (data: Buffer) => (answer += data.toString('latin1')))
    .on('error', () => undefined);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nApollo-Require-Preflight: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const framed = Buffer.concat([
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);

  void (async () => {
    for (let sent = 0; sent < count && !socket.destroyed; sent += group) {
      socket.write(Buffer.concat(Array<Buffer>(Math.min(group, count - sent)).fill(framed)));
      if (group < count) await sleep(5);
    }

    socket.end('0\r\n\r\n');
  })();

  return new Promise((resolve) => socket.once('close', () => resolve(answer.split('\r\n')[0]!)));
}

const MULTIPART = 'multipart/form-data; boundary=b';

test.each([
  ['JSON sent to REST', '/api/v2/login/', 'application/json'],
  ['a form sent to REST', '/api/v2/login/', 'application/x-www-form-urlencoded'],
  ['multipart sent to REST', '/api/v2/login/', MULTIPART],
  ['JSON sent to GraphQL', '/graphql', 'application/json'],
  ['multipart sent to GraphQL', '/graphql', MULTIPART],
  ['a body that nobody reads', '/nowhere', 'text/plain'],
])(
  'answers other clients while eight send 1.5 MB in chunks of one byte: %s',
  async (_what, path, type) => {
    const attack = () =>
      Promise.all(
        Array.from({ length: 8 }, () => sendChunks(path, type, Buffer.from(' '), 1_500_000)),
      );
    const { aliveMs, memoryMb } = await siege.measureDuring(attack);

    expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
    expect(memoryMb).toBeLessThan(MEMORY_MB);
  },
);

test('accepts a long body that arrives in packets of 1,400 bytes', async () => {
  const padding = Buffer.alloc(1_400, ' ');

  expect(await sendChunks('/api/v2/login/', 'application/json', padding, 150, 1)).toMatch(
    /^HTTP\/1.1 400/,
  );
});

test('refuses bodies in UTF-7 without decoding them', async () => {
  const body = Buffer.alloc(250_000, '&AAA-');
  const attack = () =>
    Promise.all(
      ['/api/v2/login/', '/graphql'].flatMap((path) =>
        ['utf-7', 'utf-7-imap'].map((charset) =>
          send(siege.base, {
            method: 'POST',
            path,
            headers: { 'Content-Type': `application/json; charset=${charset}` },
            body,
          }),
        ),
      ),
    );
  const { result, aliveMs } = await siege.measureDuring(attack);

  expect(result.map(({ status }) => status)).toEqual([400, 400, 415, 415]);
  expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
});
