/**
 * `fitgraph doctor` names faults in the settings of an installation, and the version of the schema.
 */
import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { createDatabase, SECRET_KEY } from '../../setup/databases';
import { build, Installation, run } from '../../setup/server-process';
import { until } from '../../setup/waits';

let testDatabase: Awaited<ReturnType<typeof createDatabase>>;
let installation: Installation;

beforeAll(async () => {
  build();
  testDatabase = await createDatabase('catalogue');
  installation = new Installation({ DATABASE_URL: testDatabase.url, SECRET_KEY });
});
afterAll(async () => {
  await installation.remove();
  await testDatabase.drop();
});

const doctor = (own: Record<string, string> = {}, ...args: string[]) =>
  run(
    'command',
    { DATA_DIR: installation.dataDir, DATABASE_URL: testDatabase.url, SECRET_KEY, ...own },
    ['doctor', ...args],
  );

test('doctor names the version of the schema', async () => {
  expect((await doctor()).stdout).toContain('ok    Schema: up to date\n');
  const client = new Client(testDatabase.connection);

  await client.connect();

  try {
    await client.query(
      `INSERT INTO "migration" ("name", "version", "oldest_version") VALUES ('9999-from-tomorrow', '99.1.0', '0.3.0')`,
    );
    expect((await doctor()).stdout).toContain(
      'ok    Schema: of a newer version that this one supports (9999-from-tomorrow)\n',
    );
  } finally {
    await client.query(`DELETE FROM "migration" WHERE "name" = '9999-from-tomorrow'`);
    await client.end();
  }
});

test('doctor names faulty settings, and a start warns about unknown variables', async () => {
  const misspelt = {
    WEB_CONCURENCY: '2',
    DATABSE_POOL: '5',
    DATABASE_TIMEOUT: '1s',
    DATABASE_PORT_5432_TCP: 'tcp://10.0.0.1:5432',
  };
  const { stdout } = await doctor({
    ...misspelt,
    PUBLIC_URL: 'https://fit.example.com',
    WEB_CONCURRENCY: '50',
  });

  for (const finding of [
    'WARN  Configuration: the environment variable WEB_CONCURENCY is unknown: did you mean WEB_CONCURRENCY?',
    'WARN  Configuration: the environment variable DATABSE_POOL is unknown: did you mean DATABASE_POOL?',
    'WARN  Configuration: the environment variable DATABASE_TIMEOUT is unknown\n',
    'WARN  Public URL: https://fit.example.com is HTTPS, but without TLS_CERT or TRUSTED_PROXIES',
  ]) {
    expect(stdout).toContain(finding);
  }

  expect(stdout).toMatch(/^WARN {2}Connections: \d+ available, up to \d{4} needed$/m);
  expect(stdout).not.toContain('DATABASE_PORT_5432_TCP');

  const server = await installation.start({
    ...misspelt,
    WEB_CONCURRENCY: '2',
    ROW_SECURITY: 'off',
  });

  await until('the server has logged the warning', () =>
    server.stdout.includes('DATABSE_POOL is unknown: did you mean DATABASE_POOL?'),
  );
  await until('both workers use the database', () => installation.workers.length === 2);
  const environment = path.join(installation.folder, 'fitgraph.env');

  fs.writeFileSync(environment, 'WEB_CONCURRENCY=2\nDATABASE_POOL=20\n');
  const warning = /WARN {2}Connections: 2 workers use the database, but WEB_CONCURRENCY is 1 here/;

  await until('doctor counts both workers', async () => warning.test((await doctor()).stdout));
  const informed = (await doctor({}, '--environment', environment)).stdout;

  expect(informed).not.toMatch(warning);
  expect((await doctor({}, '--environment', '/nowhere.env')).stdout).toContain(
    'FAIL  Configuration: --environment: ENOENT',
  );
  server.process.kill('SIGTERM');
  await server.ended;
});

test('doctor finds a server that listens on one address only', async () => {
  const address = { HOST: '127.0.0.2' };
  const server = await installation.start(address);

  try {
    const { port } = new URL(server.url);

    expect((await doctor({ ...address, PORT: port })).stdout).toContain(
      `ok    Port: a server is running on ${port} and is ready`,
    );
  } finally {
    server.process.kill('SIGTERM');
    await server.ended;
  }
});
