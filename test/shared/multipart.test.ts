/** Uploads are written to disk as they arrive, and only accepted images remain. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { request, type ClientRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { FolderStore } from '../../src/files/folder-store';
import { imageWorkerPool } from '../../src/files/image-worker-pool';
import { deleteAbandonedUploads } from '../../src/shared/multipart';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { randomFor, seeded } from '../setup/random';
import { bomb, html } from '../files/pictures';
import { until } from '../setup/waits';

const fitgraph = fitgraphForThisFile({ environment: { MAX_UPLOAD: '2MB' } });
const BOUNDARY = 'boundary';

/** Generates an incompressible image of about 1 MB. */
const noise = () =>
  sharp(randomFor('pixels').bytes(600 * 600 * 3), { raw: { width: 600, height: 600, channels: 3 } })
    .png()
    .toBuffer();

let ann: Person;
let base: number;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  base = (await fitgraph.sql('SELECT "id" FROM "exercise_base" LIMIT 1'))[0]!.id;
});

const incomingSizes = () => {
  const folder = join(dirname(fitgraph.mediaFolder), 'incoming');
  // A file that disappears during the listing is skipped.
  const sizes = (name: string) =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? [];

  return existsSync(folder) ? readdirSync(folder).flatMap(sizes) : [];
};

const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`;
const tail = () =>
  `\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="exercise"\r\n\r\n${base}\r\n--${BOUNDARY}--\r\n`;

function startUpload(): { request: ClientRequest; status: Promise<number> } {
  const headers = {
    Authorization: `Token ${ann.token}`,
    'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
  };
  const sent = request(`${fitgraph.url}/api/v2/exerciseimage/`, { method: 'POST', headers });
  const status = new Promise<number>((resolve, reject) => {
    sent.on('response', (response) => resolve(response.resume().statusCode!)).on('error', reject);
  });

  status.catch(() => undefined);
  return { request: sent, status };
}

test('decodes an image in base64', async () => {
  const content = await sharp({
    create: { width: 300, height: 200, channels: 3, background: '#468' },
  })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const lines = content.toString('base64').replace(/.{76}/g, '$&\r\n');

  const upload = async (text: string) => {
    const { request, status } = startUpload();

    request.write(head.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: base64\r\n\r\n'));
    // Pieces that do not end at a group of four digits.
    for (const piece of text.match(/.{1,1001}/gs)!) request.write(piece);
    request.end(tail());
    return status;
  };

  expect(await upload(lines)).toBe(201);
  expect(await upload(lines.replace('A', '*'))).toBe(400);
  expect(await upload(lines.slice(0, -3))).toBe(400);
});

test('leaves no file behind if the client disconnects while its image is processed', async () => {
  const content = await sharp({
    create: { width: 5_000, height: 4_500, channels: 3, background: '#468' },
  })
    .jpeg()
    .toBuffer();
  const { request } = startUpload();

  request.write(head.replace('a.png', 'a.tiff'));
  request.write(content);
  request.end(tail());
  await until('the image is being processed', () => imageWorkerPool.limiter.usage.busy > 0);
  request.destroy();
  await until('the image has been processed', () => imageWorkerPool.limiter.usage.busy === 0);
  await until('no uploaded file is left', () => incomingSizes().length === 0);
});

const modeOf = (place: string) => statSync(place).mode & 0o777;

test(
  seeded(
    'makes an upload inaccessible to other users of the machine, during and after the request',
  ),
  async () => {
    const mask = process.umask(0);

    try {
      const content = await noise();
      const { request, status } = startUpload();

      request.write(head);
      request.write(content.subarray(0, content.length >> 1));
      await until('a part of the upload has arrived', () =>
        incomingSizes().some((size) => size > 0),
      );
      const folder = join(dirname(fitgraph.mediaFolder), 'incoming');

      expect(
        [folder, ...readdirSync(folder).map((name) => join(folder, name))].map(modeOf),
      ).toEqual([0o700, 0o600]);
      request.write(content.subarray(content.length >> 1));
      request.end(tail());
      expect(await status).toBe(201);
      const [row] = await fitgraph.sql(
        'SELECT "image" FROM "exercise_image" ORDER BY "id" DESC LIMIT 1',
      );

      expect([
        modeOf(fitgraph.mediaFolder),
        modeOf(join(fitgraph.mediaFolder, row!.image)),
      ]).toEqual([0o700, 0o600]);
    } finally {
      process.umask(mask);
    }
  },
);

test('treats an image part without a filename as text, which a file of that name replaces', async () => {
  const nameless = head.replace('; filename="a.png"', '');

  expect(nameless).not.toContain('filename');
  const content = await noise();
  const form = ann.withHeaders({ 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` });

  const send = async (...heads: string[]) => {
    const parts = heads.flatMap((one, index) => [
      Buffer.from(index ? `\r\n${one}` : one),
      one === nameless ? Buffer.from('text') : content,
    ]);
    const { status, body } = await form.send(
      'POST',
      '/api/v2/exerciseimage/',
      Buffer.concat([...parts, Buffer.from(tail())]),
    );

    return [status, body.image];
  };

  const unnamed = head.replace('a.png', ' / ');

  expect(await send(nameless)).toEqual([
    400,
    ['The submitted data was not a file. Check the encoding type on the form.'],
  ]);
  expect(await send(unnamed)).toEqual([400, ['No file was submitted.']]);
  expect(await send(head, nameless)).toEqual([201, expect.stringContaining('.png')]);
  expect(await send(nameless, head)).toEqual([201, expect.stringContaining('.png')]);
});

test('restricts the mode of folders from older versions at start', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'fitgraph-open-'));

  try {
    const folders = ['incoming', 'media'].map((name) => join(dataDir, name));

    for (const folder of folders) {
      mkdirSync(folder);
      chmodSync(folder, 0o755);
    }

    await deleteAbandonedUploads(dataDir);
    await new FolderStore(join(dataDir, 'media')).restrictPermissions();
    expect(folders.map(modeOf)).toEqual([0o700, 0o700]);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

test(
  seeded('writes an upload to disk while it arrives and deletes it after the response'),
  async () => {
    const content = await noise();
    const { request, status } = startUpload();

    request.write(head);
    request.write(content.subarray(0, content.length >> 1));
    await until('a large part of the upload has arrived', () =>
      incomingSizes().some((size) => size > content.length / 4),
    );
    request.write(content.subarray(content.length >> 1));
    request.end(tail());
    expect(await status).toBe(201);
    await until('no temporary file is left', () => incomingSizes().length === 0);
  },
);

test(seeded('deletes a partial upload when the client disconnects'), async () => {
  const { request } = startUpload();

  request.write(head);
  request.write((await noise()).subarray(0, 100_000));
  await until('a part of the upload has arrived', () => incomingSizes().length > 0);
  request.destroy();
  await until('no temporary file is left', () => incomingSizes().length === 0);
});

test.each<[string, () => Buffer]>([
  ['HTML', () => html],
  ['a decompression bomb', () => bomb()],
  ['an empty file', () => Buffer.alloc(0)],
  ['a file above MAX_UPLOAD', () => Buffer.alloc(3_000_000, 1)],
])('rejects and deletes an upload: %s', async (_, content) => {
  const { request, status } = startUpload();

  request.write(head);
  request.write(content());
  request.end(tail());
  expect(await status).toBe(400);
  await until('no temporary file is left', () => incomingSizes().length === 0);
});

test('returns 400 and deletes the upload when the body ends within a file', async () => {
  const { request, status } = startUpload();

  request.end(`${head}\x89PNG`);
  expect(await status).toBe(400);
  await until('no temporary file is left', () => incomingSizes().length === 0);
});

test('deletes old abandoned uploads at start but keeps recent ones', async () => {
  const data = mkdtempSync(join(tmpdir(), 'fitgraph-incoming-'));

  await deleteAbandonedUploads(data);
  mkdirSync(join(data, 'incoming'));
  for (const name of ['old', 'young']) writeFileSync(join(data, 'incoming', name), 'x');
  const now = Date.now() / 1000;

  utimesSync(join(data, 'incoming/old'), now - 2 * 3600, now - 2 * 3600);
  utimesSync(join(data, 'incoming/young'), now, now);
  await deleteAbandonedUploads(data);
  expect(readdirSync(join(data, 'incoming'))).toEqual(['young']);
  rmSync(data, { recursive: true });
});

async function expectNoUnhandledRejection(act: () => Promise<void>): Promise<void> {
  const rejections: unknown[] = [];
  const record = (reason: unknown) => void rejections.push(reason);

  process.on('unhandledRejection', record);

  try {
    await act();
    await sleep(100);
    expect(rejections).toEqual([]);
  } finally {
    process.off('unhandledRejection', record);
  }
}

test(
  seeded('rejects an oversized file in a truncated body without an unhandled rejection'),
  async () =>
    expectNoUnhandledRejection(async () => {
      const { request, status } = startUpload();

      request.end(
        Buffer.concat([Buffer.from(head), randomFor('an incomplete file').bytes(3 * 1024 * 1024)]),
      );
      expect(await status).toBe(400);
    }),
);

test.each([
  ['/graphql', 'foo', 'errors'],
  ['/graphql', 'utf-7', 'errors'],
  ['/api/v2/login/', 'foo', 'detail'],
  ['/api/v2/login/', 'utf-7', 'detail'],
])(
  'rejects a form whose client pauses after its first part: %s, charset %s',
  async (path, charset, key) =>
    expectNoUnhandledRejection(async () => {
      const headers = {
        'Content-Type': `multipart/form-data; boundary=${BOUNDARY}; charset=${charset}`,
        'apollo-require-preflight': '1',
      };
      const sent = request(`${fitgraph.url}${path}`, { method: 'POST', headers });
      const answer = new Promise<[number | undefined, string]>((resolve, reject) => {
        sent
          .on('response', (response) =>
            text(response).then((body) => resolve([response.statusCode, body]), reject),
          )
          .on('error', reject);
      });
      const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: application/octet-stream\r\n\r\nb\r\n`;

      answer.catch(() => undefined);
      sent.write(`${part}--${BOUNDARY}\r\n`);
      await sleep(300);
      sent.end(`Content-Disposition: form-data; name="c"\r\n\r\nd\r\n--${BOUNDARY}--\r\n`);
      const [status, body] = await answer;

      expect([status, Object.keys(JSON.parse(body) as object)]).toEqual([400, [key]]);
      expect(body).toContain(`Unknown charset \\"${charset}\\" in the Content-Type.`);
      expect((await fetch(`${fitgraph.url}/health/live`)).status).toBe(200);
    }),
);
