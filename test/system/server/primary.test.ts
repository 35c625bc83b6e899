/**
 * The primary process: it starts workers again that hang or crash, and no acknowledged write is
 * lost.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { send, type Reply } from '../availability/server-under-attack';
import { childrenOf, isRunning, serverPid } from '../../database/processes';
import {
  build,
  DEFAULT_WORKER_TIMEOUT,
  Installation,
  run,
  type Server,
} from '../../setup/server-process';
import { delaysOf, timeOf, until, WAIT_LIMIT_MS } from '../../setup/waits';

let installation: Installation;

beforeAll(build);
beforeEach(async () => {
  installation = await Installation.started(DEFAULT_WORKER_TIMEOUT);
});
afterEach(() => installation.remove());

/**
 * Starts a server and waits for its worker to report `ready`; a worker that exits earlier counts as
 * a failed start.
 */
async function startReady(environment?: Record<string, string>): Promise<Server> {
  const server = await installation.start(environment);

  await until('the server is ready', () => server.stdout.includes('"ready"'));
  return server;
}

/**
 * Whether a request was rejected with Retry-After, without being processed, because no worker had
 * started within 3 s.
 */
const isPostponed = ({ status, headers }: Reply) =>
  status === 503 && Boolean(headers['retry-after']);

/**
 * Sends a request every 100 ms on a new connection and repeats it after Retry-After. Returns the
 * status and duration of each.
 */
function sendContinuously(
  server: Server,
  requestPath = '/api/v2/language/',
): { end(): Promise<{ status: number; ms: number }[]> } {
  const sentRequests: Promise<{ status: number; ms: number }>[] = [];
  const { workers } = server;

  const ask = async () => {
    const [began, delays] = [performance.now(), delaysOf(...workers)];

    for (;;) {
      const reply = await send(server.url, { path: requestPath });

      if (!isPostponed(reply)) {
        return { status: reply.status, ms: performance.now() - began - delays() };
      }

      await sleep(Number(reply.headers['retry-after']) * 1_000);
    }
  };

  const timer = setInterval(() => sentRequests.push(ask()), 100);

  return {
    end() {
      clearInterval(timer);
      return Promise.all(sentRequests);
    },
  };
}

/**
 * Writes until it is ended and repeats each write until its outcome is known. Returns the comments
 * of all completed writes.
 */
function writeContinuously(
  server: Server,
  token: string,
  writers: number,
): { acknowledged: string[]; end(): Promise<string[]> } {
  let isStopped = false;
  const acknowledged: string[] = [];

  /** Comments of writes that succeeded but whose response was lost. */
  const lost: string[] = [];

  const writeUntilKnown = async (comment: string) => {
    const headers = {
      Authorization: `Token ${token}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    };

    // The claim of a worker that died expires after a minute.
    for (const end = performance.now() + WAIT_LIMIT_MS; performance.now() < end; await sleep(200)) {
      const request = {
        method: 'POST',
        path: '/api/v2/workout/',
        headers,
        body: JSON.stringify({ comment }),
      };
      const reply = await send(server.url, request);
      const { status } = reply;

      if (status === 201) return void acknowledged.push(comment);
      if (status === 409 && !reply.headers['retry-after']) return void lost.push(comment);

      if (status !== 0 && status !== 409 && !isPostponed(reply)) {
        throw new Error(`unexpected status ${status}`);
      }
    }

    throw new Error(`it was never said what became of ${comment}`);
  };

  const working = Array.from({ length: writers }, async (_, writer) => {
    for (let number = 0; !isStopped; number += 1) {
      await writeUntilKnown(`hang ${writers} ${writer} ${number}`);
    }
  });

  return {
    acknowledged,
    async end() {
      isStopped = true;
      await Promise.all(working);
      return [...acknowledged, ...lost];
    },
  };
}

async function comments(server: Server, token: string): Promise<string[]> {
  const { body } = await server.signedIn(token).get('/workout/?limit=10000');

  return (body.results as { comment: string }[])
    .map(({ comment }) => comment)
    .filter((comment) => comment.startsWith('hang '));
}

test('replaces a worker that hangs, and applies each write once', async () => {
  const began = performance.now();
  const server = await startReady();
  const startMs = performance.now() - began;
  const { token } = server.demo;
  const [hung] = server.workers;
  const writes = writeContinuously(server, token, 4);

  await until('writes are acknowledged', () => writes.acknowledged.length > 50);
  process.kill(hung!, 'SIGSTOP');
  const delays = delaysOf(server.process.pid!);
  const stopped = performance.now();

  await sleep(200);
  const next = writeContinuously(server, token, 1);

  await until('a write is acknowledged', () => next.acknowledged.length > 0);
  // A worker may be silent for 5 s, and is started again after one more; the rest is the time that
  // it needs to start.
  expect(performance.now() - stopped - delays()).toBeLessThan(
    Math.max(13_000, 6_000 + 3 * startMs),
  );
  expect(isRunning(hung!)).toBe(false);
  expect(server.workers).toHaveLength(1);

  const writtenComments = [...(await next.end()), ...(await writes.end())];

  expect((await comments(server, token)).sort()).toEqual(writtenComments.sort());
  expect(server.stdout.match(/Playground/g)).toHaveLength(1);
  expect(server.stdout).toContain('a worker hangs');
});

test('answers within 2 s through the other workers while one hangs', async () => {
  const server = await installation.start({ WEB_CONCURRENCY: '2' });

  await until('both workers are ready', () => server.stdout.match(/"ready"/g)?.length === 2);
  const [hung, well] = server.workers;
  const traffic = sendContinuously(server);

  process.kill(hung!, 'SIGSTOP');
  await until(
    'the hung worker is replaced',
    () => !isRunning(hung!) && server.stdout.match(/"ready"/g)?.length === 3,
  );
  const answers = await traffic.end();

  expect(answers.length).toBeGreaterThan(20);
  expect(answers.filter(({ status, ms }) => status !== 200 || ms > 2_000)).toEqual([]);
  expect(server.workers).toContain(well);
  expect(server.workers).toHaveLength(2);
});

test('continues to run when a worker hangs while metrics are collected', async () => {
  const server = await installation.start({
    WEB_CONCURRENCY: '2',
    WORKER_TIMEOUT: 'off',
    METRICS_TOKEN: 'the token of the metrics',
  });
  const headers = { Authorization: 'Bearer the token of the metrics' };
  const collect = async () => (await send(server.url, { path: '/metrics', headers })).status;

  await until('both workers are ready', () => server.stdout.match(/"ready"/g)?.length === 2);
  const [hung] = server.workers;

  process.kill(hung!, 'SIGSTOP');
  await until('a worker answers without the metrics', async () => (await collect()) === 503);
  // The primary waits for 5 s.
  await sleep(6_000);
  process.kill(hung!, 'SIGCONT');
  await until('metrics are collected', async () => (await collect()) === 200);
  expect(server.process.exitCode).toBeNull();
});

test('answers all requests through the other workers while one crashes', async () => {
  const server = await installation.start({ WEB_CONCURRENCY: '2' });

  await until('both workers are ready', () => server.stdout.match(/"ready"/g)?.length === 2);
  const [crashed] = server.workers;

  process.kill(crashed!, 'SIGKILL');
  await until('it has ended', () => !isRunning(crashed!));
  const traffic = sendContinuously(server);

  await until('it is replaced', () => server.stdout.match(/"ready"/g)?.length === 3);
  expect((await traffic.end()).filter(({ status }) => status !== 200)).toEqual([]);
});

test('replaces a worker that crashes, on the same port and with the same database server', async () => {
  const server = await startReady();
  const database = serverPid(path.join(installation.dataDir, 'postgres'));

  for (let crash = 0; crash < 2; crash += 1) {
    const [worker] = server.workers;

    process.kill(worker!, 'SIGKILL');
    await until('the crashed worker is gone', () => !server.workers.includes(worker!));
    await until(
      'the replacement answers',
      async () => (await server.anonymous.get('/language/').catch(() => undefined))?.status === 200,
    );
  }

  expect(serverPid(path.join(installation.dataDir, 'postgres'))).toBe(database);
  expect(server.process.exitCode).toBeNull();
});

test('replaces a worker that ends on SIGTERM', async () => {
  const server = await startReady();
  const [worker] = server.workers;

  process.kill(worker!, 'SIGTERM');
  await until(
    'the replacement is running',
    () => server.workers.length === 1 && server.workers[0] !== worker,
  );
  await until(
    'the replacement answers',
    async () => (await server.anonymous.get('/language/').catch(() => undefined))?.status === 200,
  );
});

test('keeps a worker that resumes within WORKER_TIMEOUT', async () => {
  const server = await startReady({ WORKER_TIMEOUT: '15s' });
  const { workers } = server;

  process.kill(workers[0]!, 'SIGSTOP');
  await sleep(5_000);
  process.kill(workers[0]!, 'SIGCONT');
  expect((await server.anonymous.get('/language/')).status).toBe(200);
  expect(server.workers).toEqual(workers);
});

test('retries failed worker starts', async () => {
  const server = await startReady();
  const file = path.join(installation.dataDir, 'secret-key');
  const key = fs.readFileSync(file);

  fs.writeFileSync(file, '');
  process.kill(server.workers[0]!, 'SIGKILL');
  await until(
    'two worker starts have failed',
    () => (server.stderr.match(/secret-key/g)?.length ?? 0) >= 2,
  );
  fs.writeFileSync(file, key);
  await until(
    'the replacement answers',
    async () => (await server.anonymous.get('/language/').catch(() => undefined))?.status === 200,
  );
});

test('exits with the status of the first worker if it cannot start', async () => {
  fs.writeFileSync(path.join(installation.dataDir, 'secret-key'), '');
  const { status, stderr } = await run('server', { DATA_DIR: installation.dataDir });

  expect([status, stderr]).toEqual([1, expect.stringMatching(/^fitgraph: .*secret-key.*\n$/)]);
  await until('the database has ended', () => installation.processes.length === 0);
});

test('stops within 12 s although a worker hangs', async () => {
  const server = await installation.start({ WEB_CONCURRENCY: '2', WORKER_TIMEOUT: 'off' });

  await until('both workers are ready', () => server.stdout.match(/"ready"/g)?.length === 2);
  const { workers } = server;

  process.kill(workers[0]!, 'SIGSTOP');

  const end = async () => {
    server.process.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  };

  expect(await timeOf(end, server.process.pid!, ...workers)).toBeLessThan(12_000);
  expect(workers.filter(isRunning)).toEqual([]);
  await until('the database has ended', () => installation.processes.length === 0);
});

test('leaves neither workers nor a database running when the primary is killed', async () => {
  const server = await installation.start({ WEB_CONCURRENCY: '2' });

  await until('both workers are ready', () => server.stdout.match(/"ready"/g)?.length === 2);
  const { workers } = server;

  server.process.kill('SIGKILL');
  await until('the workers have ended', () => !workers.some(isRunning));
  await until('the database has ended', () => installation.processes.length === 0);
});

test('keeps its workers when all processes were suspended for longer than WORKER_TIMEOUT', async () => {
  const server = await installation.start({ WORKER_TIMEOUT: '4s' });
  const { workers } = server;

  // Suspends all processes, as Ctrl-Z in a shell does.
  for (const pid of [server.process.pid!, ...workers]) process.kill(pid, 'SIGSTOP');
  await sleep(6_000);
  for (const pid of [server.process.pid!, ...workers]) process.kill(pid, 'SIGCONT');
  expect((await server.anonymous.get('/language/')).status).toBe(200);
  await sleep(500);
  expect(server.workers).toEqual(workers);
});

test('keeps the resident memory of the primary below 100 MB', async () => {
  const server = await installation.start();
  const resident = /VmRSS:\s+(\d+)/.exec(
    fs.readFileSync(`/proc/${server.process.pid}/status`, 'utf8'),
  )![1];

  expect(Number(resident) / 1024).toBeLessThan(100);
});

test('serves in a single process when WEB_CONCURRENCY is 0', async () => {
  const server = await installation.start({ WEB_CONCURRENCY: '0' });

  expect(server.workers).toEqual([]);
  expect((await server.anonymous.get('/language/')).status).toBe(200);
  server.process.kill('SIGTERM');
  expect(await server.ended).toBe(0);
});

test.each([
  ['WEB_CONCURRENCY', 'many'],
  ['WEB_CONCURRENCY', '1000'],
  ['WORKER_TIMEOUT', '10ms'],
])('rejects %s=%s with one line and status 1', async (name, value) => {
  const { status, stderr } = await run(
    'command',
    { DATA_DIR: installation.dataDir, [name]: value },
    ['serve'],
  );

  expect(stderr).toMatch(new RegExp(`^fitgraph: ${name} must be [^\\n]*\\n$`));
  expect(status).toBe(1);
});

test.each([
  ['npm start', 'SIGTERM', ['start']],
  ['npm run fitgraph -- serve', 'SIGINT', ['run', 'fitgraph', '--', 'serve']],
] as const)(
  '%s stops on %s with status 0 and leaves nothing running',
  async (_name, signal, args) => {
    const environment = {
      ...process.env,
      PORT: '0',
      DATA_DIR: installation.dataDir,
      LOG_LEVEL: 'info',
    };
    const npm = spawn('npm', ['--silent', ...args], {
      cwd: path.join(__dirname, '../../..'),
      env: environment,
    });
    let printed = '';

    npm.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await until(
      'the server is ready',
      () => printed.includes('Playground') || npm.exitCode !== null,
    );
    const ended = new Promise((resolve) =>
      npm.once('close', (status, by) => resolve(status ?? by)),
    );

    npm.kill(signal);
    expect(await ended).toBe(0);
    expect(childrenOf(npm.pid!, 'index.js')).toEqual([]);
    await until('the database has ended', () => installation.processes.length === 0);
  },
);
