/** Files are deleted with their rows, regardless of how the rows are deleted. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fieldsOf } from '../../src/engine/declare/fields';
import { allEntities, resourceOf } from '../../src/engine/declare/registry';
import { Fitgraph, fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { plain } from './pictures';
import { until } from '../setup/waits';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let base: number;

beforeEach(async () => {
  ann = await fitgraph.user('ann');
  const insert = `INSERT INTO "exercise_base" ("uuid", "status", "category_id", "license_id")
    SELECT gen_random_uuid(), '2', (SELECT min("id") FROM "exercise_category"), (SELECT min("id") FROM "license") RETURNING "id"`;

  base = (await fitgraph.sql(insert))[0]!.id;
});

const folder = () => join(fitgraph.mediaFolder, `exercise-images/${base}`);
const files = () => (existsSync(folder()) ? readdirSync(folder()).sort() : []);

/**
 * Uploads an image and has its thumbnails created, eleven files in total; returns the id of the
 * image.
 */
async function uploadImage(): Promise<number> {
  const form = new FormData();

  form.set('exercise', String(base));
  form.set('image', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'a.png');
  const headers = { Authorization: `Token ${ann.token}` };
  const answer = await fetch(`${fitgraph.url}/api/v2/exerciseimage/`, {
    method: 'POST',
    headers,
    body: form,
  });

  expect(answer.status).toBe(201);
  const { id } = (await answer.json()) as { id: number };

  expect((await fitgraph.anonymous.get(`/exerciseimage/${id}/thumbnails/`)).status).toBe(200);
  expect(files()).toHaveLength(11);
  return id;
}

const pendingRemovals = () => fitgraph.sql('SELECT * FROM "removed_file" WHERE NOT "settled"');

async function waitUntilDeleted(): Promise<void> {
  await until('no file is left', () => files().length === 0);
  await until('no removal is pending', async () => (await pendingRemovals()).length === 0);
}

test('deletes an image and its thumbnails when its row is deleted', async () => {
  const id = await uploadImage();

  await fitgraph.sql('DELETE FROM "exercise_image" WHERE "id" = $1', [id]);
  await waitUntilDeleted();
});

test('deletes the images of an exercise when the exercise is deleted', async () => {
  await uploadImage();
  await fitgraph.sql('DELETE FROM "exercise_base" WHERE "id" = $1', [base]);
  await waitUntilDeleted();
});

test('keeps the files when the deletion is rolled back', async () => {
  await uploadImage();
  const client = await fitgraph.database.pool.connect();

  await client.query('BEGIN');
  await client.query('DELETE FROM "exercise_image" WHERE "exercise_base_id" = $1', [base]);
  await client.query('ROLLBACK');
  client.release();
  await sleep(200);
  expect(files()).toHaveLength(11);
});

test('keeps a file until the last row that refers to it is deleted', async () => {
  const id = await uploadImage();
  const copy = `INSERT INTO "exercise_image" ("uuid", "exercise_base_id", "image", "is_main", "status", "license_id")
    SELECT gen_random_uuid(), "exercise_base_id", "image", false, "status", "license_id" FROM "exercise_image" WHERE "id" = $1 RETURNING "id"`;
  const other = (await fitgraph.sql(copy, [id]))[0]!.id;

  await fitgraph.sql('DELETE FROM "exercise_image" WHERE "id" = $1', [id]);
  await until('the removal is handled', async () => (await pendingRemovals()).length === 0);
  expect(files()).toHaveLength(11);
  await fitgraph.sql('DELETE FROM "exercise_image" WHERE "id" = $1', [other]);
  await waitUntilDeleted();
});

test('does not reuse the name of a deleted file, which browsers have cached', async () => {
  const id = await uploadImage();
  const [path] = (
    await fitgraph.sql('SELECT "image" FROM "exercise_image" WHERE "id" = $1', [id])
  ).map(({ image }) => image as string);

  expect(path).toBe(`exercise-images/${base}/a.png`);
  await fitgraph.sql('DELETE FROM "exercise_image" WHERE "id" = $1', [id]);
  await waitUntilDeleted();
  await uploadImage();
  expect(files()[0]).toMatch(/^a_\w{7}\.png$/);
});

test('deletes at start the files of removals that no server has handled', async () => {
  const lost = join(dirname(fitgraph.mediaFolder), 'later');

  mkdirSync(join(lost, 'media/lost'), { recursive: true });
  writeFileSync(join(lost, 'media/lost/a.png'), 'x');
  await fitgraph.sql(`INSERT INTO "removed_file" VALUES ('lost/a.png'), ('../../outside.png')`);
  const next = await Fitgraph.start({ sameDatabaseAs: fitgraph, environment: { DATA_DIR: lost } });

  try {
    expect(existsSync(join(lost, 'media/lost/a.png'))).toBe(false);
    expect(await pendingRemovals()).toEqual([]);
  } finally {
    await next.stop();
  }
});

test('has a trigger on every image column', async () => {
  const watched =
    await fitgraph.sql(`SELECT t.tgrelid::regclass::text AS "table", a.attname AS "column"
    FROM pg_trigger t JOIN pg_attribute a ON a.attrelid = t.tgrelid AND a.attnum = ANY (t.tgattr) WHERE t.tgname LIKE '%file_removed'`);
  const columns = allEntities().flatMap((entity) =>
    fieldsOf(entity).flatMap(({ kind, column }) =>
      kind === 'image' ? [{ table: resourceOf(entity)!.table, column }] : [],
    ),
  );

  expect(watched).toEqual(columns);
});
