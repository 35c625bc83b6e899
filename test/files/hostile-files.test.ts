/**
 * Path traversal in the media folder, hostile names and contents of uploads, and unknown formats.
 */
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { html, plain, svg } from './pictures';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { MARKUP } from '../setup/hostile-texts';
import { sendRaw } from '../setup/raw-request';
import { endpoints } from '../setup/rest-endpoints';

const FOLDER = 'exercise-images/1';
const SECRET = 'the secret beside the media folder';
const fitgraph = fitgraphForThisFile();
let ann: Person;
let picture: Buffer;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  picture = await plain().png().toBuffer();
  const media = fitgraph.mediaFolder;

  mkdirSync(join(media, 'exercise-images/1'), { recursive: true });
  writeFileSync(join(dirname(media), 'secret.png'), SECRET);
  writeFileSync(join(media, 'exercise-images/1/good.png'), picture);
  mkdirSync(join(media, '.hidden'));
  writeFileSync(join(media, '.hidden/secret.png'), SECRET);
  writeFileSync(join(media, 'exercise-images/1/.secret.png'), SECRET);
  symlinkSync(join(dirname(media), 'secret.png'), join(media, 'link.png'));
  symlinkSync(dirname(media), join(media, 'out'));
  symlinkSync('/etc', join(media, 'etc'));
});

const SUBJECTS = ['secret.png', 'etc/passwd', 'secret.png.30x30_q85.jpg'];
const PARENT_SEGMENTS = [
  '..',
  '%2e%2e',
  '.%2e',
  '%252e%252e',
  '..%00',
  '%c0%ae%c0%ae',
  '..;',
  '....',
  '%uff0e%uff0e',
  '\\..',
  '..\\',
  '%2e%2e%5c',
  '..%255c',
];
const SLASHES = ['/', '%2f', '%252f', '\\', '%5c', '//', '/./', '%c0%af'];

const traversals = [
  ...SUBJECTS.flatMap((subject) =>
    PARENT_SEGMENTS.flatMap((up) =>
      SLASHES.flatMap((slash) =>
        [1, 2, 8].map((depth) => `${`${up}${slash}`.repeat(depth)}${subject}`),
      ),
    ),
  ),
  ...PARENT_SEGMENTS.map((up) => `exercise-images/1/${up}/${up}/${up}/secret.png`),
  '/etc/passwd',
  '%2fetc%2fpasswd',
  'file:///etc/passwd',
  'C:\\secret.png',
  'secret.png%00.png',
  'exercise-images/1/good.png%00',
  'exercise-images/1/good.png/../../../../secret.png',
  '.hidden/secret.png',
  '%2ehidden/secret.png',
  'exercise-images/1/.secret.png',
  '',
  '.',
  'exercise-images',
  'exercise-images/',
];

test('serves no file outside the media folder or in its hidden folders', async () => {
  const wrong: unknown[] = [];

  for (const path of traversals) {
    const { status, head, body } = await sendRaw(fitgraph.url, `GET /media/${path}`);

    if (status < 400 || status > 404 || body.includes(SECRET) || body.includes('root:')) {
      wrong.push({ path, status });
    }

    if (!/^content-type: application\/json/im.test(head) && status !== 400) {
      wrong.push({ path, head });
    }
  }

  expect(wrong).toEqual([]);
  expect(await sendRaw(fitgraph.url, 'GET /media/exercise-images/1/good.png')).toMatchObject({
    status: 200,
  });
});

test.each(['link.png', 'out/secret.png', 'etc/passwd', 'link.png.30x30_q85.jpg'])(
  'does not follow the symbolic link in /media/%s',
  async (path) => {
    const { status, body } = await sendRaw(fitgraph.url, `GET /media/${path}`);

    expect({ status, secret: body.includes(SECRET) || body.includes('root:') }).toEqual({
      status: 404,
      secret: false,
    });
  },
);

function upload(filename: string, content: Buffer): Uint8Array {
  const part = (name: string, more: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  // Written by hand, because clients would escape the name.
  const head = `${part('exercise', '')}1\r\n${part('image', `; filename="${filename.replaceAll('"', '\\"')}"\r\nContent-Type: image/png`)}`;

  return Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--b--\r\n')]);
}

const sendFile = (filename: string, content: Buffer) =>
  ann
    .withHeaders({ 'Content-Type': 'multipart/form-data; boundary=b' })
    .send('POST', '/api/v2/exerciseimage/', upload(filename, content));

/** Files beside the media folder, in it, and in the folder of the exercise. */
const names = () =>
  ['..', '.', 'exercise-images', FOLDER].flatMap((folder) =>
    readdirSync(join(fitgraph.mediaFolder, folder))
      .map((name) => join(folder, name))
      // Uploads of running requests, under generated names.
      .filter((name) => name !== '../incoming'),
  );

test.each([
  '../../../evil.png',
  '..\\..\\evil.png',
  '/etc/evil.png',
  'C:\\evil.png',
  '%2e%2e%2fevil.png',
  '..%2fevil.png',
  'evil.png\0.html',
  'evil\u202egnp.html.png',
  '.htaccess.png',
  'evil.html.png',
  'con.png',
  ';rm -rf $HOME;.png',
  '`id`.png',
  'a\r\nContent-Type: text/html\r\n\r\n<script>.png',
  ...MARKUP.map((payload) => `${payload}.png`),
])('stores an upload named %j under a safe name in its folder, or rejects it', async (filename) => {
  const before = new Set(names());
  const { status, body } = await sendFile(filename, picture);

  // A name that breaks the headers of its part is rejected.
  expect([201, 400]).toContain(status);
  const made = names().filter((name) => !before.has(name));

  for (const name of made) {
    expect(name).toMatch(/^exercise-images\/1\/[\p{L}\p{N}_-][\p{L}\p{N}_.-]*\.png$/u);
  }

  if (status !== 201) return expect(made).toEqual([]);
  expect(body.image).toMatch(
    new RegExp(`^${fitgraph.url}/media/exercise-images/1/[\\w.%-]+\\.png$`),
  );
  const { headers } = await fitgraph.anonymous.send('GET', new URL(body.image as string).pathname);

  expect(headers.get('content-type')).toBe('image/png');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toContain('sandbox');
});

test.each([
  ['evil.html', 'HTML', () => html],
  ['evil.svg', 'SVG', () => svg],
  ['evil.png', 'HTML', () => html],
  ['evil.png', 'SVG', () => svg],
  ['evil.png', 'a GIF header and a script', () => Buffer.from('GIF89a<script>alert(1)</script>')],
  ['evil.html', 'a PNG', () => picture],
  ['evil.php', 'a PNG', () => picture],
])('rejects an upload named %s that contains %s', async (filename, _type, content) => {
  const before = names();

  expect(await sendFile(filename, content())).toMatchObject({
    status: 400,
    body: { image: [expect.any(String)] },
  });
  expect(names()).toEqual(before);
});

test('removes a script that is appended to an image', async () => {
  const { body } = await sendFile('polyglot.png', Buffer.concat([picture, html]));
  const { text } = await fitgraph.anonymous.send('GET', new URL(body.image as string).pathname);

  expect(text).not.toContain('<script');
});

test('returns 404 for an unknown format', async () => {
  const suffixes = [
    '.html',
    '.xml',
    '.csv',
    '.json%00',
    '.json/../../../etc/passwd',
    '.__proto__',
    '.constructor',
    '.api%0d%0aX: y',
    '..json',
  ];

  for (const { view, actions } of endpoints) {
    for (const place of [
      view.restName,
      `${view.restName}/1`,
      ...[...actions.keys()].map((name) => `${view.restName}/1/${name}`),
    ]) {
      for (const suffix of suffixes) {
        const { status, headers, text } = await ann.send('GET', `/api/v2/${place}${suffix}`);

        expect({ place, suffix, status, type: headers.get('content-type') }).toEqual({
          place,
          suffix,
          status: 404,
          type: expect.stringMatching(/^application\/json/),
        });
        expect(JSON.parse(text)).toEqual({ detail: 'Not found.' });
      }
    }
  }

  for (const format of [
    'html',
    'xml',
    '__proto__',
    'constructor',
    '../../etc/passwd',
    'json\r\nX: y',
  ]) {
    expect((await ann.get(`/workout/?format=${encodeURIComponent(format)}`)).status).toBe(404);
  }
});
