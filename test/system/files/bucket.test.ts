/** Files in an S3 bucket: outages, quotas, and the operator's commands. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { ConfigError, readConfig } from '../../../src/shared/config';
import { deleteUser } from '../../../src/accounts/deletion';
import { inspectBackup, restoreBackup } from '../../../src/transfer/backup/restore';
import { takeBackup } from '../../../src/transfer/backup/take';
import { build, Installation, run } from '../../setup/server-process';
import { SECRET_KEY } from '../../setup/databases';
import { Fitgraph } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { plain } from '../../files/pictures';
import { namesIn, startBucket, type Place } from '../../files/stores';
import { until } from '../../setup/waits';

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

test('stores images only in the bucket and serves them from URLs of the server', async () => {
  const { status, body } = await upload(ann);

  expect(status).toBe(201);
  expect(body.image).toMatch(new RegExp(`^${fitgraph.url}/media/exercise-images/1/picture`));
  expect((await ann.get(`/exerciseimage/${body.id}/thumbnails/`)).status).toBe(200);
  expect(await namesIn(files())).toHaveLength(11);
  expect(fs.existsSync(fitgraph.mediaFolder)).toBe(false);
});

test('restores the files of a backup while the server is running', async () => {
  const before = await digests();
  const { database } = fitgraph;
  const { media } = fitgraph.services;
  const file = path.join(folder, 'backup.tar.gz');
  const { summary } = await takeBackup({ file, database, media, secretKey: SECRET_KEY });

  expect(summary.files).toBe(11);
  const [image, other] = Object.keys(before);

  await files().write(image!, (at) => fs.promises.writeFile(at, 'wrecked'));
  await files().deleteFiles(other!, []);
  await upload(ann);
  await restoreBackup({
    file,
    backup: await inspectBackup(file),
    database,
    media,
    shouldReplaceExisting: true,
  });
  await until(
    'the files are restored',
    async () => JSON.stringify(await digests()) === JSON.stringify(before),
  );
});

/** Returns the environment variables for the operator's commands. */
function environmentOfCommands(): Record<string, string> {
  const { user, port, database, host } = fitgraph.database.options.connection;
  const url = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host!)}`;

  return {
    DATABASE_URL: url,
    SECRET_KEY,
    DATA_DIR: path.join(folder, 'data'),
    ...place.environment,
  };
}

test('imports the files of image rows, or nothing when a file is missing or conflicts', async () => {
  build();
  const row = (pk: number, image: string) => ({
    model: 'exercises.exerciseimage',
    pk,
    fields: {
      uuid: `00000000-0000-4000-8000-000000000${pk}`,
      exercise: 1,
      image,
      is_main: false,
      status: '2',
      license: 2,
    },
  });
  const [dump, media] = [path.join(folder, 'dump.json'), path.join(folder, 'media')];

  fs.mkdirSync(media);
  fs.writeFileSync(path.join(media, 'one.png'), 'an image');
  const before = await digests();

  const importRows = (...rows: object[]) => {
    fs.writeFileSync(dump, JSON.stringify(rows));
    return run('command', environmentOfCommands(), ['import', dump, '--media', media]);
  };

  expect((await importRows(row(901, 'one.png'), row(902, 'missing.png'))).stderr).toMatch(
    /the file missing\.png does not exist in/,
  );
  expect(await digests()).toEqual(before);
  expect((await ann.get('/exerciseimage/901/')).status).toBe(404);
  expect(await importRows(row(901, 'one.png'))).toMatchObject({ status: 0 });
  expect((await ann.get('/exerciseimage/901/')).body.image).toBe(`${fitgraph.url}/media/one.png`);
  expect(await (await fetch(`${fitgraph.url}/media/one.png`)).text()).toBe('an image');
  fs.writeFileSync(path.join(media, 'one.png'), 'another image');
  expect((await importRows(row(903, 'one.png'))).stderr).toMatch(
    /a different file one\.png already exists/,
  );
  expect(await (await fetch(`${fitgraph.url}/media/one.png`)).text()).toBe('an image');
});

test('serves a compressible request for a file without a warning of Node', async () => {
  build();
  const image = (await namesIn(files())).find((name) => name.endsWith('.png'))!;
  const installation = new Installation(environmentOfCommands());

  try {
    const { url } = await installation.start({ WEB_CONCURRENCY: '0' });
    const { status } = await fetch(`${url}/media/${image}`, {
      headers: { 'Accept-Encoding': 'gzip' },
    });

    expect(status).toBe(200);
  } finally {
    await installation.remove();
  }
});

test('enforces UPLOAD_QUOTA for concurrent uploads', async () => {
  const small = await plain().png().toBuffer();
  const narrow = await Fitgraph.start({
    environment: {
      ...place.environment,
      MEDIA_URL: 's3://fit/narrow',
      UPLOAD_QUOTA: String(Math.ceil(1.5 * small.length)),
    },
  });

  try {
    const carl = await narrow.user('carl');
    const answers = await Promise.all([upload(carl), upload(carl), upload(carl)]);

    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);

    for (const { status, body } of answers) {
      if (status === 400) expect(body.image[0]).toMatch(/^Your images may take/);
    }
  } finally {
    await narrow.stop();
  }
});

test('checks the files in the bucket with doctor and reports an unreachable bucket', async () => {
  build();
  const environment = environmentOfCommands();
  const doctor = await run('command', environment, ['doctor']);

  // The image row of the test catalogue has no file.
  expect(doctor.stdout).toMatch(/1 of 3 images have no file/);
  expect(doctor.stdout).toContain(place.environment.MEDIA_URL);
  const away = await run('command', { ...environment, MEDIA_ENDPOINT: 'http://127.0.0.1:9' }, [
    'doctor',
  ]);

  expect(away.stdout + away.stderr).toMatch(/MEDIA_URL must refer to a writable bucket/);
});

test('deletes the files of a deleted user', async () => {
  const bob = await fitgraph.user('bob');
  const { body } = await upload(bob);
  const image = new URL(body.image).pathname.replace('/media/', '');

  expect(await fitgraph.services.media.exists(image)).toBe(true);
  await deleteUser(bob.id, fitgraph.database, async () => undefined);
  await until('the image is deleted', async () => !(await fitgraph.services.media.exists(image)));
});

test('returns 503 for files and writes no row while the bucket is unreachable', async () => {
  const image = (await namesIn(files())).find((name) => name.endsWith('.png'))!;
  const before = await fitgraph.sql('SELECT count(*)::int AS "count" FROM "exercise_image"');

  await place.end();
  const rejected = await upload(ann);

  expect({ status: rejected.status, retryAfter: rejected.headers.get('retry-after') }).toEqual({
    status: 503,
    retryAfter: expect.any(String),
  });
  expect(rejected.body.detail).toContain('files');
  const imageResponse = await fetch(`${fitgraph.url}/media/${image}`);

  expect({
    status: imageResponse.status,
    retryAfter: imageResponse.headers.get('retry-after'),
  }).toEqual({
    status: 503,
    retryAfter: expect.any(String),
  });
  expect((await ann.get('/exerciseimage/')).status).toBe(200);
  expect(await fitgraph.sql('SELECT count(*)::int AS "count" FROM "exercise_image"')).toEqual(
    before,
  );
  expect(fitgraph.logged.some((line) => line.includes('ECONNREFUSED'))).toBe(true);
});

test('rejects invalid bucket settings and parses valid ones', async () => {
  for (const environment of [
    { MEDIA_URL: 's3://' },
    { MEDIA_URL: 'https://bucket/prefix' },
    { MEDIA_URL: 's3://bucket/prefix?secret' },
    { MEDIA_URL: 's3://bucket', MEDIA_DIR: folder },
    { MEDIA_URL: 's3://bucket', MEDIA_ENDPOINT: 'localhost:9000' },
  ]) {
    expect(() => readConfig(environment)).toThrow(ConfigError);
  }

  expect(readConfig({ MEDIA_URL: 's3://bucket/a/b/' }).bucket).toMatchObject({
    name: 'bucket',
    prefix: 'a/b/',
    region: 'us-east-1',
  });
});

test.each([
  ['ignores ranges', 'range'],
  ['omits Content-Length', 'length'],
])('sends the whole file instead of a range when the S3 server %s', async (_what, lacks) => {
  const own = await startBucket();
  const endpoint = new URL(own.environment.MEDIA_ENDPOINT!);
  const proxy = http.createServer((request, response) => {
    const headers = { ...request.headers };

    if (lacks === 'range') delete headers.range;
    const { method, url } = request;
    const forwarded = http.request(
      { port: endpoint.port, host: endpoint.hostname, method, path: url, headers },
      (answer) => {
        if (lacks === 'length') delete answer.headers['content-length'];
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );

    request.pipe(forwarded);
  });

  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  const behind = await Fitgraph.start({
    environment: { ...own.environment, MEDIA_ENDPOINT: `http://127.0.0.1:${port}` },
  });

  try {
    const { body } = await upload(await behind.user('ben'));
    const whole = Buffer.from(await (await fetch(body.image)).arrayBuffer());

    expect(whole.length).toBeGreaterThan(100);
    const part = await fetch(body.image, { headers: { Range: 'bytes=10-19' } });

    expect(part.status).toBe(200);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole);
    expect(part.headers.get('content-range')).toBeNull();
    expect(part.headers.get('content-length')).toBe(
      lacks === 'length' ? null : String(whole.length),
    );
  } finally {
    await behind.stop();
    await new Promise((resolve) => proxy.close(resolve));
    await own.end();
  }
});
