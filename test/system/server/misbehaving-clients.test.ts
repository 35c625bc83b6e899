/**
 * Misbehaving clients: malformed HTTP, arbitrary WebSocket frames, and clients that disconnect at
 * any byte. Afterwards the server holds no more descriptors, files, slots, watchers, connections
 * and memory than before. SOAK_SECONDS sets the duration (`npm run explore`: ten minutes).
 */
import fs from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFor, seeded, type Random } from '../../setup/random';
import { LONG_TIMEOUT_MS, until } from '../../setup/waits';
import {
  build,
  DEFAULT_WORKER_TIMEOUT,
  Installation,
  type Server,
} from '../../setup/server-process';

const SECONDS = Number(process.env.SOAK_SECONDS ?? 6);

jest.setTimeout(LONG_TIMEOUT_MS + SECONDS * 10_000);
const CLIENTS = 6;
const METRICS_TOKEN = 'a token for metrics';

let installation: Installation;
let server: Server;

beforeAll(async () => {
  build();
  installation = await Installation.started(DEFAULT_WORKER_TIMEOUT);
  server = await installation.start({
    WEB_CONCURRENCY: '1',
    METRICS_TOKEN,
    BUDGET: 'off',
    LOGIN_RATE: '1000000/min',
  });
});
afterAll(() => installation.remove());

const workerPid = () => server.workers[0]!;
const port = () => Number(new URL(server.url).port);

/** Opens a connection and discards all data that it receives. */
function openConnection(): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port(), 'localhost', () => resolve(socket.resume()));

    socket.on('error', () => undefined);
  });
}

/**
 * Writes the bytes in random pieces and disconnects at a random moment, possibly before the end.
 */
async function writeAndDisconnect(random: Random, socket: Socket, bytes: Buffer): Promise<void> {
  const end = random.chance(0.5) ? bytes.length : random.below(bytes.length + 1);

  for (let at = 0; at < end && !socket.destroyed;) {
    const next = Math.min(end, at + 1 + random.below(random.chance(0.2) ? 20 : 100_000));

    socket.write(bytes.subarray(at, next));
    at = next;
    if (random.chance(0.3)) await sleep(random.below(5));
  }

  await sleep(random.below(30));
  if (random.chance(0.5)) socket.destroy();
  else socket.end();
  await Promise.race([
    new Promise((resolve) => (socket.closed ? resolve(undefined) : socket.once('close', resolve))),
    sleep(2_000, undefined, { ref: false }),
  ]);
  socket.destroy();
}

const OPERATIONS = [
  '{ exercises(first: 200) { nodes { id name category { name } images { image } } } }',
  '{ workouts { nodes { days { setGroups { plannedSets { reps } } } } } }',
  '{ __schema { types { name } } }',
  'mutation { createWorkout(input: { name: "soak" }) { workout { id } } }',
  '{ wrong }',
  '{',
];
const PATHS = [
  '/api/v2/exerciseinfo/?limit=100',
  '/api/v2/ingredient/?limit=500',
  '/',
  '/playground',
  '/media/../x',
  '/api/v2/schema',
  '/%00',
  '/login',
];

function request(random: Random): Buffer {
  const authorization = random.chance(0.5) ? `Authorization: Token ${server.demo.token}\r\n` : '';
  const head = (line: string, type?: string, length?: number) =>
    `${line} HTTP/1.1\r\nHost: localhost\r\n${authorization}${type ? `Content-Type: ${type}\r\nContent-Length: ${length}\r\nApollo-Require-Preflight: 1\r\n` : ''}\r\n`;

  const graphql = (query: string) => {
    const body = JSON.stringify({ query });

    return head('POST /graphql', 'application/json', Buffer.byteLength(body)) + body;
  };

  switch (random.below(5)) {
    case 0:
      return Buffer.from(graphql(random.pick(OPERATIONS)));
    case 1:
      return Buffer.from(head(`GET ${random.pick(PATHS)}`).repeat(random.chance(0.2) ? 20 : 1));
    case 2:
      return Buffer.from(
        head(`GET /graphql/stream?query=subscription{changed{cursor}}`).replace(
          'Host',
          'Accept: text/event-stream\r\nHost',
        ),
      );
    case 3: {
      const part = (name: string, more: string, content: string) =>
        `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`;
      const body = `${part('exercise', '', '1')}${part('image', '; filename="a.png"', '\u0089PNG'.repeat(random.below(60_000)))}--b--\r\n`;

      return Buffer.from(
        head(
          'POST /api/v2/exerciseimage/',
          'multipart/form-data; boundary=b',
          Buffer.byteLength(body),
        ) + body,
      );
    }
    default:
      return Buffer.from(graphql(random.pick(OPERATIONS)));
  }
}

/**
 * Generates a valid request and replaces some of its bytes; sometimes returns it twice in a row.
 */
function mangledRequest(random: Random): Buffer {
  const bytes = request(random);

  for (let change = random.int(1, 6); change > 0 && bytes.length > 0; change -= 1) {
    const at = random.below(Math.min(bytes.length, 400));

    bytes[at] = random.chance(0.5) ? random.below(256) : random.pick([0, 10, 13, 32, 58, 255]);
  }

  return random.chance(0.3) ? Buffer.concat([bytes, bytes]) : bytes;
}

const MESSAGES = [
  { type: 'connection_init' },
  { type: 'ping' },
  { type: 'pong', payload: {} },
  { type: 'subscribe', id: '1', payload: { query: 'subscription { changed { cursor } }' } },
  { type: 'subscribe', id: '2', payload: { query: '{ exercises { totalCount } }' } },
  { type: 'complete', id: '1' },
  { type: 'subscribe', id: 1, payload: null },
  { type: 'nothing' },
  [],
  null,
];

/**
 * Generates a WebSocket frame, usually a valid one:
 * https://www.rfc-editor.org/rfc/rfc6455#section-5.2
 */
function frame(random: Random): Buffer {
  const usual = random.chance(0.7);
  const payload = usual
    ? Buffer.from(JSON.stringify(random.pick(MESSAGES)))
    : Buffer.alloc(random.below(300), random.below(256));
  const opcode = usual ? 1 : random.below(16);
  const isFinal = random.chance(0.9) ? 0x80 : 0;
  const reserved = random.chance(0.05) ? 0x40 : 0;
  const isMasked = random.chance(0.95) ? 0x80 : 0;
  const length = random.chance(0.95) ? payload.length : random.below(70_000);
  const lengths = length < 126 ? [isMasked | length] : [isMasked | 126, length >> 8, length & 0xff];
  const mask = Array.from({ length: 4 }, () => random.below(256));
  const masked = isMasked ? payload.map((byte, index) => byte ^ mask[index % 4]!) : payload;

  return Buffer.concat([
    Buffer.from([isFinal | reserved | opcode, ...lengths, ...(isMasked ? mask : [])]),
    masked,
  ]);
}

function webSocket(random: Random): Buffer {
  const cookie = random.chance(0.3) ? 'Cookie: fitgraph_session=none\r\n' : '';
  const handshake = `GET /graphql HTTP/1.1\r\nHost: localhost\r\n${cookie}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`;

  return Buffer.concat([
    Buffer.from(handshake),
    ...Array.from({ length: random.int(0, 12) }, () => frame(random)),
  ]);
}

const KINDS: Record<string, (random: Random) => Buffer> = {
  leaving: request,
  mangled: mangledRequest,
  webSocket,
};

interface HeldResources {
  descriptors: number;
  incoming: number;
  counts: Record<string, number>;
  residentMb: number;
}

const COUNTED =
  /^(fitgraph_(?:subscriptions|subscription_connections|change_watchers|database_waiting|http_requests_in_flight)(?:\{[^}]*\})?) (\S+)$/gm;

async function heldResources(): Promise<HeldResources> {
  const text = await (
    await fetch(`${server.url}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } })
  ).text();
  const incoming = path.join(installation.dataDir, 'incoming');

  return {
    descriptors: fs.readdirSync(`/proc/${workerPid()}/fd`).length,
    incoming: fs.existsSync(incoming) ? fs.readdirSync(incoming).length : 0,
    counts: Object.fromEntries(
      [...text.matchAll(COUNTED)].map(([, name, value]) => [name!, Number(value)]),
    ),
    residentMb:
      Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${workerPid()}/status`, 'utf8'))![1]) /
      1024,
  };
}

async function attack(
  random: Random,
  kind: (random: Random) => Buffer,
  seconds: number,
): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let sent = 0;

  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (performance.now() < end) {
        sent += 1;
        await writeAndDisconnect(random, await openConnection(), kind(random));
      }
    }),
  );

  return sent;
}

test.each(Object.entries(KINDS))(
  seeded('releases all resources after traffic of the kind "%s"'),
  async (name, kind) => {
    const random = randomFor(`soak ${name}`);
    const worker = workerPid();

    // Warms the server up, because loading code and filling pools takes resources once.
    await attack(random, kind, 1);
    await sleep(500);
    const before = await heldResources();

    expect(await attack(random, kind, SECONDS)).toBeGreaterThan(10);
    expect(workerPid()).toBe(worker);
    await until('all resources are released', async () => {
      const after = await heldResources();
      const isBack = Object.entries(after.counts).every(
        ([metric, value]) => value <= (before.counts[metric] ?? 0),
      );

      return isBack && after.incoming === 0 && after.descriptors <= before.descriptors + 5;
    });
    expect((await heldResources()).residentMb - before.residentMb).toBeLessThan(200);
    expect(
      server.stdout.split('\n').filter((line) => /uncaught error|unexpected error/.test(line)),
    ).toEqual([]);
    expect((await fetch(`${server.url}/api/v2/exercise/?limit=1`)).status).toBe(200);
  },
);
