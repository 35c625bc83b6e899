/**
 * `deploy/nginx.conf` in nginx in front of a server: links, client addresses, uploads, events and
 * WebSockets.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { request } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createClient as createSocketClient } from 'graphql-ws';
import WebSocket from 'ws';
import { plain } from '../../files/pictures';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { until } from '../../setup/waits';

const MEGABYTE = 1e6;

/** Time within which an event must arrive, far longer than it takes. */
const EVENT_TIMEOUT_MS = 10_000;

const fitgraph = fitgraphForThisFile({
  environment: { TRUSTED_PROXIES: '127.0.0.1, ::1', MAX_UPLOAD: '2MB' },
});
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-nginx-'));
let nginx: ChildProcess;
let port: number;
let unconfiguredPort: number;
let ann: Person;

/** Returns a port that is currently free. */
async function freePort(): Promise<number> {
  const server = createServer();

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;

  await new Promise((resolve) => server.close(resolve));
  return address.port;
}

/** Returns the configuration with the ports and certificate of this test. */
function configuration(plainPort: number): string {
  const https = path.join(__dirname, '../../setup/https');
  const changes: [string, string][] = [
    ['server 127.0.0.1:8000;', `server ${new URL(fitgraph.url).host};`],
    ['listen 80;', `listen 127.0.0.1:${plainPort};`],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`],
    ['/etc/ssl/fit.example.com/fullchain.pem', path.join(https, 'cert.pem')],
    ['/etc/ssl/fit.example.com/key.pem', path.join(https, 'key.pem')],
  ];
  let text = fs.readFileSync(path.join(__dirname, '../../../deploy/nginx.conf'), 'utf8');

  for (const [from, to] of changes) {
    expect(text.split(from)).toHaveLength(2);
    text = text.replace(from, to);
  }

  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );

  // A proxy with the defaults of nginx, which buffers responses.
  const unconfiguredProxy = `server { listen 127.0.0.1:${unconfiguredPort}; location / { proxy_pass http://fitgraph; } }`;

  return `pid ${folder}/pid; error_log stderr notice; daemon off; events {} http { access_log off; ${places.join(' ')}\n${text}\n${unconfiguredProxy}\n}`;
}

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  port = await freePort();
  unconfiguredPort = await freePort();
  // nginx workers do not run as root.
  fs.chmodSync(folder, 0o755);
  const file = path.join(folder, 'nginx.conf');

  fs.writeFileSync(file, configuration(await freePort()));
  nginx = spawn(process.env.NGINX!, ['-c', file, '-p', folder, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errorOutput = '';

  nginx.stderr!.on('data', (chunk: Buffer) => (errorOutput += chunk.toString()));
  await until('nginx serves', () => {
    if (nginx.exitCode !== null) throw new Error(errorOutput);

    return errorOutput.includes('start worker process ');
  });
});
afterAll(async () => {
  const ended = new Promise((resolve) => nginx.once('exit', resolve));

  nginx.kill();
  await ended;
  fs.rmSync(folder, { recursive: true });
});

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

/**
 * Sends a request through nginx. `isComplete` receives the text so far and ends the request by
 * returning true.
 */
function send(
  method: string,
  at: string,
  headers: object = {},
  body?: Uint8Array | string,
  isComplete?: (text: string) => boolean,
) {
  return new Promise<Answer>((resolve, reject) => {
    const sent = request(
      {
        port,
        method,
        path: at,
        rejectUnauthorized: false,
        headers: { Authorization: `Token ${ann.token}`, ...headers },
      },
      (response) => {
        let text = '';
        const answer = () =>
          resolve({ status: response.statusCode!, headers: response.headers, body: text });

        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          if (!isComplete?.(text)) return;
          answer();
          sent.destroy();
        });
        response.once('end', answer);
      },
    ).once('error', reject);

    sent.end(body);
  });
}

const json = { 'Content-Type': 'application/json' };

test('links use https and the host of nginx', async () => {
  const { status, body } = await send('GET', '/api/v2/exercise/?limit=1');

  expect(status).toBe(200);
  expect(JSON.parse(body).next).toBe(`https://localhost:${port}/api/v2/exercise/?limit=1&offset=1`);
});

test('responses have the request id of nginx and Strict-Transport-Security', async () => {
  const { headers } = await send('GET', '/api/v2/', { 'X-Request-Id': 'of-the-client' });

  expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
  expect(headers['strict-transport-security']).toBeDefined();
});

test('the client address is that of the connection, not of a forged X-Forwarded-For', async () => {
  const audit = `{ viewer { securityEvents(first: 1) { nodes { kind address } } } }`;
  const credentials = JSON.stringify({ username: 'ann', password: 'not the password' });
  const { status } = await send(
    'POST',
    '/api/v2/login/',
    { ...json, Authorization: '', 'X-Forwarded-For': '203.0.113.9' },
    credentials,
  );

  expect(status).toBe(401);
  const { viewer } = await ann.ask(audit);

  expect(viewer.securityEvents.nodes).toEqual([{ kind: 'SIGN_IN_FAILED', address: '127.0.0.1' }]);
});

test('uploads are stored and served, and Fitgraph rejects one that is too large', async () => {
  const superuser = await fitgraph.user('sue', { isSuperuser: true });

  const upload = async (bytes: Uint8Array<ArrayBuffer>) => {
    const form = new FormData();

    form.set('exercise', '1');
    form.set('image', new Blob([bytes]), 'arnold.png');
    const encoded = new Response(form);
    const type = encoded.headers.get('content-type')!;
    const all = new Uint8Array(await encoded.arrayBuffer());

    return send(
      'POST',
      '/api/v2/exerciseimage/',
      {
        Authorization: `Token ${superuser.token}`,
        'Content-Type': type,
        'Content-Length': all.length,
      },
      all,
    );
  };

  const { status, body } = await upload(new Uint8Array(await plain().png().toBuffer()));

  expect(status).toBe(201);
  const { image } = JSON.parse(body) as { image: string };

  expect(image).toMatch(`https://localhost:${port}/media/`);
  expect(await send('GET', new URL(image).pathname)).toMatchObject({
    status: 200,
    headers: { 'content-type': 'image/png' },
  });
  const rejected = await upload(new Uint8Array(3 * MEGABYTE));

  expect([rejected.status, JSON.parse(rejected.body)]).toEqual([
    400,
    { image: [expect.stringContaining('2')] },
  ]);
});

const CHANGED =
  'subscription { changed(types: [WEIGHT_ENTRY]) { changes { node { ... on WeightEntry { weight } } } } }';

test.each(['/graphql/stream', '/graphql'])('events of %s arrive without buffering', async (at) => {
  const weight = at === '/graphql' ? '71.50' : '72.50';
  let written = false;
  const { status, headers } = await send(
    'POST',
    at,
    { ...json, Accept: 'text/event-stream' },
    JSON.stringify({ query: CHANGED }),
    (text) => {
      // The first bytes prove that the stream is open.
      if (!written) {
        void ann.post('/weightentry/', {
          date: at === '/graphql' ? '2026-01-01' : '2026-01-02',
          weight,
        });
      }

      written = true;
      return text.includes(weight);
    },
  );

  expect([status, headers['content-type']]).toEqual([
    200,
    expect.stringContaining('text/event-stream'),
  ]);
});

test('events arrive at once through a proxy with the defaults of nginx', async () => {
  const response = await fetch(`http://127.0.0.1:${unconfiguredPort}/graphql/stream`, {
    method: 'POST',
    headers: { ...json, Accept: 'text/event-stream', Authorization: `Token ${ann.token}` },
    body: JSON.stringify({ query: CHANGED }),
    signal: AbortSignal.timeout(EVENT_TIMEOUT_MS),
  });
  const events = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';

  // The first event contains the initial cursor.
  while (!text.includes('event: next')) text += (await events.read()).value;
  await ann.post('/weightentry/', { date: '2026-01-04', weight: '74.50' });
  while (!text.includes('74.50')) text += (await events.read()).value;
  await events.cancel();
});

test('WebSocket connections are proxied', async () => {
  class Trusting extends WebSocket {
    constructor(address: string, protocols: string | string[]) {
      super(address, protocols, { rejectUnauthorized: false });
    }
  }

  const client = createSocketClient({
    url: `wss://localhost:${port}/graphql`,
    webSocketImpl: Trusting,
    connectionParams: { Authorization: `Token ${ann.token}` },
    retryAttempts: 0,
  });

  try {
    const events = client.iterate({ query: CHANGED });

    // The first event contains the initial cursor.
    await events.next();
    await ann.post('/weightentry/', { date: '2026-01-03', weight: '73.50' });
    expect((await events.next()).value).toEqual({
      data: { changed: { changes: [{ node: { weight: '73.50' } }] } },
    });
  } finally {
    await client.dispose();
  }
});

test('/metrics is not found through nginx', async () => {
  expect((await send('GET', '/metrics')).status).toBe(404);
});
