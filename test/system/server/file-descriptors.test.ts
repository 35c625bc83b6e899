/**
 * A process without free file descriptors: requests load no code, and are answered with 503 if they
 * need a descriptor.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { plain } from '../../files/pictures';
import { build, Installation, SERVER, type Server } from '../../setup/server-process';

let installation: Installation;
let server: Server;

/**
 * Path of a list of the modules that the server process has loaded. It excludes child processes,
 * such as those that decode images.
 */
let loaded: string;

beforeAll(async () => {
  build();
  installation = await Installation.started();
  loaded = path.join(installation.folder, 'loaded');
  const hook = path.join(installation.folder, 'hook.js');

  fs.writeFileSync(
    hook,
    `const { appendFileSync } = require('node:fs');
for (const [ending, load] of Object.entries(require('node:module')._extensions))
  require('node:module')._extensions[ending] = (module, file) => {
    if (process.argv[1] === ${JSON.stringify(SERVER)}) appendFileSync(${JSON.stringify(loaded)}, file + '\\n');
    return load(module, file);
  };`,
  );
  server = await installation.start({ WEB_CONCURRENCY: '0', NODE_OPTIONS: `--require ${hook}` });
});
afterAll(() => installation.remove());

/** Sends a GraphQL request over the only connection of the agent. */
function post(
  agent: http.Agent,
  query: string,
): Promise<{ status: number; retryAfter?: string; text: string }> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      `${server.url}/graphql`,
      { method: 'POST', agent, headers: { 'Content-Type': 'application/json' } },
      (response) => {
        let text = '';

        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            retryAfter: response.headers['retry-after'],
            text,
          }),
        );
      },
    );

    request.on('error', reject);
    request.end(JSON.stringify({ query }));
  });
}

test('answers or sheds its first GraphQL requests without a free descriptor, and loads no module in any request', async () => {
  const before = fs.readFileSync(loaded, 'utf8').split('\n').length;

  expect(before).toBeGreaterThan(500);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  await new Promise((resolve) =>
    http.get(`${server.url}/health/live`, { agent }, (response) =>
      response.resume().on('end', resolve),
    ),
  );
  const { pid } = server.process;
  const limit = (count: number) => execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${count}:`]);
  const highest = Math.max(...fs.readdirSync(`/proc/${pid}/fd`).map(Number));

  limit(highest + 1);
  const fillers = Array.from({ length: 40 }, () =>
    http.get(`${server.url}/health/live`).on('error', () => undefined),
  );

  try {
    expect(await post(agent, '{ __typename }')).toMatchObject({
      status: 200,
      text: expect.stringContaining('"Query"'),
    });

    for (const query of [
      '{ exercises(first: 1) { nodes { id } } }',
      '{ ingredients(first: 1) { nodes { id } } }',
    ]) {
      const { status, retryAfter, text } = await post(agent, query);

      expect([
        [200, undefined],
        [503, '2'],
      ]).toContainEqual([status, retryAfter]);
      expect(text).not.toMatch(/EMFILE|node_modules|\.js/);
    }
  } finally {
    limit(4096);
    for (const filler of fillers) filler.destroy();
    agent.destroy();
  }

  const user = server.signedIn(server.demo.token);
  const form = new FormData();

  form.set('exercise', '1');
  form.set('image', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'picture.png');
  const page = { Accept: 'text/html' };
  const statuses = [
    (await user.send('POST', '/api/v2/exerciseimage/', form)).status,
    (await user.post('/workout/', { comment: 'first' })).status,
    (await user.query('mutation { createWorkout(input: {}) { workout { id } } }')).status,
    (await user.withHeaders({ 'Idempotency-Key': 'one' }).post('/workout/', {})).status,
    (await user.post('/login/', { username: 'demo', password: server.demo.password })).status,
    (await user.withHeaders(page).get('/workout/')).status,
    (await user.get('/workout/')).status,
    (await user.send('GET', '/')).status,
    (await user.send('GET', '/playground')).status,
    (await user.send('GET', '/api/v2/schema')).status,
    (await user.withHeaders({ 'Accept-Encoding': 'br' }).get('/ingredient/?limit=200')).status,
    (await user.get('/exercise/search/?term=press&language=en')).status,
    (
      await user.send(
        'GET',
        `/graphql/export.csv?query=${encodeURIComponent('{ workouts { nodes { id } } }')}`,
      )
    ).status,
  ];

  expect(statuses).toEqual([201, 201, 200, 201, ...Array<number>(9).fill(200)]);
  expect(
    fs
      .readFileSync(loaded, 'utf8')
      .split('\n')
      .slice(before - 1),
  ).toEqual(['']);
});
