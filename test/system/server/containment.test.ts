/**
 * No request ends a worker: an error fails only its own request, and the resources of disconnected
 * clients are released.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { randomFor, seeded, type Random } from '../../setup/random';
import { until } from '../../setup/waits';
import {
  build,
  DEFAULT_WORKER_TIMEOUT,
  Installation,
  type Server,
} from '../../setup/server-process';

/** Number of random forms; `npm run explore` sends more. */
const FORMS = Number(process.env.FUZZ_FORMS ?? 3_000);

let installation: Installation;
let server: Server;

beforeAll(async () => {
  build();
  installation = await Installation.started(DEFAULT_WORKER_TIMEOUT);
});
afterAll(() => installation.remove());

const METRICS_TOKEN = 'a token for metrics';

const start = async (environment: Record<string, string> = {}) => {
  server = await installation.start({
    WEB_CONCURRENCY: '1',
    METRICS_TOKEN,
    LOGIN_RATE: '1000000/min',
    BUDGET: 'off',
    ...environment,
  });
};

const stop = async () => {
  server.process.kill('SIGTERM');
  await server.ended;
};

const workerPid = () => server.workers[0]!;

const descriptors = (pid: number): string[] => {
  try {
    return fs.readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return fs.readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
};

const port = () => Number(new URL(server.url).port);

interface RandomRequest {
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

/**
 * Sends a body unchanged and resolves with the status, or 0 if the server closed the connection
 * without a response.
 */
function send(agent: http.Agent, { path: to, headers, body }: RandomRequest): Promise<number> {
  return new Promise((resolve) => {
    const request = http.request(
      { port: port(), path: to, method: 'POST', headers, agent, timeout: 60_000 },
      (response) => {
        response.on('error', () => undefined).on('close', () => resolve(response.statusCode!));
        response.resume();
      },
    );

    request
      .on('error', () => resolve(0))
      .on('timeout', () => request.destroy(new Error('no answer')));
    request.end(body);
  });
}

const CHARSETS = [
  'utf-8',
  'utf-16',
  'utf-32',
  'utf16',
  'hex',
  'base64',
  'latin1',
  'ascii',
  'nope',
  '',
  '""',
  "'",
  '\u0000',
  '__proto__',
  'toString',
];

/** Charsets that may be in a header. */
const FORM_CHARSETS = CHARSETS.filter((name) => name !== '\u0000');
const TYPES = [
  'text/plain',
  'application/octet-stream',
  'image/png',
  'application/json',
  'multipart/mixed',
  'x',
  '',
  '/',
  ';',
  'text/plain;;;',
];
const NAMES = [
  'username',
  'password',
  'image',
  'exercise',
  'operations',
  'map',
  '0',
  '',
  'name',
  '__proto__',
  'constructor',
  'a'.repeat(3_000),
];
const FILENAMES = ['a.png', '', ' ', '/', '..', 'ü.png', '\u0000', 'a'.repeat(2_000)];
const PATHS = [
  '/api/v2/login/',
  '/api/v2/register/',
  '/api/v2/exerciseimage/',
  '/api/v2/workout/',
  '/graphql',
  '/login',
  '/nowhere',
  '/api/v2/workout/1/',
];

function randomForm(random: Random, token: string): RandomRequest {
  const boundary = random.pick(['b', 'boundary', '-', 'a b', 'x'.repeat(70), '', 'ü']);

  const part = (): string => {
    const parameters = [
      ...(random.chance(0.9)
        ? [`name=${random.chance(0.8) ? `"${random.pick(NAMES)}"` : random.pick(NAMES)}`]
        : []),
      ...(random.chance(0.4)
        ? [`filename${random.chance(0.1) ? '*' : ''}="${random.pick(FILENAMES)}"`]
        : []),
    ];
    const lines = [
      ...(random.chance(0.9)
        ? [
            `Content-Disposition: ${random.pick(['form-data', 'form-data', 'form-data', 'attachment', ''])}; ${parameters.join('; ')}`,
          ]
        : []),
      ...(random.chance(0.6)
        ? [`Content-Type: ${random.pick(TYPES)}; charset=${random.pick(CHARSETS)}`]
        : []),
      ...(random.chance(0.2)
        ? [`Content-Transfer-Encoding: ${random.pick(['7bit', 'base64', 'nope', ''])}`]
        : []),
      ...(random.chance(0.1)
        ? [random.pick(['X', 'no colon at all', ': empty', 'A: \u0000', 'a'.repeat(20_000)])]
        : []),
    ];

    return `${random.pick(['--', '--', '--', '-', ''])}${boundary}${random.pick(['\r\n', '\r\n', '\r\n', '\n', ''])}${lines.join('\r\n')}\r\n\r\n${random.pick(['', 'x', '{"query":"{ version }"}', 'a'.repeat(random.below(70_000)), '\u0000', '1'])}\r\n`;
  };

  const whole = Buffer.from(
    `${Array.from({ length: random.int(0, 4) }, part).join('')}--${boundary}--\r\n`,
    random.pick(['utf8', 'latin1']),
  );
  const body = random.chance(0.3) ? whole.subarray(0, random.below(whole.length + 1)) : whole;
  const type = random.chance(0.85)
    ? `multipart/form-data; boundary=${random.chance(0.7) ? boundary.replace(/[^\x20-\x7e]/g, '') : random.pick(['"', 'other', '', '"a'])}${random.chance(0.3) ? `; charset=${random.pick(FORM_CHARSETS)}` : ''}`
    : random.pick([
        ...TYPES,
        'application/x-www-form-urlencoded',
        'application/json; charset=utf-16',
        'application/json; charset=nope',
      ]);

  return {
    path: random.pick(PATHS),
    headers: {
      'Content-Type': type,
      Accept: random.pick(['application/json', 'text/html', '*/*']),
      'Apollo-Require-Preflight': '1',
      ...(random.chance(0.5) && { Authorization: `Token ${token}` }),
      ...(random.chance(0.5)
        ? { 'Content-Length': String(body.length) }
        : { 'Transfer-Encoding': 'chunked' }),
    },
    body,
  };
}

describe('a single worker', () => {
  beforeAll(() => start());
  afterAll(() => stop());

  test(
    seeded('survives random forms without a 500 and leaves no files or descriptors behind'),
    async () => {
      const random = randomFor('forms');
      const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
      const worker = workerPid();
      const { token } = server.demo;

      await send(agent, randomForm(randomFor('warm up'), token));
      const before = descriptors(worker).length;
      const statuses = new Map<number, number>();
      let sent = 0;

      await Promise.all(
        Array.from({ length: 8 }, async () => {
          while (sent < FORMS) {
            sent += 1;
            const form = randomForm(random, token);
            const status = await send(agent, form);

            if (status >= 500 && status !== 503) {
              throw new Error(`${status}: ${JSON.stringify(form)} ${form.body.toString()}`);
            }

            statuses.set(status, (statuses.get(status) ?? 0) + 1);
          }
        }),
      );
      agent.destroy();
      expect(workerPid()).toBe(worker);
      expect(server.stdout).not.toMatch(/uncaught error|unexpected error/);
      expect([...statuses.keys()]).toEqual(expect.arrayContaining([201, 400]));
      const incoming = path.join(installation.dataDir, 'incoming');

      await until(
        'no file is left',
        () => !fs.existsSync(incoming) || fs.readdirSync(incoming).length === 0,
      );
      await until('no descriptor is left', () => descriptors(worker).length <= before);
    },
  );

  test('leaves no file or descriptor behind when a malformed part header and a file arrive in one packet', async () => {
    const part = (header: string) =>
      `--b\r\nContent-Disposition: form-data; ${header}\r\n\r\ncontent\r\n`;
    const body = Buffer.from(
      `${part('name="exercise"\r\nmalformed header\0')}${part('name="image"; filename="a.png"')}`,
    );
    const headers = {
      'Content-Type': 'multipart/form-data; boundary=b',
      Authorization: `Token ${server.demo.token}`,
    };
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const upload = () => send(agent, { path: '/api/v2/exerciseimage/', headers, body });

    await upload();
    const before = descriptors(workerPid()).length;

    for (let count = 0; count < 50; count += 1) expect(await upload()).toBe(400);
    // Checked immediately, because garbage collection would close leaked descriptors.
    expect(descriptors(workerPid()).length - before).toBeLessThan(10);
    agent.destroy();
    const incoming = path.join(installation.dataDir, 'incoming');

    await until(
      'no file is left',
      () => !fs.existsSync(incoming) || fs.readdirSync(incoming).length === 0,
    );
  });

  test.each(['utf-16', 'utf-32', 'utf16', 'hex', 'nope', ''])(
    'returns 400 for a login form without a password whose part has the charset "%s"',
    async (charset) => {
      const body = Buffer.from(
        `--b\r\nContent-Disposition: form-data; name="username"\r\nContent-Type: text/plain; charset=${charset}\r\n\r\nann\r\n--b--\r\n`,
      );
      const status = await send(new http.Agent(), {
        path: '/api/v2/login/',
        headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
        body,
      });

      expect(status).toBe(400);
    },
  );

  test.each(['/graphql', '/api/v2/login/'])(
    'survives a form in an unknown charset whose client pauses within it: %s',
    async (to) => {
      const worker = workerPid();
      const headers = {
        'Content-Type': 'multipart/form-data; boundary=b; charset=nope',
        'Apollo-Require-Preflight': '1',
      };
      const request = http.request({ port: port(), path: to, method: 'POST', headers });
      const status = new Promise((resolve) => {
        request
          .on('response', (response) => resolve(response.resume().statusCode))
          .on('error', () => resolve(0));
      });

      request.write(
        '--b\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: application/octet-stream\r\n\r\nx\r\n--b\r\n',
      );
      await sleep(500);
      request.end();
      expect(await status).toBe(400);
      expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
      expect(workerPid()).toBe(worker);
      expect(server.stdout).not.toContain('uncaught error');
    },
  );

  test('returns no 5xx for invalid URLs, nameless form parts and conditional subscriptions', async () => {
    const get = await new Promise<number>((resolve, reject) =>
      http
        .get({ port: port(), path: '/graphql/\\[' }, (response) =>
          resolve(response.resume().statusCode!),
        )
        .on('error', reject),
    );

    expect(get).toBeLessThan(500);
    const body = Buffer.from('--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n');
    const headers = {
      'Content-Type': 'multipart/form-data; boundary=b',
      Accept: 'text/html',
      Authorization: `Token ${server.demo.token}`,
    };

    expect(await send(new http.Agent(), { path: '/api/v2/workout/', headers, body })).toBeLessThan(
      500,
    );
    const subscription = new URLSearchParams({
      query: 'subscription { changed @skip(if: true) { cursor } }',
    });
    const answer = await fetch(`${server.url}/graphql/stream?${subscription}`, {
      headers: { Accept: 'text/event-stream' },
    });

    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('takes neither @skip nor @include');
  });

  test('returns 413 for an oversized form and writes nothing to standard error', async () => {
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Transfer-Encoding': 'chunked',
    };
    const countRejectedLogins = () =>
      server.stdout
        .split('\n')
        .filter((line) => line.includes('"/login"') && line.includes('"status":413')).length;
    // Random forms of an earlier test may also have been rejected with 413.
    const before = countRejectedLogins();

    for (let count = 1; count <= 3; count += 1) {
      expect(
        await send(new http.Agent(), { path: '/login', headers, body: Buffer.alloc(100_000, 'a') }),
      ).toBe(413);
      await until('the rejected logins are logged', () => countRejectedLogins() >= before + count);
    }

    expect(server.stderr).toBe('');
  });

  const socket = () =>
    new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');

  test('disconnects a client that sends pings or requests without reading the replies', async () => {
    const worker = workerPid();
    const residentMb = () =>
      Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${worker}/status`, 'utf8'))![1]) / 1024;
    const before = residentMb();
    const client = socket();

    await new Promise((resolve) => client.once('open', resolve));
    client.pause();
    client.on('error', () => undefined);
    let replies = 0;

    client.on('message', () => (replies += 1));
    const closed = new Promise((resolve) => client.once('close', resolve));
    const ping = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(50_000) } });

    for (let sent = 0; sent < 1_000; sent += 1) client.send(ping, () => undefined);
    // A paused client reads no close frame; its empty send buffer shows that the connection has
    // ended.
    await until(
      'the server has closed the connection',
      () => descriptors(worker).length > 0 && client.bufferedAmount === 0,
    );
    client.resume();
    await closed;
    // The client receives only the replies that the kernel had buffered.
    expect(replies).toBeLessThan(500);

    // Without keep-alive Node would read no request after the first one.
    const agent = new http.Agent({ keepAlive: true });
    const stream = http.get({
      port: port(),
      path: '/graphql/stream?query=subscription{changed(types:[MUSCLE]){cursor}}',
      headers: { Accept: 'text/event-stream' },
      agent,
    });

    stream.on('error', () => undefined);
    const raw = await new Promise<Socket>((resolve) =>
      stream.once('response', (response) => resolve(response.socket)),
    );
    const ended = new Promise((resolve) => raw.once('close', resolve));

    raw.on('error', () => undefined);
    const request = `GET /api/v2/muscle/ HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(1_000);

    for (let sent = 0; sent < 200 && !raw.destroyed; sent += 1) {
      await new Promise((resolve) => raw.write(request, resolve));
    }

    await ended;
    expect(workerPid()).toBe(worker);
    expect(residentMb() - before).toBeLessThan(200);
  });

  test('disconnects a client that sends more messages than any client needs, although it reads the replies', async () => {
    const client = socket();

    client.on('error', () => undefined);
    await new Promise((resolve) => client.once('open', resolve));
    const closed = new Promise((resolve) => client.once('close', resolve));
    let replies = 0;

    client.on('message', () => (replies += 1));
    for (let sent = 0; sent < 20_000; sent += 1) client.send('{"type":"ping"}', () => undefined);
    await closed;
    expect(replies).toBeLessThanOrEqual(1_000);
  });

  test('limits the log lines about malformed WebSocket frames', async () => {
    const lines = () =>
      server.stdout.split('\n').filter((line) => line.includes('WebSocket error'));

    for (let connection = 0; connection < 20; connection += 1) {
      const client = socket();

      client.on('error', () => undefined);
      await new Promise((resolve) => client.once('open', resolve));
      const closed = new Promise((resolve) => client.once('close', resolve));

      (client as unknown as { _socket: Socket })._socket.write(
        Buffer.from([0xff, 0xff, 0xff, 0xff]),
      );
      await closed;
    }

    await until('the malformed frames are logged', () => lines().length > 0);
    expect(lines().length).toBeLessThan(10);
    expect(JSON.parse(lines()[0]!)).toMatchObject({
      msg: 'WebSocket error',
      code: expect.stringMatching(/^WS_ERR/),
    });
    expect(server.stderr).toBe('');
  });

  test('ends a subscription with its connection when its id is reused during set-up', async () => {
    const runningOperations = async () => {
      const text = await (
        await fetch(`${server.url}/metrics`, {
          headers: { Authorization: `Bearer ${METRICS_TOKEN}` },
        })
      ).text();

      return Number(/^fitgraph_subscriptions (\d+)/m.exec(text)![1]);
    };

    const before = await runningOperations();

    for (let connection = 0; connection < 5; connection += 1) {
      const client = socket();

      client.on('error', () => undefined);
      await new Promise((resolve) => client.once('open', resolve));
      client.send('{"type":"connection_init"}');
      await new Promise((resolve) => client.once('message', resolve));
      const subscribe = JSON.stringify({
        id: '1',
        type: 'subscribe',
        payload: { query: 'subscription { changed { cursor } }' },
      });
      const closed = new Promise<number>((resolve) => client.once('close', resolve));
      // Sends the messages in one packet.
      const { _socket: underlying } = client as unknown as { _socket: Socket };

      underlying.cork();

      for (const message of [subscribe, '{"id":"1","type":"complete"}', subscribe]) {
        client.send(message);
      }

      underlying.uncork();
      expect(await closed).toBe(4409);
    }

    await until('all operations have ended', async () => (await runningOperations()) <= before);
  });
});

/**
 * Writes a script that makes the server throw errors for requests with the header X-Throw, and
 * returns its path.
 */
function throwingPreload(): string {
  const preload = path.join(installation.folder, 'throw.js');

  fs.writeFileSync(
    preload,
    `const { Server } = require('node:http');
     const emit = Server.prototype.emit;
     Server.prototype.emit = function (type, request, response) {
       const kind = type === 'request' && request.headers['x-throw'];
       const fail = () => { throw new Error('thrown by the test'); };
       if (kind === 'dispatch') response.setHeader = () => { delete response.setHeader; fail(); };
       if (kind === 'data') request.on('data', fail);
       if (kind === 'finish') response.on('finish', fail);
       if (kind === 'timer') setTimeout(fail, 0);
       if (kind === 'listener') setImmediate(() => new (require('node:events'))().on('x', fail).emit('x'));
       if (kind === 'lost') response.writeHead = response.end = () => response;
       if (kind === 'promise') void Promise.reject(new Error('thrown by the test'));
       return emit.apply(this, arguments);
     };`,
  );

  return preload;
}

describe('uncaught errors', () => {
  // MAX_WAIT is off because waiting for the database is not tested here.
  beforeAll(() => start({ NODE_OPTIONS: `--require=${throwingPreload()}`, MAX_WAIT: 'off' }));
  afterAll(() => stop());

  test.each([
    ['dispatch', 500],
    ['data', 500],
    ['finish', 405],
  ])('do not end the worker or other requests (%s)', async (kind, expected) => {
    const [worker, logged] = [workerPid(), server.stdout.length];
    const otherRequests = Array.from({ length: 20 }, () =>
      fetch(`${server.url}/api/v2/exerciseinfo/`),
    );
    const failing = await fetch(`${server.url}/api/v2/login/`, {
      method: kind === 'data' ? 'POST' : 'PUT',
      body: '{}',
      headers: { 'X-Throw': kind, 'Content-Type': 'application/json' },
    });

    expect(failing.status).toBe(expected);
    for (const other of await Promise.all(otherRequests)) expect(other.status).toBe(200);
    expect(workerPid()).toBe(worker);
    await until('the error is logged', () =>
      server.stdout.slice(logged).includes('uncaught error'),
    );
    expect(server.stdout.slice(logged).match(/uncaught error/g)).toHaveLength(1);
  });

  test.each(['timer', 'listener', 'promise'])(
    'that belong to no request end the worker after it has answered all requests (%s)',
    async (kind) => {
      const [worker, logged] = [workerPid(), server.stdout.length];
      // So few that a busy machine answers them within the seconds that the worker has.
      const otherRequests = Array.from({ length: 5 }, () =>
        fetch(`${server.url}/api/v2/exerciseinfo/`),
      );
      const failing = await fetch(`${server.url}/api/v2/login/`, {
        method: 'PUT',
        headers: { 'X-Throw': kind },
      });

      expect(failing.status).toBe(405);
      for (const other of await Promise.all(otherRequests)) expect(other.status).toBe(200);
      await until(
        'the worker is replaced',
        () => server.workers.length === 1 && workerPid() !== worker,
      );
      await until(
        'requests are answered',
        async () =>
          (await fetch(`${server.url}/api/v2/muscle/`).catch(() => undefined))?.status === 200,
      );
      expect(server.stdout.slice(logged).match(/uncaught error/g)).toHaveLength(1);
    },
  );

  test('are reported in the format of GraphQL on its paths, with the id under which they are logged', async () => {
    const failing = await fetch(`${server.url}/graphql?query={__typename}`, {
      headers: { 'X-Throw': 'dispatch' },
    });

    expect(failing.status).toBe(500);
    const body = (await failing.json()) as { errors: [{ extensions: { id: string } }] };
    const { id } = body.errors[0].extensions;

    expect(body).toEqual({
      errors: [
        {
          message: `Internal server error (id ${id}).`,
          extensions: { code: 'INTERNAL_SERVER_ERROR', id },
        },
      ],
    });
    await until('the error is logged', () => server.stdout.includes(`"id":"${id}"`));
  });
});

test('closes the connection of a request that is never answered', async () => {
  await start({ NODE_OPTIONS: `--require=${throwingPreload()}`, CLIENT_TIMEOUT: '300ms' });

  try {
    // Without compression, which would write to the socket despite the replaced functions.
    const headers = { 'X-Throw': 'lost', 'Accept-Encoding': 'identity' };
    const closed = { cause: { code: 'UND_ERR_SOCKET' } };

    await expect(fetch(`${server.url}/api/v2/muscle/`, { headers })).rejects.toMatchObject(closed);
    expect((await fetch(`${server.url}/api/v2/muscle/`)).status).toBe(200);
  } finally {
    await stop();
  }
});

test('starts a new worker once the primary has file descriptors again', async () => {
  await start();

  try {
    const primary = server.process.pid!;
    const limit = (number: number | string) =>
      execFileSync('prlimit', ['--pid', String(primary), `--nofile=${number}:4096`]);

    // The limit is below the current number of descriptors, because those for the killed workers
    // are freed.
    limit(fs.readdirSync(`/proc/${primary}/fd`).length - 8);
    for (const pid of server.workers) process.kill(pid, 'SIGKILL');
    await until('a worker start has failed', () =>
      server.stdout.includes('a worker could not be started'),
    );
    limit(4096);
    await until(
      'requests are answered',
      async () =>
        (await fetch(`${server.url}/api/v2/muscle/`).catch(() => undefined))?.status === 200,
    );
    expect(server.process.exitCode).toBeNull();
  } finally {
    await stop();
  }
});

test('keeps serving after its standard output and standard error are closed', async () => {
  await start();

  try {
    const worker = workerPid();

    server.process.stdout!.destroy();
    server.process.stderr!.destroy();

    for (let request = 0; request < 20; request += 1) {
      expect((await fetch(`${server.url}/api/v2/muscle/`)).status).toBe(200);
    }

    expect(workerPid()).toBe(worker);
    // The primary tries to log that the worker has ended.
    process.kill(worker, 'SIGKILL');
    await until(
      'requests are answered',
      async () =>
        (await fetch(`${server.url}/api/v2/muscle/`).catch(() => undefined))?.status === 200,
    );
    expect(server.process.exitCode).toBeNull();
  } finally {
    await stop();
  }
});

test.each(['SIGHUP', 'SIGUSR2'] as const)(
  'answers running requests before it stops on %s',
  async (signal) => {
    await start();
    const headers = { 'Content-Type': 'application/json', Expect: '100-continue' };
    const request = http.request({ port: port(), path: '/graphql', method: 'POST', headers });

    request.flushHeaders();
    // The server has accepted the request and waits for its body.
    await once(request, 'continue');
    server.process.kill(signal);
    const responded = once(request, 'response') as Promise<[http.IncomingMessage]>;

    request.end(JSON.stringify({ query: '{ muscles { nodes { id } } }' }));
    const [response] = await responded;

    expect(response.resume().statusCode).toBe(200);
    expect(await server.ended).toBe(0);
  },
);

test('restarts the database when its socket file has been removed', async () => {
  await start();

  try {
    const folder = path.join(installation.dataDir, 'socket');

    fs.rmSync(path.join(folder, '.s.PGSQL.5432'));
    await until('the socket file exists again', () =>
      fs.existsSync(path.join(folder, '.s.PGSQL.5432')),
    );
    await until(
      'requests are answered',
      async () => (await fetch(`${server.url}/api/v2/exercise/`)).status === 200,
    );
  } finally {
    await stop();
  }
});
