/** Upgrade from an older major version of PostgreSQL; tested only where that version is installed. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { withOldServer } from '../../src/database/embedded/majorupgrade';
import { findClusterLocation, ensureDataDir } from '../../src/database/embedded/clusterlocation';
import { asSuperuser } from '../setup/databases';
import { build, Installation, run } from './running';

const FROM = '15';
const BIN = `/usr/lib/postgresql/${FROM}/bin`;
const KEY = 'a secret key for the tests, long enough';
const installed = fs.existsSync(path.join(BIN, 'postgres')) ? test : undefined;

beforeAll(build);

const installation = new Installation();
afterAll(() => installation.remove());

/** Creates the data folder of an older version of Fitgraph, with its secret key; returns the token of its demo account. */
async function createOldDataFolder(): Promise<string> {
  const place = findClusterLocation(ensureDataDir(installation.dataDir), () => undefined);
  fs.mkdirSync(place.clusterFolder, { mode: 0o700 });
  if (place.serverUser) fs.chownSync(place.clusterFolder, place.serverUser.uid, place.serverUser.gid);
  const flags = ['-D', place.clusterFolder, '-U', 'fitgraph', '--auth=trust', '-E', 'UTF8', '--locale=C.UTF-8'];
  const made = spawnSync(path.join(BIN, 'initdb'), flags, {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    encoding: 'utf8',
    ...place.serverUser,
  });
  expect(made.stderr.replace(/initdb: (?:warning|hint).*\n/g, '')).toBe('');
  fs.writeFileSync(path.join(installation.dataDir, 'secret-key'), `${KEY}\n`, { mode: 0o600 });
  return withOldServer({ location: place, oldVersion: FROM }, BIN, async (connection) => {
    const { host, port } = connection as { host: string; port: number };
    const client = new Client({ ...asSuperuser(connection), database: 'postgres' });
    await client.connect();
    for (const text of ['DROP DATABASE fitgraph', 'DROP ROLE fitgraph_owner, fitgraph_owner_viewer', 'CREATE DATABASE fitgraph'])
      await client.query(text);
    await client.end();
    const DATABASE_URL = `postgres://fitgraph@localhost:${port}/fitgraph?host=${encodeURIComponent(host)}`;
    const environment = { DATABASE_URL, SECRET_KEY: KEY, DATA_DIR: path.join(installation.folder, 'other') };
    const seeded = await run('command', environment, ['seed', '--demo']);
    expect(seeded.status).toBe(0);
    return /[0-9a-f]{40}/.exec(seeded.stdout)![0];
  });
}

installed?.('moves rows, tokens and the secret key to the new version and keeps the old database', async () => {
  const token = await createOldDataFolder();
  const rejected = await installation.command('user', 'token', 'demo');
  expect(rejected.stderr).toMatch(/^fitgraph: DATA_DIR: [^\n]* of PostgreSQL 15, [^\n]*run `fitgraph upgrade`\n$/);
  const wrong = await installation.command('upgrade', '--binaries', '/usr/bin');
  expect(wrong).toMatchObject({ status: 1, stderr: expect.stringMatching(/The programs of PostgreSQL 15 are required for the upgrade/) });

  const upgraded = await installation.command('upgrade');
  expect(upgraded).toMatchObject({ status: 0, stderr: '' });
  expect(upgraded.stdout).toMatch(/^The database now uses PostgreSQL \d+\. The PostgreSQL 15 database is kept in \S+postgres\.15; /);
  expect(fs.readdirSync(installation.dataDir).filter((name) => /upgrade|postgres\.\d/.test(name))).toEqual(['postgres.15']);
  // The server of the new version had ended before its folder was moved, so that no lock file was moved with it.
  expect(fs.existsSync(path.join(installation.dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
  expect((await installation.command('user', 'token', 'demo')).stdout).toBe(`${token}\n`);
  expect((await installation.command('upgrade')).stdout).toBe('Nothing to do.\n');

  // Simulates a crash between the two renames. A start must not create an empty database then.
  const [cluster, aside] = [path.join(installation.dataDir, 'postgres'), path.join(installation.folder, 'aside')];
  fs.renameSync(cluster, aside);
  expect((await installation.command('user', 'token', 'demo')).stderr).toMatch(/an upgrade was interrupted/);
  expect(fs.existsSync(cluster)).toBe(false);
  fs.renameSync(aside, cluster);
});
