/** What is special about files in a bucket: it may be away, and commands of the operator have to find it. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ConfigError, readConfig } from '../../src/platform/config';
import { deleteUser } from '../../src/auth/deletion';
import { inspect, restoreBackup } from '../../src/transfer/backup/restore';
import { takeBackup } from '../../src/transfer/backup/take';
import { until } from '../database/processes';
import { build, run } from '../server/running';
import { SECRET_KEY } from '../setup/databases';
import { Fitgraph } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { plain } from './pictures';
import { namesIn, startBucket, type Place } from './stores';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-bucket-'));
let place: Place;
let fitgraph: Fitgraph;
let ann: Person;

beforeAll(async () => {
  place = await startBucket();
  fitgraph = await Fitgraph.start({ environment: place.environment });
  ann = await fitgraph.user('ann');
});
afterAll(async () => {
  await fitgraph.stop();
  await place.end();
  fs.rmSync(folder, { recursive: true, force: true });
});

const files = () => fitgraph.services.media.files;
const digests = async () =>
  Object.fromEntries(
    await Promise.all(
      (await namesIn(files())).map(async (name) => [
        name,
        createHash('sha256')
          .update((await files().read(name)) ?? '')
          .digest('hex'),
      ]),
    ),
  ) as Record<string, string>;

async function upload(person: Person) {
  const form = new FormData();
  form.set('exercise', '1');
  form.set('image', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'picture.png');
  return person.send('POST', '/api/v2/exerciseimage/', form);
}

test('nothing of a file is on this machine, and its URL is one of this server', async () => {
  const { status, body } = await upload(ann);
  expect(status).toBe(201);
  expect(body.image).toMatch(new RegExp(`^${fitgraph.url}/media/exercise-images/1/picture`));
  expect((await ann.get(`/exerciseimage/${body.id}/thumbnails/`)).status).toBe(200);
  expect(await namesIn(files())).toHaveLength(11);
  expect(fs.existsSync(fitgraph.mediaFolder)).toBe(false);
});

test('a backup holds the files, and a restore puts them back, beside a server that runs', async () => {
  const before = await digests();
  const { database } = fitgraph;
  const { media } = fitgraph.services;
  const file = path.join(folder, 'backup.tar.gz');
  const { summary } = await takeBackup({ file, database, media, secretKey: SECRET_KEY });
  expect(summary.files).toBe(11);
  const [image, other] = Object.keys(before);
  await files().write(image!, (at) => fs.promises.writeFile(at, 'wrecked'));
  await files().remove(other!, []);
  await upload(ann);
  await restoreBackup({ file, found: await inspect(file), database, media, replace: true });
  await until('it is as it was', async () => JSON.stringify(await digests()) === JSON.stringify(before));
});

test('the commands of an operator find it', async () => {
  build();
  const url = `postgres://${fitgraph.database.options.connection.user}@localhost:${fitgraph.database.options.connection.port}/${fitgraph.database.options.connection.database}?host=${encodeURIComponent(fitgraph.database.options.connection.host!)}`;
  const environment = { DATABASE_URL: url, SECRET_KEY, DATA_DIR: path.join(folder, 'data'), ...place.environment };
  const doctor = await run('command', environment, ['doctor']);
  // The picture of the small catalogue has no file.
  expect(doctor.stdout).toMatch(/of 2 images 1 have no file/);
  expect(doctor.stdout).toContain(place.environment.MEDIA_URL);
  const away = await run('command', { ...environment, MEDIA_ENDPOINT: 'http://127.0.0.1:9' }, ['doctor']);
  expect(away.stdout + away.stderr).toMatch(/MEDIA_URL must name a bucket/);
});

test('the files of a user who is deleted go too', async () => {
  const bob = await fitgraph.user('bob');
  const { body } = await upload(bob);
  const image = new URL(body.image).pathname.replace('/media/', '');
  expect(await fitgraph.services.media.holds(image)).toBe(true);
  await deleteUser(bob.id, fitgraph.database);
  await until('it is gone', async () => !(await fitgraph.services.media.holds(image)));
});

test('a bucket that is away is told of: nothing is written, and everything else goes on', async () => {
  const image = (await namesIn(files())).find((name) => name.endsWith('.png'))!;
  const before = await fitgraph.sql('SELECT count(*)::int AS "count" FROM "exercise_image"');
  await place.end();
  const said = await upload(ann);
  expect({ status: said.status, retryAfter: said.headers.get('retry-after') }).toEqual({ status: 503, retryAfter: expect.any(String) });
  expect(said.body.detail).toContain('files');
  const shown = await fetch(`${fitgraph.url}/media/${image}`);
  expect({ status: shown.status, retryAfter: shown.headers.get('retry-after') }).toEqual({ status: 503, retryAfter: expect.any(String) });
  expect((await ann.get('/exerciseimage/')).status).toBe(200);
  expect(await fitgraph.sql('SELECT count(*)::int AS "count" FROM "exercise_image"')).toEqual(before);
  expect(fitgraph.logged.some((line) => line.includes('ECONNREFUSED'))).toBe(true);
});

test('what names no bucket is refused', async () => {
  for (const environment of [
    { MEDIA_URL: 's3://' },
    { MEDIA_URL: 'https://bucket/prefix' },
    { MEDIA_URL: 's3://bucket/prefix?secret' },
    { MEDIA_URL: 's3://bucket', MEDIA_DIR: folder },
    { MEDIA_URL: 's3://bucket', MEDIA_ENDPOINT: 'localhost:9000' },
  ])
    expect(() => readConfig(environment)).toThrow(ConfigError);
  expect(readConfig({ MEDIA_URL: 's3://bucket/a/b/' }).bucket).toMatchObject({ name: 'bucket', prefix: 'a/b/', region: 'us-east-1' });
});
