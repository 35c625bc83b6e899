/** Cost and time limits of analyses. */
import { Fitgraph, fitgraphForThisFile } from '../setup/fitgraph';
import { messagesByPath } from '../setup/input-errors';

/** A query of each analysis. */
const QUESTIONS = [
  'bestOneRepMaxes { oneRepMax }',
  'personalRecords { value }',
  'trainingVolume { sets }',
  'muscleVolume { hardSets }',
  'trainingLoad { load }',
  'strength { total }',
  'trainingWeeks { sessions }',
  'workoutLogsGrouped(groupBy: [{ date: { by: WEEK } }]) { count }',
  'scheduleAdherence { start }',
  'plannedExercises { plannedSets }',
  'bodyWeightTrend { trend }',
  'nutritionIntake { days }',
  'nutritionIntake(perMeal: true) { days }',
  'topFoods { grams }',
];

/** The tables that these queries read. */
const TABLES_READ = ['workout_log', 'schedule', 'weight_entry', 'diary_entry', 'meal'];

const fitgraph = fitgraphForThisFile();

test('returns TIMEOUT with advice at the path of each analysis that takes too long', async () => {
  const impatient = await Fitgraph.start({ environment: { STATEMENT_TIMEOUT: '150ms' } });

  try {
    const carl = await impatient.user('carl');
    const blocker = await impatient.database.pool.connect();

    await blocker.query('SET statement_timeout = 0');
    await blocker.query('BEGIN');
    await blocker.query(
      `LOCK TABLE ${TABLES_READ.map((table) => `"${table}"`).join(', ')} IN ACCESS EXCLUSIVE MODE`,
    );
    const errorsOfQuestions = [];

    for (const question of QUESTIONS) {
      const { code, errors } = await carl.query(`{ asked: ${question} }`);

      errorsOfQuestions.push([question, code, errors![0]!.path, errors![0]!.message]);
    }

    blocker.release(true);
    const message = expect.stringContaining(
      'The request took too long. Request less at a time, or use simpler conditions.',
    );

    expect(errorsOfQuestions).toEqual(
      QUESTIONS.map((question) => [question, 'TIMEOUT', ['asked'], message]),
    );
  } finally {
    await impatient.stop();
  }
});

test('rejects excessive costs before execution', async () => {
  const ann = await fitgraph.user('ann');
  const many = Array.from(
    { length: 40 },
    (_, index) =>
      `a${index}: personalRecords(last: 10000) { value exercise { category { name } } log { reps } }`,
  );
  const { code, statements } = await ann.query(`{ ${many.join(' ')} }`);

  // The only statement authenticates the user.
  expect([code, statements]).toEqual(['COST_LIMIT', 1]);
});

test('rejects perMeal when a plan has more than 100 meals with a time', async () => {
  const bob = await fitgraph.user('bob');
  const { body } = await bob.post('/nutritionplan/', {});
  const meals = (count: number) =>
    fitgraph.sql(
      `INSERT INTO "meal" ("user_id", "plan_id", "time", "order")
        SELECT p."user_id", p."id", time '06:00' + n * interval '1 minute', 1 FROM "nutrition_plan" p, generate_series(1, $2::int) n WHERE p."id" = $1`,
      [body.id, count],
    );
  const queryIntake = (args: string) => bob.query(`{ nutritionIntake(${args}) { days } }`);

  await meals(100);
  expect((await queryIntake('perMeal: true')).data).toEqual({ nutritionIntake: [] });
  await meals(1);
  const { code, errors } = await queryIntake('perMeal: true');

  expect([code, messagesByPath(errors![0]!)]).toEqual([
    'BAD_USER_INPUT',
    {
      perMeal: [
        'A plan can have at most 100 meals with a time for this, but one of yours has 101. Omit this argument.',
      ],
    },
  ]);
  expect((await queryIntake('perMeal: false')).data).toEqual({ nutritionIntake: [] });
});
