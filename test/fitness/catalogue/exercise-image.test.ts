/**
 * Users may update and delete an image that they uploaded until it is reviewed; superusers always
 * may. REST allows neither.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { plain } from '../../files/pictures';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Answer, Person } from '../../setup/person';
import { until } from '../../setup/waits';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let bob: Person;
let editor: Person;
let content: Buffer;

beforeAll(async () => {
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  editor = await fitgraph.user('editor', { isSuperuser: true });
  content = await plain().png().toBuffer();
});
beforeEach(async () => {
  await fitgraph.sql('DELETE FROM "exercise_image" WHERE "id" > 1');
});

const UPDATE = `mutation ($id: ID!, $input: ExerciseImagePatch!) {
  answer: updateExerciseImage(id: $id, input: $input) { exerciseImage { id image isMain licenseAuthor exerciseId } errors { path code message } } }`;
const DELETE =
  'mutation ($id: ID!) { answer: deleteExerciseImage(id: $id) { deletedIds errors { code } } }';

const update = (person: Person, id: number, input: object) => person.query(UPDATE, { id, input });
const remove = (person: Person, id: number) => person.query(DELETE, { id });

function send(
  person: Person,
  method: string,
  path: string,
  fields: Record<string, string>,
  name: string,
): Promise<Answer> {
  const form = new FormData();

  for (const [key, value] of Object.entries(fields)) form.set(key, value);
  form.set(
    method === 'POST' && path === '/graphql' ? '0' : 'image',
    new Blob([new Uint8Array(content)]),
    name,
  );

  return person.withHeaders({ 'apollo-require-preflight': '1' }).send(method, path, form);
}

/** Uploads an image over REST and returns its id. */
async function uploaded(
  person: Person,
  exercise: number,
  name = 'a.png',
  isMain = false,
): Promise<number> {
  const { status, body } = await send(
    person,
    'POST',
    '/api/v2/exerciseimage/',
    { exercise: String(exercise), is_main: String(isMain) },
    name,
  );

  expect(status).toBe(201);
  return body.id;
}

/** Replaces the file of an image. */
const replace = (person: Person, id: number, name: string, input: object = {}) =>
  send(
    person,
    'POST',
    '/graphql',
    {
      operations: JSON.stringify({
        query: UPDATE,
        variables: { id, input: { ...input, image: null } },
      }),
      map: JSON.stringify({ 0: ['variables.input.image'] }),
    },
    name,
  );

const accept = (id: number) =>
  fitgraph.sql(`UPDATE "exercise_image" SET "status" = '2', "is_main" = false WHERE "id" = $1`, [
    id,
  ]);
const storedImage = async (id: number) =>
  (await fitgraph.sql('SELECT * FROM "exercise_image" WHERE "id" = $1', [id]))[0];
const mainImage = async (exercise: number) =>
  (
    await fitgraph.sql(
      'SELECT "id" FROM "exercise_image" WHERE "exercise_base_id" = $1 AND "is_main" ORDER BY 1',
      [exercise],
    )
  ).map(({ id }) => id);

async function isGone(path: string): Promise<void> {
  const file = join(fitgraph.mediaFolder, path);

  await until('the file is gone', () => !existsSync(file));
}

describe('the uploader of a pending image', () => {
  test('may update its fields', async () => {
    const id = await uploaded(ann, 2);
    const { data } = await update(ann, id, { licenseAuthor: 'Ann', exerciseId: '3' });

    expect(data.answer).toEqual({
      exerciseImage: expect.objectContaining({
        id: String(id),
        licenseAuthor: 'Ann',
        exerciseId: '3',
      }),
      errors: [],
    });
    expect((await update(ann, id, { licenseAuthor: 'x'.repeat(51) })).data.answer.errors).toEqual([
      {
        path: ['input', 'licenseAuthor'],
        code: 'TOO_LONG',
        message: 'Ensure this field has no more than 50 characters.',
      },
    ]);
  });

  test('may replace its file, which deletes the old file', async () => {
    const id = await uploaded(ann, 2);
    const formerFile = (await storedImage(id))!.image as string;
    const { body } = await replace(ann, id, 'b.png');
    const { image } = (await storedImage(id))!;

    expect(image).toBe('exercise-images/2/b.png');
    expect(body.data.answer).toMatchObject({
      exerciseImage: { image: `${fitgraph.url}/media/${image}` },
      errors: [],
    });
    expect(existsSync(join(fitgraph.mediaFolder, image))).toBe(true);
    await isGone(formerFile);
  });

  test('may delete it with its files', async () => {
    const id = await uploaded(ann, 2);
    const { image } = (await storedImage(id))!;

    expect((await remove(ann, id)).data.answer).toEqual({ deletedIds: [String(id)], errors: [] });
    expect(await storedImage(id)).toBeUndefined();
    await isGone(image);
    expect((await remove(ann, id)).data.answer.errors).toEqual([{ code: 'NOT_FOUND' }]);
  });
});

describe('an update or delete of an image', () => {
  const expectRejection = async (person: Person, id: number, code: string) => {
    const before = await storedImage(id);
    const attempts = [
      update(person, id, { licenseAuthor: 'mine' }),
      update(person, id, {}),
      replace(person, id, 'c.png'),
      remove(person, id),
    ];

    for (const { body } of await Promise.all(attempts)) {
      expect(body.errors?.[0].extensions.code ?? body.data.answer.errors[0].code).toBe(code);
    }

    expect(await storedImage(id)).toEqual(before);
    expect(
      existsSync(join(fitgraph.mediaFolder, `exercise-images/${before?.exercise_base_id}/c.png`)),
    ).toBe(false);
  };

  test('is rejected for other users and anonymous clients', async () => {
    const id = await uploaded(ann, 2);

    await expectRejection(bob, id, 'FORBIDDEN');
    await expectRejection(fitgraph.anonymous, id, 'UNAUTHENTICATED');
    await expectRejection(bob, 2_000_000_000, 'NOT_FOUND');
  });

  test('is rejected for the uploader once the image is accepted or declined', async () => {
    const id = await uploaded(ann, 2);

    await accept(id);
    await expectRejection(ann, id, 'FORBIDDEN');
    await fitgraph.sql(`UPDATE "exercise_image" SET "status" = '3' WHERE "id" = $1`, [id]);
    await expectRejection(ann, id, 'FORBIDDEN');
  });

  test('is rejected for an image without an uploader', async () => {
    await expectRejection(ann, 1, 'FORBIDDEN');
  });

  test('is rejected over REST even for superusers', async () => {
    const id = await uploaded(ann, 2);

    for (const person of [ann, editor]) {
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        expect(
          (
            await person.send(
              method,
              `/api/v2/exerciseimage/${id}/`,
              method === 'DELETE' ? undefined : { is_main: true },
            )
          ).status,
        ).toBe(403);
      }
    }

    expect(Object.keys((await ann.get(`/exerciseimage/${id}/`)).body)).toEqual([
      'id',
      'uuid',
      'exercise',
      'image',
      'is_main',
      'status',
    ]);
  });
});

test('allows superusers to update and delete any image', async () => {
  const id = await uploaded(ann, 2);

  expect((await update(editor, id, { licenseAuthor: 'editor' })).data.answer.errors).toEqual([]);
  await accept(id);
  expect(
    (await update(editor, id, { licenseAuthor: 'again' })).data.answer.exerciseImage.licenseAuthor,
  ).toBe('again');
  expect((await remove(editor, id)).errors).toBeUndefined();
});

describe('the main image', () => {
  test('is the accepted one that replaces a pending one, in lists of REST as well', async () => {
    const pending = await uploaded(ann, 3, 'a.png', true);

    expect(await mainImage(3)).toEqual([pending]);
    const accepted = await uploaded(editor, 3, 'b.png');
    const list = await ann.get('/exerciseimage/?exercise=3');

    expect(list.body.results).toMatchObject([
      { id: accepted, is_main: true, status: '2' },
      { id: pending, is_main: false, status: '1' },
    ]);
  });

  test('stays the accepted one when a pending image is updated or moved', async () => {
    const [id, moved] = [await uploaded(ann, 1), await uploaded(ann, 2)];

    expect(await mainImage(2)).toEqual([moved]);
    expect((await update(ann, id, { isMain: true })).data.answer.exerciseImage.isMain).toBe(false);
    expect((await update(ann, moved, { exerciseId: '1' })).data.answer.exerciseImage.isMain).toBe(
      false,
    );
    expect(await mainImage(1)).toEqual([1]);
  });

  test('is the last image that was set as main, among pending images or by superusers', async () => {
    const [a, b] = [await uploaded(ann, 3, 'a.png'), await uploaded(bob, 3, 'b.png')];

    expect(await mainImage(3)).toEqual([b]);
    // Updates of other fields do not change which image is the main image.
    await update(ann, a, { licenseAuthor: 'a' });
    expect(await mainImage(3)).toEqual([b]);
    await update(ann, a, { isMain: true });
    expect(await mainImage(3)).toEqual([a]);
    await accept(b);
    expect((await update(editor, b, { isMain: true })).data.answer.exerciseImage.isMain).toBe(true);
    expect(await mainImage(3)).toEqual([b]);
    const c = await uploaded(editor, 3, 'c.png', true);

    await Promise.all([b, c, b, c].map((id) => update(editor, id, { isMain: true })));
    expect(await mainImage(3)).toHaveLength(1);
    await update(editor, (await mainImage(3))[0], { isMain: false });
    expect(await mainImage(3)).toEqual([]);
  });
});

test('keeps the image without an uploader when the user is deleted', async () => {
  const gone = await fitgraph.user('gone');
  const id = await uploaded(gone, 2);

  await fitgraph.sql('DELETE FROM "user_account" WHERE "id" = $1', [gone.id]);
  expect(await storedImage(id)).toBeDefined();
  expect(
    await fitgraph.sql('SELECT * FROM "exercise_image_contributor" WHERE "row_id" = $1', [id]),
  ).toEqual([]);
});

test('conditions compare the URL that the field shows', async () => {
  const other = String(await uploaded(ann, 2, 'other.png'));
  // The last image is the main one, which is listed first.
  const id = String(await uploaded(ann, 2, 'très joli.png'));
  const LIST =
    'query ($where: ExerciseImageWhere) { exerciseImages(where: $where) { nodes { id image } } }';
  const select = async (where: object) =>
    (await ann.ask(LIST, { where })).exerciseImages.nodes as { id: string; image: string }[];
  const url = (await select({ id: { eq: id } }))[0]!.image;
  const folder = url.slice(0, url.lastIndexOf('/') + 1);
  const ids = async (image: object) =>
    (await select({ image, id: { in: [id, other] } })).map((row) => row.id);

  expect(await ids({ eq: url })).toEqual([id]);
  expect(await ids({ in: [url, 'https://example.org/x.png'] })).toEqual([id]);
  expect(await ids({ ne: url })).toEqual([other]);
  expect(await ids({ notIn: [url] })).toEqual([other]);

  for (const beginning of [folder, fitgraph.url, 'http']) {
    expect(await ids({ startsWith: beginning })).toEqual([id, other]);
  }

  expect(await ids({ startsWith: url.slice(0, -'.png'.length) })).toEqual([id]);
  expect(await ids({ contains: 'exercise-images/2/' })).toEqual([id, other]);
  expect(await ids({ endsWith: '.png' })).toEqual([id, other]);

  for (const none of [
    'exercise-images',
    'https://example.org',
    `${folder}%`,
    `${folder}%E0%A4%A`,
  ]) {
    expect(await ids({ startsWith: none })).toEqual([]);
  }

  expect(await ids({ eq: (await storedImage(Number(id)))!.image })).toEqual([]);
});
