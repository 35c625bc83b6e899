/** A full disk, simulated by a small file system, which only root can mount. */
import { Client } from 'pg';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { build, Installation } from '../../setup/server-process';
import { checkVerdict } from './server-behind-proxy';
import { Traffic } from './traffic';
import { until } from '../../setup/waits';

beforeAll(build);

test('fails writes with Retry-After on a full disk and loses none after recovery', async () => {
  const installation = new Installation({ BUDGET: 'off' });

  fs.mkdirSync(installation.dataDir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=755', 'tmpfs', installation.dataDir]);

  try {
    const server = await installation.start();
    const { token } = server.demo;
    const isReady = async () => (await server.anonymous.send('GET', '/health/ready')).body;
    const { connection, release } = await openEmbeddedDatabase({ dataDir: installation.dataDir });
    const client = new Client(connection);

    await client.connect();
    const traffic = new Traffic(server, token).read(3).write(4);

    await until('writes succeed', () => traffic.counted(201) > 5);
    const filler = path.join(installation.dataDir, 'filler');
    const file = fs.openSync(filler, 'w');
    const chunk = Buffer.alloc(1 << 16);

    try {
      for (;;) fs.writeSync(file, chunk);
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }

    fs.closeSync(file);
    await until('the server is degraded', async () =>
      (await isReady()).degraded?.includes('the database disk is full'),
    );
    // Without its cache of the catalogue, which it cannot write then, PostgreSQL rejects new
    // connections. The others still read. The files are moved, because deleting them would free
    // space, in which a readiness check succeeds.
    const cluster = path.join(installation.dataDir, 'postgres');
    const caches = fs
      .readdirSync(cluster, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('/pg_internal.init'));

    for (const [index, file] of caches.entries()) {
      fs.renameSync(path.join(cluster, file), `${filler}-${index}`);
    }

    await client.query(
      `SELECT pg_terminate_backend("pid") FROM pg_stat_activity WHERE "query" LIKE 'SET LOCAL work_mem%'`,
    );
    await client.end();
    const reads = traffic.counted(200);

    for (let check = 0; check < 40; check += 1) {
      expect(await isReady()).toEqual({
        status: 'degraded',
        degraded: ['the database disk is full'],
      });
      await sleep(100);
    }

    expect(traffic.counted(200)).toBeGreaterThan(reads);
    fs.rmSync(filler);
    await release();
    await until('the server is healthy again', async () => (await isReady()).status === 'ok');
    const before = traffic.counted(201);

    await until('writes succeed again', () => traffic.counted(201) > before + 10);
    const comments = async () =>
      (
        (await server.signedIn(token).get('/workout/?limit=10000')).body.results as {
          comment: string;
        }[]
      ).map(({ comment }) => comment);

    checkVerdict('a full disk', await traffic.end(comments));
    server.process.kill('SIGTERM');
    await server.ended;
  } finally {
    await installation.end();
    execFileSync('umount', ['-l', installation.dataDir]);
    await installation.remove();
  }
});

test('returns 503 for an upload that exceeds the free space and leaves no file or descriptor', async () => {
  const installation = await Installation.started();
  const incoming = path.join(installation.dataDir, 'incoming');

  fs.mkdirSync(incoming);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', incoming]);

  try {
    const server = await installation.start({ WEB_CONCURRENCY: '0' });
    const descriptors = () => fs.readdirSync(`/proc/${server.process.pid}/fd`).length;

    const upload = async () => {
      const form = new FormData();

      form.set('exercise', '1');
      form.set('image', new Blob([new Uint8Array(4 * 1024 * 1024)]), 'picture.png');
      return server.signedIn(server.demo.token).send('POST', '/api/v2/exerciseimage/', form);
    };

    const { status, headers } = await upload();

    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    const before = descriptors();

    for (let time = 0; time < 20; time += 1) expect((await upload()).status).toBe(503);
    await until(
      'files and descriptors are released',
      () => fs.readdirSync(incoming).length === 0 && descriptors() <= before + 2,
    );
  } finally {
    await installation.end();
    execFileSync('umount', ['-l', incoming]);
    await installation.remove();
  }
});
