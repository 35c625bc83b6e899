/**
 * Shutdowns under load: no connection is reset, no write is lost, and they take ten seconds at
 * most.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { build, Installation, type Server } from '../../setup/server-process';
import { checkVerdict } from './server-behind-proxy';
import { Traffic, type Outcome } from './traffic';
import { delaysOf, LONG_TIMEOUT_MS, timeOf, until } from '../../setup/waits';

let installation: Installation;

beforeAll(build);
beforeEach(async () => {
  installation = await Installation.started({ BUDGET: 'off' });
});
afterEach(() => installation.remove());

const DRAINS = Number(process.env.FAULT_DRAINS ?? 1);

jest.setTimeout(LONG_TIMEOUT_MS + DRAINS * 60_000);

/** Time between the last accept and the closing of the port, without scheduling delays. */
const INSTANT_MS = 30;

async function stopServer(server: Server): Promise<void> {
  server.process.kill('SIGTERM');
  expect(await server.ended).toBe(0);
}

const comments = (server: Server, token: string) => async () =>
  (
    (await server.signedIn(token).get('/workout/?limit=10000')).body.results as {
      comment: string;
    }[]
  ).map(({ comment }) => comment);

test('resets no connection and loses no write in a shutdown under load', async () => {
  let server = await installation.start();
  const { token } = server.demo;

  for (let drain = 1; drain <= DRAINS; drain += 1) {
    // Includes the workers of the next server, which start while requests wait.
    const workers = () => installation.workers;
    const traffic = new Traffic(
      {
        url: server.url,
        process: server.process,
        get workers() {
          return workers();
        },
      },
      token,
    )
      .read(6)
      .write(4);

    await until('reads succeed', () => traffic.counted(200) > 50);
    const delays = delaysOf(server.process.pid!, ...server.workers);
    const took = await timeOf(() => stopServer(server), server.process.pid!, ...server.workers);
    const instantMs = INSTANT_MS + delays();
    const { port } = new URL(server.url);

    server = await installation.start({ PORT: port });
    const verdict = await traffic.end(comments(server, token));

    checkVerdict(`drain ${drain} (${(took / 1000).toFixed(1)} s)`, verdict);
    expect(took).toBeLessThan(10_000);
    // While no server listens, connections are refused. The kernel resets a connection that arrives
    // between the last accept and the closing of the port. No accepted connection may be reset.
    const closed = Math.min(
      ...traffic.outcomes.filter(({ why }) => why === 'ECONNREFUSED').map(({ at }) => at),
    );
    const isUnavoidableReset = ({ why, reused, at }: Outcome) =>
      why === 'ECONNRESET' && !reused && Math.abs(at - closed) < instantMs;
    const lostRequests = traffic.outcomes.filter(
      (outcome) =>
        outcome.status === 0 && outcome.why !== 'ECONNREFUSED' && !isUnavoidableReset(outcome),
    );

    expect(lostRequests).toEqual([]);
  }
});

test('reports not ready before it closes, and ends subscriptions so that clients reconnect', async () => {
  const server = await installation.start({ DRAIN_NOTICE: '3s' });
  const { token } = server.demo;
  const query = 'subscription { changed { cursor } }';
  const headers = {
    Authorization: `Token ${token}`,
    'Content-Type': 'application/json',
    Accept: 'text/event-stream',
  };
  const stream = await fetch(`${server.url}/graphql/stream`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
  });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';

  const readUntil = async (isEnough: () => boolean) => {
    while (!isEnough()) {
      const { done, value } = await reader.read();

      if (done) return;
      text += value;
    }
  };

  const socket = new WebSocket(
    `${server.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  );
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));

  await new Promise((resolve) => socket.once('open', resolve));
  await readUntil(() => text.includes('event: next'));
  server.process.kill('SIGTERM');
  await until(
    'the server is not ready',
    async () => (await server.anonymous.send('GET', '/health/ready')).status === 503,
  );
  const ready = await server.anonymous.send('GET', '/health/ready');

  expect([ready.status, ready.body]).toEqual([
    503,
    { status: 'unavailable', reason: 'the server is shutting down' },
  ]);
  // It still answers requests, but closes each connection.
  const answer = await server.anonymous.get('/language/');

  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);

  await readUntil(() => false);
  expect([stream.status, text]).toEqual([
    200,
    expect.stringMatching(/event: next[^]*retry: \d+\n\n$/),
  ]);
  expect(text).not.toContain('event: complete');
  expect(await closed).toBe(1012);
  expect(await server.ended).toBe(0);
});

test('shuts down within ten seconds while the database hangs', async () => {
  const server = await installation.start();
  const { token } = server.demo;
  const frozen = installation.processes;

  for (const pid of frozen) process.kill(pid, 'SIGSTOP');

  try {
    const traffic = new Traffic(server, token).read(3);

    await sleep(500);
    expect(
      await timeOf(() => stopServer(server), server.process.pid!, ...server.workers),
    ).toBeLessThan(10_500);
    await traffic.end(async () => []);
  } finally {
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
  }
});
