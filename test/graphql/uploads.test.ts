/**
 * Uploads over GraphQL (multipart request specification), under the same rules as uploads over
 * REST.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { imageWorkerPool } from '../../src/files/image-worker-pool';
import { insertUploadedFiles } from '../../src/graphql/uploads';
import type { MultipartParts, UploadedFile } from '../../src/shared/multipart';
import { uploaded } from '../files/uploaded';
import { bomb, html, plain, svg } from '../files/pictures';
import { Visitor } from '../setup/visitor';
import { Fitgraph, fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { until } from '../setup/waits';

const fitgraph = fitgraphForThisFile({ environment: { MAX_UPLOAD: '100k' } });
const CREATE = `mutation ($input: ExerciseImageInput!) {
  createExerciseImage(input: $input) { exerciseImage { id image status thumbnailUrl(size: SMALL) } errors { path message } }
}`;
const INVALID =
  'Upload a valid image. The file you uploaded was either not an image or a corrupted image.';

let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
});

const filesIn = (folder: string) =>
  existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [];
const images = () => filesIn(fitgraph.mediaFolder).filter((name) => name.includes('.'));

function send(
  person: Person,
  content: Buffer,
  {
    name = 'a.png',
    map = { 0: ['variables.input.image'] } as object,
    fileFirst = false,
    query = CREATE,
    preflight = true,
  } = {},
) {
  const form = new FormData();
  const file = () => form.set('0', new Blob([new Uint8Array(content)]), name);

  if (fileFirst) file();
  form.set(
    'operations',
    JSON.stringify({ query, variables: { input: { exerciseId: '1', image: null } } }),
  );
  form.set('map', JSON.stringify(map));
  if (!fileFirst) file();
  const headers = {
    ...(preflight && { 'apollo-require-preflight': '1' }),
    Accept: 'application/graphql-response+json',
  };

  return person.withHeaders(headers).send('POST', '/graphql', form);
}

async function expectNoNewFiles(before: readonly string[]): Promise<void> {
  const waiting = () => filesIn(join(dirname(fitgraph.mediaFolder), 'incoming'));

  await until('no uploaded file is left', () => waiting().length === 0);
  expect(images()).toEqual(before);
}

test('needs no other header for CSRF prevention with an Authorization header, but does without one', async () => {
  const content = await plain().png().toBuffer();

  expect(
    (await send(ann, content, { name: 'direct.png', preflight: false })).body.data
      .createExerciseImage.errors,
  ).toEqual([]);
  const visitor = new Visitor(fitgraph.url);

  await visitor.signIn('ann');
  const form = new FormData();

  form.set('operations', JSON.stringify({ query: '{ __typename }' }));
  const answer = await visitor.send('POST', '/graphql', form, {
    'X-CSRFToken': await visitor.csrfToken(),
  });

  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('CSRF')]);
});

test.each([false, true])(
  'stores an uploaded image (file before the map: %s)',
  async (fileFirst) => {
    const content = await plain().png().toBuffer();
    const { status, body } = await send(ann, content, { name: `${fileFirst}.png`, fileFirst });
    const image = `/media/exercise-images/1/${fileFirst}.png`;

    expect([status, body.data.createExerciseImage]).toEqual([
      200,
      {
        exerciseImage: {
          id: expect.any(String),
          image: fitgraph.url + image,
          status: 'PENDING',
          thumbnailUrl: `${fitgraph.url}${image}.200x200_q85.jpg`,
        },
        errors: [],
      },
    ]);
    expect(Buffer.from(await (await fetch(fitgraph.url + image)).arrayBuffer())).toEqual(content);
  },
);

test('serves a thumbnail of each size, scaled to fit the square or cropped to fill it', async () => {
  const { body } = await send(ann, await plain(500, 300).jpeg().toBuffer(), { name: 'sizes.jpg' });
  const { id } = body.data.createExerciseImage.exerciseImage;
  const SIZES = ['MICRO', 'THUMBNAIL', 'SMALL', 'MEDIUM', 'LARGE'];
  const fields = SIZES.map(
    (size) =>
      `${size}: thumbnailUrl(size: ${size}) ${size}_CROPPED: thumbnailUrl(size: ${size}, crop: true)`,
  );
  const { exerciseImage } = await ann.ask(
    `{ exerciseImage(id: ${id}) { usual: thumbnailUrl ${fields.join(' ')} } }`,
  );
  const sizes = Object.entries(exerciseImage).map(async ([name, url]) => {
    const { width, height } = await sharp(
      await (await fetch(url as string)).arrayBuffer(),
    ).metadata();

    return [name, `${width} x ${height}`];
  });

  expect(Object.fromEntries(await Promise.all(sizes))).toEqual({
    usual: '400 x 240',
    MICRO: '30 x 18',
    THUMBNAIL: '80 x 48',
    SMALL: '200 x 120',
    MEDIUM: '400 x 240',
    LARGE: '500 x 300',
    MICRO_CROPPED: '30 x 30',
    THUMBNAIL_CROPPED: '80 x 80',
    SMALL_CROPPED: '200 x 200',
    MEDIUM_CROPPED: '400 x 300',
    LARGE_CROPPED: '500 x 300',
  });
});

test('deletes the uploaded file when the atomic operation is rolled back', async () => {
  const before = images();
  const query = `mutation ($input: ExerciseImageInput!) @atomic {
    createExerciseImage(input: $input) { exerciseImage { image } errors { path message } } deleteWorkout(id: 999999) { errors { code } } }`;
  const { body } = await send(ann, await plain().png().toBuffer(), { name: 'atomic.png', query });

  expect(body.data).toEqual({
    createExerciseImage: null,
    deleteWorkout: { errors: [{ code: 'NOT_FOUND' }] },
  });
  expect(
    await fitgraph.sql(`SELECT 1 FROM "exercise_image" WHERE "image" LIKE '%atomic%'`),
  ).toEqual([]);
  await expectNoNewFiles(before);
});

test('stores uploads that wait for other images longer than a transaction may be idle', async () => {
  const withShortTimeout = await Fitgraph.start({
    environment: { IDLE_TRANSACTION_TIMEOUT: '2s' },
    sameDatabaseAs: fitgraph,
  });

  try {
    const content = await plain().png().toBuffer();
    const client = async (name: string, headers: Record<string, string> = {}) =>
      (await withShortTimeout.user(name)).withHeaders(headers);

    const formOf = (name: string, fields: Record<string, string> = {}) => {
      const form = new FormData();

      for (const [field, value] of Object.entries({ ...fields, exercise: '1' })) {
        form.set(field, value);
      }

      form.set('image', new Blob([new Uint8Array(content)]), name);
      return form;
    };

    const path = '/api/v2/exerciseimage/';

    await client('browser');
    const browser = new Visitor(withShortTimeout.url, { Accept: 'text/html' });

    await browser.signIn('browser');
    const page = formOf('page.png', await browser.fieldsOf(path, /id="wpost-/));
    const atomic = CREATE.replace('{', '@atomic {');
    const occupied = ['one', 'two'].map((caller) =>
      imageWorkerPool.limiter.run(caller, () => sleep(4_000)),
    );
    const [rest, stored, keyed, transaction] = await Promise.all([
      client('rest', { 'Idempotency-Key': 'rest' }).then((person) =>
        person.send('POST', path, formOf('rest.png')),
      ),
      browser.send('POST', path, page),
      client('keyed', { 'Idempotency-Key': 'keyed' }).then((person) =>
        send(person, content, { name: 'keyed.png' }),
      ),
      client('atomic').then((person) =>
        send(person, content, { name: 'atomic.png', query: atomic }),
      ),
    ]);

    await Promise.all(occupied);
    expect([rest.status, stored.status, keyed.body.errors, transaction.body.errors]).toEqual([
      201,
      303,
      undefined,
      undefined,
    ]);

    for (const { body } of [keyed, transaction]) {
      expect(body.data.createExerciseImage.errors).toEqual([]);
    }
  } finally {
    await withShortTimeout.stop();
  }
});

test.each<[string, () => Buffer | Promise<Buffer>, string]>([
  ['HTML', () => html, INVALID],
  ['SVG', () => svg, INVALID],
  [
    'a decompression bomb',
    () => bomb(),
    'Ensure this image has at most 24 megapixels (it has 400).',
  ],
  ['a truncated image', async () => (await plain().png().toBuffer()).subarray(0, 90), INVALID],
  ['an empty file', () => Buffer.alloc(0), 'The submitted file is empty.'],
])(
  'rejects %s named .png as an invalid value and leaves no file',
  async (_name, content, message) => {
    const before = images();
    const { status, body } = await send(ann, await content());

    expect([status, body.data.createExerciseImage]).toEqual([
      200,
      { exerciseImage: null, errors: [{ path: ['input', 'image'], message }] },
    ]);
    await expectNoNewFiles(before);
  },
);

test.each<[string, () => Buffer, object | undefined, string]>([
  [
    'a file larger than MAX_UPLOAD',
    () => Buffer.alloc(100 * 1024 + 1),
    undefined,
    'The file of part "0" is larger than 102400 bytes.',
  ],
  [
    'a map to an unknown variable',
    () => svg,
    { 0: ['variables.input.picture'] },
    'The value at "variables.input.picture" in "operations" must be null.',
  ],
  [
    'a map of a missing part',
    () => svg,
    { 1: ['variables.input.image'] },
    'There is no file in part "1".',
  ],
])('rejects %s with 400 and leaves no file', async (_name, content, map, message) => {
  const before = images();
  const { status, body } = await send(ann, content(), { map });

  expect([status, body.errors]).toEqual([400, [{ message, extensions: { code: 'BAD_REQUEST' } }]]);
  await expectNoNewFiles(before);
});

test('rejects an upload of an anonymous client and leaves no file', async () => {
  const before = images();
  const { body } = await send(fitgraph.anonymous, await plain().png().toBuffer());

  expect(body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  await expectNoNewFiles(before);
});

describe('the part `map`', () => {
  const file = uploaded('a.png', Buffer.from('a'));
  const OPERATIONS = '{"query":"mutation","variables":{"input":{"image":null,"more":[null,"x"]}}}';
  const parts = (operations: string, map: string): MultipartParts =>
    new Map<string, (string | UploadedFile)[]>([
      ['operations', [operations]],
      ['map', [map]],
      ['0', [file]],
      ['text', ['a']],
    ]);

  test('assigns files to the paths in the map', () =>
    expect(
      insertUploadedFiles(
        parts(OPERATIONS, '{"0":["variables.input.image","variables.input.more.0"]}'),
      ).variables,
    ).toEqual({
      input: { image: file, more: [file, 'x'] },
    }));

  test.each([
    ['operations that are not JSON', 'x', '{}', 'The part "operations" must be a JSON object.'],
    ['a batch', '[]', '{}', 'The part "operations" must be a JSON object.'],
    ['an empty map', OPERATIONS, '', 'The part "map" must be a JSON object.'],
    [
      'a path outside a list',
      OPERATIONS,
      '{"0":"variables.input.image"}',
      'Every value of "map" must be a list of paths.',
    ],
    [
      'an unknown part',
      OPERATIONS,
      '{"1":["variables.input.image"]}',
      'There is no file in part "1".',
    ],
    [
      'a text part',
      OPERATIONS,
      '{"text":["variables.input.image"]}',
      'There is no file in part "text".',
    ],
    [
      'a path whose value is not null',
      OPERATIONS,
      '{"0":["variables.input.more.1"]}',
      'The value at "variables.input.more.1" in "operations" must be null.',
    ],
    [
      'a path to the query',
      OPERATIONS,
      '{"0":["query"]}',
      'The value at "query" in "operations" must be null.',
    ],
    [
      'a path through __proto__',
      OPERATIONS,
      '{"0":["variables.__proto__.x"]}',
      'The value at "variables.__proto__.x" in "operations" must be null.',
    ],
    [
      'two files for one path',
      OPERATIONS,
      '{"0":["variables.input.image","variables.input.image"]}',
      'The value at "variables.input.image" in "operations" must be null.',
    ],
  ])('rejects %s', (_, operations, map, message) =>
    expect(() => insertUploadedFiles(parts(operations, map))).toThrow(message),
  );
});
