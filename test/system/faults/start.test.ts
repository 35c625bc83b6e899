/** Starts after a fault, and slow starts. */
import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { lockMigrations } from '../../../src/database/migrate';
import { choosePort } from '../../../src/server/port';
import { build, Installation } from '../../setup/server-process';
import { asSuperuser, createDatabase, SECRET_KEY } from '../../setup/databases';
import { Person } from '../../setup/person';
import { Proxy } from './proxy';
import { until } from '../../setup/waits';

beforeAll(build);

test('starts with damaged ingredients, and names a damaged reference table when it cannot start', async () => {
  const installation = await Installation.started();

  try {
    const first = await installation.start();
    const { connection, release } = await openEmbeddedDatabase({ dataDir: installation.dataDir });
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
      await until('the database has ended', () => installation.processes.length === 0);
    };

    const damage = (file: string) => {
      const damaged = fs.openSync(path.join(installation.dataDir, 'postgres', file), 'r+');

      fs.writeSync(damaged, Buffer.alloc(200, 0xff), 0, 200, 8_192 - 300);
      fs.closeSync(damaged);
    };

    await stop(first);
    damage(rows[0].names);
    const restarted = await installation.start();

    expect((await restarted.anonymous.send('GET', '/health/ready')).status).toBe(200);
    expect((await restarted.anonymous.get('/language/')).body.count).toBeGreaterThan(1);
    expect((await restarted.signedIn(first.demo.token).get('/workout/')).status).toBe(200);
    await stop(restarted);
    damage(rows[0].reference);
    await expect(installation.start()).rejects.toThrow(
      /^the server has ended: fitgraph: the table equipment cannot be read: [^\n]+\n$/,
    );
  } finally {
    await installation.remove();
  }
});

test('does not listen before a slow start is complete', async () => {
  const own = await createDatabase('catalogue');
  const holder = new Client(own.connection);

  await holder.connect();
  await lockMigrations(holder);
  holder.on('error', () => undefined);
  const proxy = await Proxy.before(own.connection);
  const installation = new Installation({ DATABASE_URL: proxy.url, SECRET_KEY });

  try {
    const port = await choosePort('127.0.0.1');
    const starting = installation.start({ PORT: String(port) });
    const waits = `SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "query" LIKE '%pg_try_advisory_lock%'`;

    await until(
      'the start waits for the migration',
      async () => (await holder.query(waits)).rowCount === 1,
    );
    const anonymous = new Person(`http://localhost:${port}`);

    await expect(anonymous.send('GET', '/health/live')).rejects.toMatchObject({
      cause: { code: 'ECONNREFUSED' },
    });
    await holder.end();
    const server = await starting;

    expect((await server.anonymous.get('/language/')).status).toBe(200);
  } finally {
    await installation.remove();
    await proxy.close();
    await own.drop();
  }
});
