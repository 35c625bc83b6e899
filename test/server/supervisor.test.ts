/** The process that watches over those which answer: what hangs or crashes is replaced, and nothing that was acknowledged is lost. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { send, type Reply } from '../system/availability/siege';
import { childrenOf, isRunning, serverPid } from '../database/processes';
import { build, Installation, run, type Server } from './running';
import { delaysOf, schedulingDelay, timeOf, until, WAIT_LIMIT_MS } from '../setup/waits';

let installation: Installation;

beforeAll(build);
beforeEach(async () => {
  installation = await Installation.started();
});
afterEach(() => installation.remove());

/** A server whose supervisor was told that it serves: until then a worker that ends is one that could not start. */
async function serving(environment?: Record<string, string>): Promise<Server> {
  const server = await installation.start(environment);
  await until('it is ready', () => server.stdout.includes('"ready"'));
  return server;
}

/** Whether somebody is told to come back, as one is who has waited for a start for 3 s. Nothing was done for them. */
const postponed = ({ status, headers }: Reply) => status === 503 && Boolean(headers['retry-after']);

/** Asks all the while, each time by a new connection, and comes back when told to; tells of each what it came to and how long it took. */
function asking(server: Server, requestPath = '/api/v2/language/'): { end(): Promise<{ status: number; ms: number }[]> } {
  const asked: Promise<{ status: number; ms: number }>[] = [];
  const { workers } = server;
  const ask = async () => {
    const [began, delays] = [performance.now(), delaysOf(...workers)];
    for (;;) {
      const reply = await send(server.url, { path: requestPath });
      if (!postponed(reply)) return { status: reply.status, ms: performance.now() - began - delays() };
      await sleep(Number(reply.headers['retry-after']) * 1_000);
    }
  };
  const timer = setInterval(() => asked.push(ask()), 100);
  return {
    end() {
      clearInterval(timer);
      return Promise.all(asked);
    },
  };
}

/** Writes until it is told to stop, and each change again until it is said that it was made; answers all of them then. */
function writing(server: Server, token: string, writers: number): { acknowledged: string[]; end(): Promise<string[]> } {
  let over = false;
  const acknowledged: string[] = [];
  /** Made, but nobody heard the answer. */
  const lost: string[] = [];
  const settle = async (comment: string) => {
    const headers = { Authorization: `Token ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
    // A claim whose server died is free again after a minute.
    for (const end = performance.now() + WAIT_LIMIT_MS; performance.now() < end; await sleep(200)) {
      const request = { method: 'POST', path: '/api/v2/workout/', headers, body: JSON.stringify({ comment }) };
      const reply = await send(server.url, request);
      const { status } = reply;
      if (status === 201) return void acknowledged.push(comment);
      if (status === 409 && !reply.headers['retry-after']) return void lost.push(comment);
      if (status !== 0 && status !== 409 && !postponed(reply)) throw new Error(`unexpected status ${status}`);
    }
    throw new Error(`it was never said what became of ${comment}`);
  };
  const working = Array.from({ length: writers }, async (_, writer) => {
    for (let number = 0; !over; number += 1) await settle(`hang ${writers} ${writer} ${number}`);
  });
  return {
    acknowledged,
    async end() {
      over = true;
      await Promise.all(working);
      return [...acknowledged, ...lost];
    },
  };
}

async function comments(server: Server, token: string): Promise<string[]> {
  const { body } = await server.signedIn(token).get('/workout/?limit=10000');
  return (body.results as { comment: string }[]).map(({ comment }) => comment).filter((comment) => comment.startsWith('hang '));
}

test('a worker that hangs is replaced: everybody is answered, and what was acknowledged is there once', async () => {
  const began = performance.now();
  const server = await serving();
  const startMs = performance.now() - began;
  const { token } = server.demo;
  const [hung] = server.workers;
  const writes = writing(server, token, 4);
  await until('some is written', () => writes.acknowledged.length > 50);
  const asked = asking(server);
  process.kill(hung!, 'SIGSTOP');
  const delays = delaysOf(server.process.pid!);
  const stopped = performance.now();
  await sleep(200);
  const next = writing(server, token, 1);
  await until('a write is acknowledged', () => next.acknowledged.length > 0);
  // 5 s of silence are allowed; the rest is for the one that takes over, which is as long about it as a start was.
  expect(performance.now() - stopped - delays()).toBeLessThan(Math.max(12_000, 5_000 + 3 * startMs));
  expect(isRunning(hung!)).toBe(false);
  expect(server.workers).toHaveLength(1);

  const answers = await asked.end();
  // None was reset: all waited for the other one, or were told to come back for it and found it.
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const made = [...(await next.end()), ...(await writes.end())];
  expect((await comments(server, token)).sort()).toEqual(made.sort());
  expect(server.stdout.match(/Playground/g)).toHaveLength(1);
  expect(server.stdout).toContain('a worker hangs');
});

test('one that takes long to take over is waited for: nobody is reset', async () => {
  const server = await serving();
  const [hung] = server.workers;
  const asked = asking(server);
  process.kill(hung!, 'SIGSTOP');
  await until('another one gets ready', () => server.spares.length === 1);
  const [next] = server.spares as [number];
  process.kill(next, 'SIGSTOP');
  await until('the first one is given up', () => server.stdout.includes('a worker hangs'));
  await sleep(6_000);
  process.kill(next, 'SIGCONT');
  await until('another one serves', () => server.stdout.match(/"ready"/g)?.length === 2);
  const answers = await asked.end();
  expect(answers.length).toBeGreaterThan(60);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(server.workers).toEqual([next]);
});

test('with several workers the others go on while one hangs', async () => {
  const server = await installation.start({ WEB_CONCURRENCY: '2' });
  await until('both serve', () => server.stdout.match(/"ready"/g)?.length === 2);
  const [hung, well] = server.workers;
  const asked = asking(server);
  process.kill(hung!, 'SIGSTOP');
  await until('it is replaced', () => !isRunning(hung!) && server.stdout.match(/"ready"/g)?.length === 3);
  const answers = await asked.end();
  expect(answers.length).toBeGreaterThan(20);
  expect(answers.filter(({ status, ms }) => status !== 200 || ms > 2_000)).toEqual([]);
  expect(server.workers).toContain(well);
  expect(server.workers).toHaveLength(2);
});

test('a worker that crashes is replaced, on the same port and the same database', async () => {
  const server = await serving();
  const database = serverPid(path.join(installation.dataDir, 'postgres'));
  for (let crash = 0; crash < 2; crash += 1) {
    const [worker] = server.workers;
    process.kill(worker!, 'SIGKILL');
    await until('it is gone', () => !server.workers.includes(worker!));
    await until('another one answers', async () => (await server.anyone.get('/language/').catch(() => undefined))?.status === 200);
  }
  expect(serverPid(path.join(installation.dataDir, 'postgres'))).toBe(database);
  expect(server.process.exitCode).toBeNull();
});

/** Clock ticks of processor time. */
const ticksOf = (pid: number): number => {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
};

async function isAtRest(pid: number): Promise<boolean> {
  const before = ticksOf(pid);
  await sleep(1_000);
  return before > 50 && ticksOf(pid) - before < 10;
}

test('where one worker answers alone, a spare one takes over within a second', async () => {
  const server = await serving();
  await until('there is a spare one', () => server.spares.length === 1);
  const [spare] = server.spares;
  await until('it has loaded its code', () => isAtRest(spare!));
  // They work one after the other, so that the delays of all three count.
  const delays = () => schedulingDelay(process.pid, server.process.pid!, spare!);
  const began = performance.now() - delays();
  process.kill(server.workers[0]!, 'SIGKILL');
  await until('it answers', async () => (await server.anyone.get('/language/').catch(() => undefined))?.status === 200);
  expect(performance.now() - delays() - began).toBeLessThan(1_000);
  expect(server.workers).toEqual([spare]);
});

test('a worker that is told to end answers what it has begun, and another one takes its place', async () => {
  const server = await serving();
  const [worker] = server.workers;
  process.kill(worker!, 'SIGTERM');
  await until('another one serves', () => server.workers.length === 1 && server.workers[0] !== worker);
  await until('it answers', async () => (await server.anyone.get('/language/').catch(() => undefined))?.status === 200);
});

test('a short silence is forgiven, and the one that would have taken over goes', async () => {
  const server = await installation.start({ WEB_CONCURRENCY: '2', WORKER_TIMEOUT: '15s' });
  await until('both serve', () => server.stdout.match(/"ready"/g)?.length === 2);
  const { workers } = server;
  const [worker] = workers;
  process.kill(worker!, 'SIGSTOP');
  await until('another one gets ready', () => server.spares.length === 1);
  process.kill(worker!, 'SIGCONT');
  await until('it is not needed', () => server.spares.length === 0);
  expect(server.workers).toEqual(workers);
  expect((await server.anyone.get('/language/')).status).toBe(200);
});

test('when no worker can be started any more it says so and ends', async () => {
  const server = await serving();
  const file = path.join(installation.dataDir, 'secret-key');
  const key = fs.readFileSync(file);
  fs.writeFileSync(file, '');
  process.kill(server.workers[0]!, 'SIGKILL');
  await until('a start has failed', () => server.stderr.includes('secret-key'));
  // What is put right in time is all right.
  fs.writeFileSync(file, key);
  await until('another one answers', async () => (await server.anyone.get('/language/').catch(() => undefined))?.status === 200);

  fs.writeFileSync(file, '');
  process.kill(server.workers[0]!, 'SIGKILL');
  expect(await server.ended).toBe(1);
  expect(server.stderr).toMatch(/^fitgraph: no worker could be started, 6 times in a row$/m);
  await until('the database has ended too', () => installation.processes.length === 0);
});

test('a worker that hangs does not keep the server from stopping', async () => {
  const server = await installation.start({ WEB_CONCURRENCY: '2', WORKER_TIMEOUT: 'off' });
  await until('both serve', () => server.stdout.match(/"ready"/g)?.length === 2);
  const { workers } = server;
  process.kill(workers[0]!, 'SIGSTOP');
  const end = async () => {
    server.process.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  };
  expect(await timeOf(end, server.process.pid!, ...workers)).toBeLessThan(12_000);
  expect(workers.filter(isRunning)).toEqual([]);
  await until('the database has ended too', () => installation.processes.length === 0);
});

test('a supervisor that is killed leaves nothing running, not even a worker that hangs', async () => {
  const server = await installation.start({ WEB_CONCURRENCY: '2' });
  await until('both serve', () => server.stdout.match(/"ready"/g)?.length === 2);
  const { workers } = server;
  process.kill(workers[1]!, 'SIGSTOP');
  server.process.kill('SIGKILL');
  await until('the workers have ended', () => !workers.some(isRunning));
  await until('the database has ended too', () => installation.processes.length === 0);
});

test('a supervisor that was stopped itself does not blame its workers', async () => {
  const server = await installation.start({ WORKER_TIMEOUT: '4s' });
  const { workers } = server;
  // As Ctrl-Z does.
  for (const pid of [server.process.pid!, ...workers]) process.kill(pid, 'SIGSTOP');
  await sleep(6_000);
  for (const pid of [server.process.pid!, ...workers]) process.kill(pid, 'SIGCONT');
  expect((await server.anyone.get('/language/')).status).toBe(200);
  await sleep(500);
  expect(server.workers).toEqual(workers);
});

test('the supervisor stays small', async () => {
  const server = await installation.start();
  const resident = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))![1];
  expect(Number(resident) / 1024).toBeLessThan(100);
});

test('WEB_CONCURRENCY=0: no other process', async () => {
  const server = await installation.start({ WEB_CONCURRENCY: '0' });
  expect(server.workers).toEqual([]);
  expect((await server.anyone.get('/language/')).status).toBe(200);
  server.process.kill('SIGTERM');
  expect(await server.ended).toBe(0);
});

test.each([
  ['WEB_CONCURRENCY', 'many'],
  ['WEB_CONCURRENCY', '1000'],
  ['WORKER_TIMEOUT', '10ms'],
])('%s=%s is refused', async (name, value) => {
  const { status, stderr } = await run('command', { DATA_DIR: installation.dataDir, [name]: value }, ['serve']);
  expect(stderr).toMatch(new RegExp(`^fitgraph: ${name} must be [^\\n]*\\n$`));
  expect(status).toBe(1);
});

test.each([
  ['npm start', 'SIGTERM', ['start']],
  ['npm run fitgraph -- serve', 'SIGINT', ['run', 'fitgraph', '--', 'serve']],
] as const)('%s ends in order by %s', async (_name, signal, args) => {
  const environment = { ...process.env, PORT: '0', DATA_DIR: installation.dataDir, LOG_LEVEL: 'info' };
  const npm = spawn('npm', ['--silent', ...args], { cwd: path.join(__dirname, '../..'), env: environment });
  let printed = '';
  npm.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await until('it is ready', () => printed.includes('Playground') || npm.exitCode !== null);
  const ended = new Promise((resolve) => npm.once('close', (status, by) => resolve(status ?? by)));
  npm.kill(signal);
  expect(await ended).toBe(0);
  expect(childrenOf(npm.pid!, 'index.js')).toEqual([]);
  await until('the database has ended too', () => installation.processes.length === 0);
});
