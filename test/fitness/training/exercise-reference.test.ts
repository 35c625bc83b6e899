/** Logs and planned sets refer to an exercise and to the translation in which they were written. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { BENCH, insertTranslation, SQUAT, train } from '../training-data';

const KNIEBEUGE = 5;
const fitgraph = fitgraphForThisFile();
let ann: Person;
let workoutId: number;

beforeAll(async () => {
  await insertTranslation(fitgraph, KNIEBEUGE);
  ann = await fitgraph.user('ann');
  workoutId = (await ann.post('/workout/', {})).body.id;
});

const CREATE = `mutation ($input: WorkoutLogInput!) {
  createWorkoutLog(input: $input) {
    workoutLog { id exerciseId translationId } errors { path code message } } }`;
const log = (input: object) => ({ workoutId, date: '2021-03-08', reps: 5, weight: '60', ...input });
const create = (input: object) => ann.ask(CREATE, { input: log(input) });
const update = (id: string, input: object) =>
  ann.ask(
    `mutation ($id: ID!, $input: WorkoutLogPatch!) {
      updateWorkoutLog(id: $id, input: $input) {
        workoutLog { exerciseId translationId } errors { path code message } } }`,
    { id, input },
  );
const ids = (exerciseId: number, translationId: number) => ({
  exerciseId: String(exerciseId),
  translationId: String(translationId),
});

test('a log of an exercise is written in English unless it names a translation', async () => {
  const { createWorkoutLog: english } = await create({ exerciseId: SQUAT });

  expect(english.workoutLog).toMatchObject(ids(SQUAT, SQUAT));
  const german = await create({ exerciseId: SQUAT, translationId: KNIEBEUGE });

  expect(german.createWorkoutLog.workoutLog).toMatchObject(ids(SQUAT, KNIEBEUGE));
});

test('a log needs an exercise, and a translation of it', async () => {
  const { errors } = await ann.query(CREATE, { input: log({ translationId: KNIEBEUGE }) });

  expect(errors![0]!.extensions.inputErrors).toMatchObject([
    { path: ['input', 'exerciseId'], message: 'This field is required.' },
  ]);
  const { createWorkoutLog } = await create({ exerciseId: BENCH, translationId: KNIEBEUGE });

  expect(createWorkoutLog).toEqual({
    workoutLog: null,
    errors: [
      {
        path: ['input', 'translationId'],
        code: 'INVALID',
        message: 'The translation is one of another exercise.',
      },
    ],
  });
});

test('an exercise without a translation is refused by name', async () => {
  const [{ id: exerciseId }] = (await fitgraph.sql(
    `INSERT INTO "exercise_base" ("uuid", "status", "category_id", "license_id")
      VALUES (gen_random_uuid(), '2', 1, 1) RETURNING "id"`,
  )) as [{ id: number }];
  const refused = {
    workoutLog: null,
    errors: [
      {
        path: ['input', 'exerciseId'],
        code: 'INVALID',
        message: 'The exercise has no translation yet.',
      },
    ],
  };

  expect((await create({ exerciseId })).createWorkoutLog).toEqual(refused);
  const { id } = (await create({ exerciseId: SQUAT })).createWorkoutLog.workoutLog;
  const { updateWorkoutLog } = await ann.ask(
    `mutation ($id: ID!, $input: WorkoutLogPatch!) {
      updateWorkoutLog(id: $id, input: $input) { workoutLog { id } errors { path code message } } }`,
    { id, input: { exerciseId } },
  );

  expect(updateWorkoutLog).toEqual(refused);
});

test('a changed exercise gets an accepted translation before one in the same language', async () => {
  const OTHER = KNIEBEUGE + 10;

  await insertTranslation(fitgraph, OTHER, BENCH);
  await fitgraph.sql(`UPDATE "exercise" SET "status" = '3' WHERE "id" = $1`, [OTHER]);
  const { createWorkoutLog } = await create({ exerciseId: SQUAT, translationId: KNIEBEUGE });
  const { updateWorkoutLog } = await update(createWorkoutLog.workoutLog.id, { exerciseId: BENCH });

  expect(updateWorkoutLog.workoutLog).toEqual(ids(BENCH, BENCH));
  await fitgraph.sql('DELETE FROM "exercise" WHERE "id" = $1', [OTHER]);
});

test('an update of one of the two references changes the other one', async () => {
  await insertTranslation(fitgraph, KNIEBEUGE + 1, BENCH);
  const { createWorkoutLog } = await create({ exerciseId: SQUAT, translationId: KNIEBEUGE });
  const { id } = createWorkoutLog.workoutLog;
  const changed = async (input: object) => (await update(id, input)).updateWorkoutLog;

  // The new translation is in the language of the former one.
  expect((await changed({ exerciseId: BENCH })).workoutLog).toEqual(ids(BENCH, KNIEBEUGE + 1));
  expect((await changed({ translationId: SQUAT })).workoutLog).toEqual(ids(SQUAT, SQUAT));
  expect((await changed({ reps: 6 })).workoutLog).toEqual(ids(SQUAT, SQUAT));
  expect((await changed({ exerciseId: SQUAT })).workoutLog).toEqual(ids(SQUAT, SQUAT));
  expect((await changed({ exerciseId: BENCH, translationId: SQUAT })).errors).toHaveLength(1);
});

test('REST shows and changes the translation', async () => {
  const [id] = await train(ann, [{ reps: 5, weight: '60', exercise: KNIEBEUGE }]);
  const document = '{ workoutLog(id: $id) { exerciseId translationId } }'.replace(
    '$id',
    String(id),
  );

  expect((await ann.get(`/workoutlog/${id}/`)).body.exercise).toBe(KNIEBEUGE);
  expect((await ann.ask(document)).workoutLog).toEqual(ids(SQUAT, KNIEBEUGE));
  await ann.patch(`/workoutlog/${id}/`, { exercise: BENCH });
  expect((await ann.ask(document)).workoutLog).toEqual(ids(BENCH, BENCH));
});

test('the name in a language is that of the oldest accepted translation into it', async () => {
  const [OLDER, NEWER] = [KNIEBEUGE + 20, KNIEBEUGE + 21];

  await insertTranslation(fitgraph, OLDER, 3);
  await insertTranslation(fitgraph, NEWER, 3);
  await fitgraph.sql(`UPDATE "exercise" SET "name" = 'A newer name' WHERE "id" = $1`, [NEWER]);
  expect((await ann.ask('{ exercise(id: 3) { name(language: "de") } }')).exercise).toEqual({
    name: 'Kniebeuge',
  });
  await fitgraph.sql('DELETE FROM "exercise" WHERE "id" = ANY($1)', [[OLDER, NEWER]]);
});

test('logs, groups and records of an exercise count all of its translations', async () => {
  const bob = await fitgraph.user('bob');

  await train(bob, [
    { date: '2021-03-08', reps: 1, weight: '60.00' },
    { date: '2021-03-09', reps: 1, weight: '70.00', exercise: KNIEBEUGE },
  ]);
  const { exercise } = await bob.ask(`{ exercise(id: ${SQUAT}) {
    name german: name(language: "de") unknown: name(language: "xx")
    logs { totalCount } logsGrouped { max { weightKg } }
    personalRecords(last: 1, kinds: [WEIGHT]) { value exercise { name } } } }`);

  expect(exercise).toEqual({
    name: 'Squat',
    german: 'Kniebeuge',
    unknown: 'Squat',
    logs: { totalCount: 2 },
    logsGrouped: [{ max: { weightKg: '70.000' } }],
    personalRecords: [{ value: '70.00', exercise: { name: 'Squat' } }],
  });
});

test('concurrent writes and a translation that moves keep both references consistent', async () => {
  const logs = await train(
    ann,
    Array.from({ length: 10 }, () => ({ reps: 5, weight: '60', exercise: KNIEBEUGE })),
  );

  await Promise.all([
    ...logs.map((id) => update(String(id), { exerciseId: BENCH })),
    ...logs.map((id) => update(String(id), { translationId: KNIEBEUGE })),
    fitgraph.sql(`UPDATE "exercise" SET "exercise_base_id" = 3 WHERE "id" = $1`, [KNIEBEUGE]),
  ]);
  expect(
    await fitgraph.sql(
      `SELECT l."id" FROM "workout_log" l JOIN "exercise" e ON e."id" = l."exercise_id"
        WHERE e."exercise_base_id" <> l."exercise_base_id"`,
    ),
  ).toEqual([]);
  const { workoutLogs } = await ann.ask(
    `{ workoutLogs(where: { translationId: { eq: ${KNIEBEUGE} } }) { nodes { exerciseId } } }`,
  );

  for (const { exerciseId } of workoutLogs.nodes) expect(exerciseId).toBe('3');
});
