/** UPLOAD_QUOTA: the total size of the images of one user. */
import sharp from 'sharp';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { randomFor, seeded } from '../setup/random';

const fitgraph = fitgraphForThisFile({ environment: { UPLOAD_QUOTA: '1MB' } });
const CREATE =
  'mutation ($input: ExerciseImageInput!) { made: createExerciseImage(input: $input) { exerciseImage { id } errors { path code message } } }';
const REFUSED =
  /^Your images may take up 1\.0 MB in total: [01]\.\d MB are left, but this image needs 0\.2 MB\. Delete some images first\.$/;

let content: Buffer;

beforeAll(async () => {
  // An incompressible image of about 240 KB. Four fit into the quota.
  content = await sharp(randomFor('pixels').bytes(283 * 283 * 3), {
    raw: { width: 283, height: 283, channels: 3 },
  })
    .png()
    .toBuffer();
  expect(content.length).toBeGreaterThan(220_000);
  expect(content.length).toBeLessThan(260_000);
});

const blob = () => new Blob([new Uint8Array(content)]);

function upload(person: Person, name = 'a.png') {
  const form = new FormData();

  form.set('exercise', '1');
  form.set('image', blob(), name);
  return person.send('POST', '/api/v2/exerciseimage/', form);
}

function uploadByGraphql(person: Person) {
  const form = new FormData();

  form.set(
    'operations',
    JSON.stringify({ query: CREATE, variables: { input: { exerciseId: '1', image: null } } }),
  );
  form.set('map', '{ "0": ["variables.input.image"] }');
  form.set('0', blob(), 'a.png');
  return person.withHeaders({ 'Apollo-Require-Preflight': '1' }).send('POST', '/graphql', form);
}

const takenBy = async (name: string) =>
  Number(
    (
      await fitgraph.sql(
        'SELECT coalesce(sum(c."bytes"), 0) AS "bytes" FROM "exercise_image_contributor" c JOIN "user_account" u ON u."id" = c."user_id" WHERE u."username" = $1',
        [name],
      )
    )[0]!.bytes,
  );

test(seeded('rejects concurrent uploads that together exceed the quota'), async () => {
  const ann = await fitgraph.user('ann');
  const answers = await Promise.all(Array.from({ length: 16 }, () => upload(ann)));

  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...Array<number>(4).fill(201),
    ...Array<number>(12).fill(400),
  ]);

  for (const { status, body } of answers) {
    if (status === 400) expect(body).toEqual({ image: [expect.stringMatching(REFUSED)] });
  }

  expect(await takenBy('ann')).toBe(4 * content.length);
  const { body } = await uploadByGraphql(ann);

  expect(body.data.made).toEqual({
    exerciseImage: null,
    errors: [
      { path: ['input', 'image'], code: 'INVALID', message: expect.stringMatching(REFUSED) },
    ],
  });
  const bob = await fitgraph.user('bob');

  expect((await upload(bob)).status).toBe(201);
});

test(seeded('frees quota when an image is deleted'), async () => {
  const carla = await fitgraph.user('carla');
  const ids = [];

  for (let index = 0; index < 4; index += 1) {
    ids.push((await uploadByGraphql(carla)).body.data.made.exerciseImage.id);
  }

  expect((await upload(carla)).status).toBe(400);
  const remove = 'mutation ($id: ID!) { deleteExerciseImage(id: $id) { deletedIds } }';

  await carla.ask(remove, { id: ids[0] });
  expect(await takenBy('carla')).toBe(3 * content.length);
  expect((await upload(carla)).status).toBe(201);
  expect((await upload(carla)).status).toBe(400);
});

test(seeded('does not limit superusers'), async () => {
  const admin = await fitgraph.user('admin', { isSuperuser: true });

  for (let index = 0; index < 6; index += 1) expect((await upload(admin)).status).toBe(201);
});
