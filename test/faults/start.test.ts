/** Starts on what a fault has left behind. */
import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { openEmbedded } from '../../src/database/embedded';
import { until } from '../database/processes';
import { build, Installation } from '../server/running';

jest.setTimeout(120_000);
beforeAll(build, 120_000);

test('a damaged row of the catalogue does not stop the start, and everything else is answered', async () => {
  const installation = await Installation.started();
  try {
    const first = await installation.start();
    const { connection, release } = await openEmbedded({ dataDir: installation.dataDir });
    const client = new Client(connection);
    await client.connect();
    await client.query('CHECKPOINT');
    const { rows } = await client.query(
      `SELECT pg_relation_filepath('ingredient') AS "names", pg_relation_filepath('equipment') AS "reference"`,
    );
    await client.end();
    await release();
    first.process.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    await until('the database has ended too', () => installation.processes.length === 0);
    for (const file of [rows[0].names, rows[0].reference] as string[]) {
      const damaged = fs.openSync(path.join(installation.dataDir, 'postgres', file), 'r+');
      fs.writeSync(damaged, Buffer.alloc(200, 0xff), 0, 200, 8_192 - 300);
      fs.closeSync(damaged);
    }
    const again = await installation.start();
    expect((await again.anyone.send('GET', '/health/ready')).status).toBe(200);
    expect((await again.anyone.get('/language/')).body.count).toBeGreaterThan(1);
    expect((await again.signedIn(first.demo.token).get('/workout/')).status).toBe(200);
    expect(again.stdout).toContain('the names of a table could not be read');
    expect(again.stdout).toContain('rows of a table are damaged; the others are used');
  } finally {
    await installation.remove();
  }
});
