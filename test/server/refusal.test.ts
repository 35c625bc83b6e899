/** A start that cannot be: one line on standard error that names the variable, exit code 1, and nothing left running. */
import fs from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { build, Installation, run } from './running';

const KEY = 'a secret key for the tests, long enough';

jest.setTimeout(60_000);

beforeAll(build, 120_000);

const installation = new Installation();
afterAll(() => installation.remove());

const start = (environment: Record<string, string>) => run('server', { DATA_DIR: installation.dataDir, ...environment });

test.each([
  ['PORT', { PORT: 'http' }],
  ['TIME_ZONE', { TIME_ZONE: 'Mars/Olympus' }],
  ['TRUSTED_PROXIES', { TRUSTED_PROXIES: 'everybody' }],
  ['SECRET_KEY', { NODE_ENV: 'production' }],
  ['DATABASE_URL', { DATABASE_URL: 'postgres://nobody@localhost:1/nothing', SECRET_KEY: KEY }],
])('%s', async (name, environment) => {
  const { status, stdout, stderr } = await start(environment);
  expect(stderr).toMatch(new RegExp(`^fitgraph: ${name}\\b[^\\n]*\\n$`));
  expect([status, stdout]).toEqual([1, '']);
  expect(installation.processes).toEqual([]);
});

test('a port that is taken', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '0.0.0.0', resolve));
  const { port } = taken.address() as AddressInfo;
  const { status, stderr } = await start({ PORT: String(port), LOG_LEVEL: 'silent' });
  expect(stderr).toMatch(/^fitgraph: PORT: [^\n]*EADDRINUSE[^\n]*\n$/);
  expect(status).toBe(1);
  await new Promise((resolve) => taken.close(resolve));
});

test('a trusted document that would not run', async () => {
  const file = path.join(installation.folder, 'operations.json');
  fs.writeFileSync(file, JSON.stringify({ abc: '{ nothing }' }));
  const { status, stdout, stderr } = await start({ PERSISTED_OPERATIONS: installation.folder, LOG_LEVEL: 'silent' });
  expect(stderr).toMatch(/^fitgraph: PERSISTED_OPERATIONS: [^\n]*operations\.json: operation "abc": Cannot query field[^\n]*\n$/);
  expect([status, stdout]).toEqual([1, '']);
  expect(installation.processes).toEqual([]);
});

test('production makes no demo account', async () => {
  const production = new Installation({ NODE_ENV: 'production', SECRET_KEY: KEY });
  try {
    const server = await production.start();
    // The log, whose lines are JSON, names the migrations.
    expect(server.stdout.replace(/^\{.*\}$/gm, '')).not.toMatch(/demo|password/i);
    expect((await server.anyone.get('/exercise/')).body.count).toBeGreaterThan(20);
    expect((await server.anyone.get('/exercise/')).headers.get('server-timing')).toBeNull();
    const seed = await production.command('seed', '--demo');
    expect(seed).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^fitgraph: NODE_ENV=production[^\n]*\n$/) });
  } finally {
    await production.remove();
  }
});
