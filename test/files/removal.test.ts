/** Where a row goes its files go too, whoever took it away. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fieldsOf } from '../../src/core/model/fields';
import { allEntities, resourceOf } from '../../src/core/model/registry';
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

/** Its id; with its thumbnails it is eleven files. */
async function uploaded(): Promise<number> {
  const form = new FormData();
  form.set('exercise', String(base));
  form.set('image', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'a.png');
  const headers = { Authorization: `Token ${ann.token}` };
  const answer = await fetch(`${fitgraph.url}/api/v2/exerciseimage/`, { method: 'POST', headers, body: form });
  expect(answer.status).toBe(201);
  const { id } = (await answer.json()) as { id: number };
  expect((await fitgraph.anyone.get(`/exerciseimage/${id}/thumbnails/`)).status).toBe(200);
  expect(files()).toHaveLength(11);
  return id;
}

const unsettled = () => fitgraph.sql('SELECT * FROM "removed_file" WHERE NOT "settled"');

async function gone(): Promise<void> {
  await until('no file is left', () => files().length === 0);
  await until('none waits for it', async () => (await unsettled()).length === 0);
}

test('an image and its thumbnails go with its row', async () => {
  const id = await uploaded();
  await fitgraph.sql('DELETE FROM "exercise_image" WHERE "id" = $1', [id]);
  await gone();
});

test('and with the exercise that it is of', async () => {
  await uploaded();
  await fitgraph.sql('DELETE FROM "exercise_base" WHERE "id" = $1', [base]);
  await gone();
});

test('a deletion that is taken back takes nothing', async () => {
  await uploaded();
  const client = await fitgraph.database.pool.connect();
  await client.query('BEGIN');
  await client.query('DELETE FROM "exercise_image" WHERE "exercise_base_id" = $1', [base]);
  await client.query('ROLLBACK');
  client.release();
  await sleep(200);
  expect(files()).toHaveLength(11);
});

test('a file that another row names stays until that one goes', async () => {
  const id = await uploaded();
  const copy = `INSERT INTO "exercise_image" ("uuid", "exercise_base_id", "image", "is_main", "status", "license_id")
    SELECT gen_random_uuid(), "exercise_base_id", "image", false, "status", "license_id" FROM "exercise_image" WHERE "id" = $1 RETURNING "id"`;
  const other = (await fitgraph.sql(copy, [id]))[0]!.id;
  await fitgraph.sql('DELETE FROM "exercise_image" WHERE "id" = $1', [id]);
  await until('it is looked at', async () => (await unsettled()).length === 0);
  expect(files()).toHaveLength(11);
  await fitgraph.sql('DELETE FROM "exercise_image" WHERE "id" = $1', [other]);
  await gone();
});

test('its name is not given to another file, which browsers would not ask for', async () => {
  const id = await uploaded();
  const [path] = (await fitgraph.sql('SELECT "image" FROM "exercise_image" WHERE "id" = $1', [id])).map(({ image }) => image as string);
  expect(path).toBe(`exercise-images/${base}/a.png`);
  await fitgraph.sql('DELETE FROM "exercise_image" WHERE "id" = $1', [id]);
  await gone();
  await uploaded();
  expect(files()[0]).toMatch(/^a_\w{7}\.png$/);
});

test('what nobody heard of is found by the next server', async () => {
  const lost = join(dirname(fitgraph.mediaFolder), 'later');
  mkdirSync(join(lost, 'media/lost'), { recursive: true });
  writeFileSync(join(lost, 'media/lost/a.png'), 'x');
  await fitgraph.sql(`INSERT INTO "removed_file" VALUES ('lost/a.png'), ('../../outside.png')`);
  const next = await Fitgraph.start({ beside: fitgraph, environment: { DATA_DIR: lost } });
  try {
    expect(existsSync(join(lost, 'media/lost/a.png'))).toBe(false);
    expect(await unsettled()).toEqual([]);
  } finally {
    await next.stop();
  }
});

test('every column of images is watched', async () => {
  const watched = await fitgraph.sql(`SELECT t.tgrelid::regclass::text AS "table", a.attname AS "column"
    FROM pg_trigger t JOIN pg_attribute a ON a.attrelid = t.tgrelid AND a.attnum = ANY (t.tgattr) WHERE t.tgname LIKE '%file_removed'`);
  const columns = allEntities().flatMap((entity) =>
    fieldsOf(entity).flatMap(({ kind, column }) => (kind === 'image' ? [{ table: resourceOf(entity)!.table, column }] : [])),
  );
  expect(watched).toEqual(columns);
});
