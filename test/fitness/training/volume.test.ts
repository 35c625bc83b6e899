/**
 * Training volume per muscle and in total, checked against values calculated by hand, and its query
 * plan.
 */
import { Client } from 'pg';
import { DatabaseSession } from '../../../src/database/session';
import { asSuperuser } from '../../setup/databases';
import { addDays } from '../../../seeders/dates';
import { todayIn } from '../../../src/engine/declare/clock';
import { TIME_ZONE } from '../../setup/databases';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { BENCH, LB, PLANK, SECONDS, train } from '../training-data';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  const bob = await fitgraph.user('bob');

  await train(bob, [{ reps: 10, weight: '500.00' }]);
  await train(ann, [
    // Muscles of the squat: quadriceps (primary), biceps and rectus (secondary). Muscle of the
    // bench press: biceps (primary).
    { date: '2021-03-08', reps: 5, weight: '100.00' },
    { date: '2021-03-08', reps: 4, weight: '110.00' },
    { date: '2021-03-10', reps: 30, weight: '20.00', rir: '4' },
    { date: '2021-03-10', reps: 31, weight: '10.00' },
    { date: '2021-03-14', reps: 10, weight: '100.00', weight_unit: LB, exercise: BENCH },
    { date: '2021-03-15', reps: 8, weight: '60.00', exercise: BENCH },
    { date: '2021-03-15', reps: 60, weight: '0.00', repetition_unit: SECONDS, exercise: PLANK },
  ]);
});

const muscles = async (args = '', person = ann) => {
  const { volume } =
    await person.ask(`{ volume: muscleVolume(from: "2021-03-01"${args && `, ${args}`}) {
    bucket { start } muscle { name } hardSets sets tonnage } }`);

  return volume.map(({ bucket, muscle, hardSets, sets, tonnage }: any) => [
    bucket.start,
    muscle.name,
    hardSets,
    sets,
    tonnage,
  ]);
};

// Squats of the first week: 500 + 440 + 600 + 310 = 1850 kg. Bench presses: 10 × 100 lb = 453.59237
// kg. Secondary muscles count half.
test('sums hard sets and tonnage per muscle and week', async () => {
  expect(await muscles()).toEqual([
    ['2021-03-08', 'Biceps brachii', '2', '3', '1378.59'],
    ['2021-03-08', 'Quadriceps femoris', '2', '4', '1850.00'],
    ['2021-03-08', 'Rectus abdominis', '1', '2', '925.00'],
    ['2021-03-15', 'Biceps brachii', '1', '1', '480.00'],
    ['2021-03-15', 'Rectus abdominis', '0', '1', '0.00'],
  ]);
});

test('groups filtered logs by weeks that start on Sunday, in pounds', async () => {
  const args = `firstDay: SUNDAY, unit: LB, where: { exerciseId: { eq: ${BENCH} } }`;

  expect(await muscles(args)).toEqual([['2021-03-14', 'Biceps brachii', '2', '2', '2058.22']]);
});

test('sums the volume of all exercises and of each exercise', async () => {
  const queryWith = (args: string) =>
    `{ volume: trainingVolume(from: "2021-03-01", by: MONTH${args}) { exercise { name } days sets hardSets reps tonnage } }`;
  const all = { days: 4, sets: 7, hardSets: 4, reps: '88', tonnage: '2783.59' };

  expect((await ann.ask(queryWith(''))).volume).toEqual([{ exercise: null, ...all }]);
  const { volume } = await ann.ask(queryWith(', perExercise: true'));

  expect(
    volume.map(({ exercise, days, hardSets, tonnage }: any) => [
      exercise.name,
      days,
      hardSets,
      tonnage,
    ]),
  ).toEqual([
    ['Squat', 2, 2, '1850.00'],
    ['Bench press', 2, 2, '933.59'],
    ['Plank', 1, 0, '0.00'],
  ]);
});

test('adds the muscles and weeks without logs', async () => {
  const { volume } = await ann.ask(
    '{ volume: muscleVolume(from: "2021-03-01", until: "2021-03-28", empty: true) { bucket { start } muscle { name } sets tonnage } }',
  );
  const { muscles: catalogue } = await ann.ask('{ muscles { name } }');
  const trained = await muscles('until: "2021-03-28"');
  const emptyRows = volume.filter(({ sets }: any) => sets === '0');

  expect(volume).toHaveLength(3 * catalogue.length);
  expect(emptyRows).toHaveLength(volume.length - trained.length);
  expect(new Set(emptyRows.map(({ tonnage }: any) => tonnage))).toEqual(new Set(['0.00']));
  expect(new Set(volume.map(({ bucket }: any) => bucket.start))).toEqual(
    new Set(['2021-03-08', '2021-03-15', '2021-03-22']),
  );
});

test('adds the weeks without logs since the first one, for each exercise by itself', async () => {
  const { total, each, exercises } = await ann.ask(`{
    total: trainingVolume(from: "2021-03-01", until: "2021-03-28", empty: true) { bucket { start } exerciseId days sets hardSets reps tonnage }
    each: trainingVolume(from: "2021-03-01", until: "2021-03-28", empty: true, perExercise: true) { bucket { start } exerciseId sets }
    exercises(where: { id: { in: [${BENCH}, ${PLANK}] } }) { nodes {
      id trainingVolume(from: "2021-03-01", until: "2021-03-28", empty: true) { bucket { start } exerciseId sets } } }
  }`);
  const none = { days: 0, sets: 0, hardSets: 0, reps: '0', tonnage: '0.00' };

  expect(total.map(({ bucket: { start }, sets }: any) => [start, sets])).toEqual([
    ['2021-03-08', 5],
    ['2021-03-15', 2],
    ['2021-03-22', 0],
  ]);
  expect(total[2]).toEqual({ bucket: { start: '2021-03-22' }, exerciseId: null, ...none });
  expect(
    each
      .filter(({ exerciseId }: any) => exerciseId === String(PLANK))
      .map(({ bucket: { start }, sets }: any) => [start, sets]),
  ).toEqual([
    ['2021-03-15', 1],
    ['2021-03-22', 0],
  ]);

  for (const { id, trainingVolume } of exercises.nodes) {
    expect(trainingVolume).toEqual(each.filter(({ exerciseId }: any) => exerciseId === id));
  }

  const { later, before } = await ann.ask(`{
    later: trainingVolume(from: "2021-04-01", until: "2021-04-30", empty: true) { bucket { start } sets }
    before: trainingVolume(from: "2021-02-01", until: "2021-02-28", empty: true) { sets } }`);

  expect(later.map(({ bucket: { start }, sets }: any) => [start, sets])).toEqual(
    ['2021-03-29', '2021-04-05', '2021-04-12', '2021-04-19', '2021-04-26'].map((start) => [
      start,
      0,
    ]),
  );
  expect(before).toEqual([]);
});

test('reads the logs of one user among many with an index-only scan', async () => {
  const OTHER_USERS = 30;
  const LOGS_PER_USER = 400;
  const users: number[] = [];
  const client = await fitgraph.database.pool.connect();
  const superuser = new Client(asSuperuser(fitgraph.database.options.connection));

  try {
    // Disables triggers and foreign keys, which are not under test.
    await superuser.connect();
    await superuser.query('SET session_replication_role = replica');
    const { rows } = await superuser.query(
      `INSERT INTO "user_account" ("username", "password") SELECT 'other' || n, '' FROM generate_series(1, ${OTHER_USERS}) n RETURNING "id"`,
    );

    users.push(...rows.map(({ id }) => id as number));
    await superuser.query(
      `INSERT INTO "workout_log" ("reps", "weight", "date", "exercise_id", "exercise_base_id", "workout_id", "user_id")
       SELECT 5 + n % 8, 60 + n % 40, date '2020-01-01' + n / 4, 1 + n % 3, 1 + n % 3, 1, u FROM generate_series(1, ${LOGS_PER_USER}) n, unnest($1::int[]) u`,
      [users],
    );

    // VACUUM can mark pages as all-visible only once no older transaction is running.
    for (let visible = false; !visible;) {
      await client.query('VACUUM ANALYZE "workout_log"');
      const { rows: pages } = await client.query(
        `SELECT "relallvisible" >= "relpages" AS "visible" FROM pg_class WHERE oid = 'workout_log'::regclass`,
      );

      visible = pages[0].visible as boolean;
    }
  } finally {
    client.release();
    await superuser.end();
  }

  const querySpy = jest.spyOn(DatabaseSession.prototype, 'query');

  await muscles();
  const [text, values] = querySpy.mock.calls.find(([sql]) => sql.includes('"workout_log"'))!;

  querySpy.mockRestore();
  const [{ 'QUERY PLAN': plan }] = (await fitgraph.sql(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  )) as [{ 'QUERY PLAN': any }];
  const scans: any[] = [];

  const walk = (node: any) => {
    if (node['Relation Name'] === 'workout_log') scans.push(node);
    (node.Plans ?? []).forEach(walk);
  };

  walk(plan[0].Plan);
  expect(scans).toEqual([
    expect.objectContaining({
      'Node Type': 'Index Only Scan',
      'Index Name': 'workout_log_lifts',
      'Actual Rows': 7,
      'Heap Fetches': 0,
    }),
  ]);
  expect(scans[0]['Index Cond']).toContain('user_id');
  expect(scans[0]['Rows Removed by Filter'] ?? 0).toBe(0);
});

test('adds no days before the 9,999 ones up to the last one', async () => {
  const zoe = await fitgraph.user('zoe');
  const query = '{ trainingVolume(from: "0001-01-01", by: DAY, empty: true) { bucket { start } } }';

  await train(zoe, [{ date: '0001-01-03', reps: 5, weight: '50' }]);
  const { text } = await zoe.send('GET', `/graphql/export.csv?query=${encodeURIComponent(query)}`);
  const [, ...starts] = text.trimEnd().split('\r\n');
  const today = todayIn(TIME_ZONE);

  expect(starts).toHaveLength(1 + 10_000);
  expect([starts[0], starts[1], starts.at(-1)]).toEqual([
    '0001-01-03',
    addDays(today, -9_999),
    today,
  ]);
});

test('adds all days of a long series beside many short ones', async () => {
  const [DAYS, COUNT] = [9_000, 40];
  const eve = await fitgraph.user('eve');
  const [until] = [todayIn(TIME_ZONE)];
  const from = addDays(until, -DAYS + 1);

  await fitgraph.sql(
    `WITH bases AS (
       INSERT INTO "exercise_base" ("id", "uuid", "status", "category_id", "license_id")
       SELECT 1000 + n, gen_random_uuid(), '2', 1, 1 FROM generate_series(1, ${COUNT}) n RETURNING "id")
     INSERT INTO "exercise" ("id", "uuid", "name", "status", "description", "language_id", "exercise_base_id")
     SELECT "id", gen_random_uuid(), 'Short', '2', '', 2, "id" FROM bases`,
  );
  await train(
    eve,
    [from, ...Array.from({ length: COUNT }, () => until)].map((date, index) => ({
      ...{ date, exercise: 1000 + Math.max(1, index), reps: 5, weight: '50' },
    })),
  );
  const { exercises } = await eve.ask(
    `{ exercises(where: { name: { eq: "Short" } }, first: ${COUNT}) { nodes {
      id trainingVolume(from: "${from}", by: DAY, empty: true) { sets } } } }`,
  );

  expect(
    exercises.nodes.map(({ id, trainingVolume }: any) => [Number(id), trainingVolume.length]),
  ).toEqual(Array.from({ length: COUNT }, (_, index) => [1001 + index, index === 0 ? DAYS : 1]));
});
