/**
 * `fitgraph explain` finds the file of a generated name, and prints the files and the SQL that
 * answer a sample request.
 */
import { createDatabase, open, SECRET_KEY } from '../../setup/databases';
import { build, Installation } from '../../setup/server-process';

let testDatabase: Awaited<ReturnType<typeof createDatabase>>;
let installation: Installation;

beforeAll(async () => {
  build();
  testDatabase = await createDatabase('catalogue');
  installation = new Installation({ DATABASE_URL: testDatabase.url, SECRET_KEY });
});
afterAll(async () => {
  await installation.remove();
  await testDatabase.drop();
});

async function explain(name: string): Promise<string> {
  const { status, stdout, stderr } = await installation.command('explain', name);

  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

test.each(['Query.weightEntries', '/api/v2/weightentry/', 'weightentry'])(
  'explains the generated query behind %s',
  async (name) => {
    const output = await explain(name);

    expect(output).toMatch(
      /^Query\.weightEntries\ndeclared in src\/fitness\/body\/weight-entry\.ts\nanswered by src\/(?:engine|rest)\//,
    );
    expect(output).toMatch(
      /src\/engine\/schema\/crud\.ts\n +src\/engine\/read\/connection\.ts\n +src\/engine\/access\/access\.ts\n/,
    );
    expect(output.includes('src/rest/')).toBe(name !== 'Query.weightEntries');
    expect(output).toContain(
      '\nSQL of Query { weightEntries { nodes { id } } }:\n\n' +
        'SELECT t."id" AS "id" FROM "weight_entry" t WHERE t."user_id" = $1 ORDER BY t."date" ASC, t."id" ASC LIMIT $2\n',
    );
  },
);

test.each([
  [
    'WeightEntry',
    'src/fitness/body/weight-entry.ts',
    'src/engine/read/connection.ts',
    'SELECT t."id" AS "id" FROM "weight_entry"',
  ],
  [
    'WeightEntry.weight',
    'src/fitness/body/weight-entry.ts',
    'src/engine/read/connection.ts',
    't."weight" AS "weight" FROM "weight_entry"',
  ],
  [
    'Query.workout',
    'src/fitness/training/workout/index.ts',
    'src/engine/read/rows.ts',
    'FROM "workout" t WHERE t."id" = $1',
  ],
  [
    'Workout.days',
    'src/fitness/training/workout/index.ts',
    'src/engine/read/loaders.ts',
    'FROM "training_day" t WHERE t."workout_id" = ANY($1)',
  ],
  [
    'WorkoutLog.exercise',
    'src/fitness/training/workout-log.ts',
    'src/engine/schema/crud.ts',
    'FROM "exercise_base" t WHERE t."id" = ANY($1)',
  ],
  [
    'Query.workoutLogsGrouped',
    'src/fitness/training/workout-log.ts',
    'src/engine/grouping/group-query.ts',
    'count(*) AS "count"',
  ],
  [
    'Query.bodyWeightTrend',
    'src/fitness/body/body-weight.ts',
    'src/fitness/queries.ts',
    'FROM "weight_entry" t WHERE t."user_id" =',
  ],
  ['exercise/search', 'src/fitness/catalogue/search/index.ts', 'src/rest/router.ts', 'none'],
])('explains %s', async (name, declaringFile, answeringFile, sql) => {
  const output = await explain(name);

  expect(output).toContain(`declared in ${declaringFile}\n`);
  expect(output).toContain(` ${answeringFile}\n`);
  expect(output.slice(output.indexOf('SQL of'))).toContain(sql);
});

test('explains a mutation and writes nothing', async () => {
  const output = await explain('Mutation.createWorkout');

  expect(output).toContain('declared in src/fitness/training/workout/index.ts\n');
  expect(output).toContain(' src/engine/write/write.ts\n');
  expect(output).toContain('INSERT INTO "workout"');
  const database = open(testDatabase.connection);

  expect(await database.queryAsServer('SELECT FROM "workout"')).toEqual([]);
  await database.close();
});

test('explains a type that the engine generates for a resource', async () => {
  expect(await explain('WeightEntryConnection.nodes')).toBe(
    'WeightEntryConnection.nodes\ndeclared in src/fitness/body/weight-entry.ts\n',
  );
});

test('rejects an unknown name and suggests similar ones', async () => {
  expect(await installation.command('explain', 'Query.weightEntrys')).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'fitgraph: The schema has no object type, field or REST endpoint Query.weightEntrys. Similar: Query.weightEntry, Query.weightEntries, Query.weightUnits.\n',
  });
});
