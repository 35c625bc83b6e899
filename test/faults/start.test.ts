/** Starts on what a fault has left behind. */
import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import WebSocket from 'ws';
import { openEmbedded } from '../../src/database/embedded';
import { lockMigrations } from '../../src/database/migrate';
import { freePort } from '../../src/server/supervisor/port';
import { build, Installation } from '../server/running';
import { dripping } from '../setup/dripping';
import { asSuperuser, createDatabase, SECRET_KEY } from '../setup/databases';
import { Person } from '../setup/person';
import { Proxy } from './proxy';
import { delaysOf, timeOf, until } from '../setup/waits';

beforeAll(build);

test('damaged names of ingredients do not stop the start; a damaged row of a small table does, and the table is named', async () => {
  const installation = await Installation.started({ MAX_LAG: 'off' });
  try {
    const first = await installation.start();
    const { connection, release } = await openEmbedded({ dataDir: installation.dataDir });
    const client = new Client(asSuperuser(connection));
    await client.connect();
    await client.query('CHECKPOINT');
    const { rows } = await client.query(
      `SELECT pg_relation_filepath('ingredient') AS "names", pg_relation_filepath('equipment') AS "reference"`,
    );
    await client.end();
    await release();
    const stop = async ({ process, ended }: typeof first) => {
      process.kill('SIGTERM');
      expect(await ended).toBe(0);
      await until('the database has ended too', () => installation.processes.length === 0);
    };
    const damage = (file: string) => {
      const damaged = fs.openSync(path.join(installation.dataDir, 'postgres', file), 'r+');
      fs.writeSync(damaged, Buffer.alloc(200, 0xff), 0, 200, 8_192 - 300);
      fs.closeSync(damaged);
    };
    await stop(first);
    damage(rows[0].names);
    const again = await installation.start();
    expect((await again.anyone.send('GET', '/health/ready')).status).toBe(200);
    expect((await again.anyone.get('/language/')).body.count).toBeGreaterThan(1);
    expect((await again.signedIn(first.demo.token).get('/workout/')).status).toBe(200);
    expect(again.stdout).toContain('the names of a table could not be read');
    await stop(again);
    damage(rows[0].reference);
    await expect(installation.start()).rejects.toThrow(/^the server has ended: fitgraph: the table equipment cannot be read: [^\n]+\n$/);
  } finally {
    await installation.remove();
  }
});

test('a start that takes long: who waits for it is told to come back, and is answered once it is over', async () => {
  const own = await createDatabase('catalogue');
  const holder = new Client(own.connection);
  await holder.connect();
  await lockMigrations(holder);
  holder.on('error', () => undefined);
  const proxy = await Proxy.before(own.connection);
  const installation = new Installation({ DATABASE_URL: proxy.url, SECRET_KEY, MAX_LAG: 'off' });
  try {
    const port = await freePort('127.0.0.1');
    const starting = installation.start({ PORT: String(port) });
    const anyone = new Person(`http://localhost:${port}`);
    await until('it listens', () =>
      anyone.send('GET', '/health/live').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    const delays = delaysOf(...installation.workers);
    const asked = performance.now();
    const stranger = dripping(port);
    const [rest, graphql, upgraded] = await Promise.all([
      anyone.get('/language/'),
      anyone.query('{ languages { totalCount } }'),
      new Promise<string>((resolve) => new WebSocket(`ws://localhost:${port}/graphql`).once('error', ({ message }) => resolve(message))),
      stranger.over,
    ]);
    expect(performance.now() - asked - delays()).toBeLessThan(5_000);
    expect(stranger.answer()).toMatch(/^HTTP\/1\.1 503 /);
    expect([rest.status, rest.headers.get('retry-after'), rest.body]).toEqual([
      503,
      '2',
      { detail: 'The server starts. Try again in a moment.' },
    ]);
    expect([graphql.status, graphql.headers.get('retry-after'), graphql.code]).toEqual([503, '2', 'SERVICE_UNAVAILABLE']);
    expect(upgraded).toContain('503');
    // A later request is refused at once.
    const ask = async () => expect((await anyone.get('/language/')).status).toBe(503);
    expect(await timeOf(ask, ...installation.workers)).toBeLessThan(1_000);
    await holder.end();
    const server = await starting;
    expect((await server.anyone.get('/language/')).status).toBe(200);
    const id = rest.headers.get('x-request-id')!;
    expect(server.stdout.split('\n').find((line) => line.includes(id))).toMatch(/"status":503.*"why":"starting"/);
  } finally {
    await installation.remove();
    await proxy.close();
    await own.drop();
  }
});
