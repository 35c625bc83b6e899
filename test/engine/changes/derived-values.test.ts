/**
 * Values computed from a user's rows are cached in memory and never stale, even if another instance
 * writes.
 */
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import { Person, type Answer } from '../../setup/person';
import { LONG_TIMEOUT_MS, until } from '../../setup/waits';

const one = fitgraphForThisFile();
let two: Fitgraph;
let reader: Person;
let writer: Person;
const ids: Record<string, number> = {};

beforeAll(async () => {
  two = await Fitgraph.start({ sameDatabaseAs: one });
  reader = await one.user('ann');
  writer = new Person(two.url, { id: reader.id, token: reader.token });
  await create('workout', '/workout/', { comment: 'Legs' });
  await create('day', '/day/', { training: ids.workout, description: 'First', day: [1] });
  await create('set', '/set/', { exerciseday: ids.day, sets: 2 });
  await create('setting', '/setting/', { set: ids.set, exercise: 1, reps: 8, weight: '20' });
  await create('plan', '/nutritionplan/', { description: 'Bulk' });
  await create('meal', '/meal/', { plan: ids.plan, time: '08:00' });
  await create('item', '/mealitem/', {
    meal: ids.meal,
    ingredient: 1,
    weight_unit: 1,
    amount: '2',
  });
});
afterAll(() => two.stop());

async function create(name: string, path: string, body: object): Promise<void> {
  const answer = await writer.post(path, body);

  expect(answer.status).toBe(201);
  ids[name] = answer.body.id;
}

const canonical = () => `/workout/${ids.workout}/canonical_representation/`;
const values = () => `/nutritionplan/${ids.plan}/nutritional_values/`;

/**
 * Reads until the response is cached: the first read records the state, the second caches the
 * value, the third is a cache hit.
 */
async function readCached(path: string) {
  await reader.get(path);
  await reader.get(path);
  return reader.get(path);
}

const changeRow = (name: string, path: string, body: object) => async () =>
  expect((await writer.patch(path.replace('#', String(ids[name])), body)).status).toBe(200);
const deleteRow = (name: string, path: string) => async () =>
  expect((await writer.delete(path.replace('#', String(ids[name])))).status).toBe(204);
const sql = (text: string) => () => two.sql(text);

test.each<[string, () => string, () => Promise<unknown>]>([
  [
    'an update of a workout',
    canonical,
    changeRow('workout', '/workout/#/', { comment: 'Legs and arms' }),
  ],
  ['an update of a day', canonical, changeRow('day', '/day/#/', { description: 'Monday' })],
  [
    'an update of only the weekdays of a day',
    canonical,
    changeRow('day', '/day/#/', { day: [2, 3] }),
  ],
  ['an update of a set', canonical, changeRow('set', '/set/#/', { sets: 3 })],
  ['an update of a setting', canonical, changeRow('setting', '/setting/#/', { reps: 9 })],
  [
    'an insert of a day',
    canonical,
    () => create('day2', '/day/', { training: ids.workout, description: 'Second', day: [4] }),
  ],
  [
    'an insert of a set',
    canonical,
    () => create('set2', '/set/', { exerciseday: ids.day2, sets: 4 }),
  ],
  [
    'an insert of a setting',
    canonical,
    () => create('setting2', '/setting/', { set: ids.set2, exercise: 2, reps: 5 }),
  ],
  ['a delete of a setting', canonical, deleteRow('setting2', '/setting/#/')],
  ['a delete of a set', canonical, deleteRow('set2', '/set/#/')],
  ['a delete of a day', canonical, deleteRow('day2', '/day/#/')],
  [
    'an update of an exercise name',
    canonical,
    sql(`UPDATE "exercise" SET "name" = 'Deep squat' WHERE "id" = 1`),
  ],
  [
    'an insert of an exercise comment',
    canonical,
    sql(`INSERT INTO "exercise_comment" ("exercise_id", "comment") VALUES (1, 'Slowly.')`),
  ],
  [
    'an update of an exercise image',
    canonical,
    sql(`UPDATE "exercise_image" SET "image" = 'exercise-images/1/other.png'`),
  ],
  [
    'a delete of a muscle of an exercise',
    canonical,
    sql(`DELETE FROM "exercise_base_muscle" WHERE "exercise_base_id" = 1 AND "muscle_id" = 1`),
  ],
  ['an update of a meal item', values, changeRow('item', '/mealitem/#/', { amount: '3' })],
  [
    'an insert of a meal item',
    values,
    () => create('item2', '/mealitem/', { meal: ids.meal, ingredient: 2, amount: '100' }),
  ],
  ['a delete of a meal item', values, deleteRow('item2', '/mealitem/#/')],
  [
    'an insert of a weight entry',
    values,
    () => create('weight', '/weightentry/', { date: '2021-01-01', weight: '80' }),
  ],
  ['an update of a weight entry', values, changeRow('weight', '/weightentry/#/', { weight: '90' })],
  ['a delete of a weight entry', values, deleteRow('weight', '/weightentry/#/')],
  [
    'an update of an ingredient',
    values,
    sql(`UPDATE "ingredient" SET "energy" = 400 WHERE "id" = 1`),
  ],
  [
    'an update of an ingredient unit',
    values,
    sql(`UPDATE "ingredient_unit" SET "gram" = 250 WHERE "ingredient_id" = 1`),
  ],
  [
    'an update of the weight unit of the profile',
    values,
    sql(`UPDATE "user_profile" SET "weight_unit" = 'lb'`),
  ],
  ['a delete of a meal', values, deleteRow('meal', '/meal/#/')],
  ['a TRUNCATE of all sets', canonical, sql('TRUNCATE "workout_set" CASCADE')],
])('returns fresh values after %s', async (_name, path, write) => {
  const before = await readCached(path());

  await write();
  const after = await reader.get(path());

  expect(after.status).toBe(200);
  expect(after.body).not.toEqual(before.body);
  expect(after.body).toEqual((await writer.get(path())).body);
});

test('reflects changes of cached reference tables even while the listener connection is lost', async () => {
  await create('set', '/set/', { exerciseday: ids.day, sets: 2 });
  await create('setting', '/setting/', { set: ids.set, exercise: 1, reps: 8, weight: '20' });
  const text = ({ body }: Answer) => body.day_list[0].set_list[0].exercise_list[0].setting_text;

  expect(text(await readCached(canonical()))).toBe('2 × 8 (20 kg)');
  // The instances receive no notifications until they reconnect, half a second later.
  await two.sql(`SELECT pg_terminate_backend("pid") FROM pg_stat_activity
    WHERE "application_name" LIKE 'fitgraph listener%' AND "datname" = current_database()`);
  await two.sql(`UPDATE "weight_unit" SET "name" = 'kilos' WHERE "id" = 1`);
  expect(text(await reader.get(canonical()))).toBe('2 × 8 (20 kilos)');
  expect(text(await readCached(canonical()))).toBe('2 × 8 (20 kilos)');
});

test('serves a cached value with three statements: token, row and freshness check', async () => {
  // Values are cached again once the listeners have reconnected.
  for (const path of [canonical(), values()]) {
    await until(
      'the value is served from the cache',
      async () => (await readCached(path)).statements === 3,
    );
  }

  await writer.post('/weightentry/', { date: '2021-02-02', weight: '70' });
  expect((await reader.get(canonical())).statements).toBeGreaterThan(3);
});

test('never caches rows that were read before a concurrent write', async () => {
  const path = canonical();
  const body = () => reader.get(path).then((answer) => answer.body);

  // Writes while reads are in progress. The next read must return what was written.
  for (let sets = 1; sets <= 10; sets += 1) {
    const reads = [body(), body(), body()];
    const write = writer.patch(`/set/${ids.set}/`, { sets });

    await Promise.all([...reads, body(), write, body(), body()]);
    expect((await body()).day_list[0].set_list[0].obj.sets).toBe(sets);
    expect((await body()).day_list[0].set_list[0].obj.sets).toBe(sets);
  }
});

test('returns 404 for the cached value of another user', async () => {
  await readCached(canonical());
  expect((await (await one.user('eve')).get(canonical())).status).toBe(404);
});

test('returns 404 for the cached value of a deleted workout', async () => {
  await readCached(canonical());
  await writer.delete(`/workout/${ids.workout}/`);
  expect((await reader.get(canonical())).status).toBe(404);
});

/** Objects in memory for one version of the workout: ten for each set group. */
const OBJECTS_PER_VERSION = 35_000;

test(
  'limits the objects of cached values, whatever the number of their versions',
  async () => {
    const workout = (await reader.post('/workout/', {})).body.id as number;
    const day = (await reader.post('/day/', { training: workout, description: 'Long', day: [1] }))
      .body.id as number;

    await one.sql(
      `INSERT INTO "workout_set" ("training_day_id", "sets", "user_id") SELECT $1, 2, $2 FROM generate_series(1, ${OBJECTS_PER_VERSION / 10})`,
      [day, reader.id],
    );
    await one.sql(
      `INSERT INTO "setting" ("set_id", "exercise_id", "reps", "repetition_unit_id", "weight_unit_id", "user_id")
     SELECT "id", 1, 8, 1, 1, "user_id" FROM "workout_set" WHERE "training_day_id" = $1`,
      [day],
    );
    const { derivedValues } = one.services;

    for (let version = 0; version < 8; version += 1) {
      await one.sql(`UPDATE "workout" SET "comment" = $2 WHERE "id" = $1`, [
        workout,
        `Version ${version}`,
      ]);

      for (let run = 0; run < 2; run += 1) {
        const { body } = await reader.get(`/workout/${workout}/canonical_representation/`);

        expect(body.day_list[0].set_list).toHaveLength(OBJECTS_PER_VERSION / 10);
      }

      expect(derivedValues.size.objects).toBeGreaterThan(OBJECTS_PER_VERSION / 2);
      expect(derivedValues.size.objects).toBeLessThanOrEqual(200_000);
    }
  },
  LONG_TIMEOUT_MS,
);
