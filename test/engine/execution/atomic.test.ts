/** `@atomic`: the fields of a mutation are one transaction. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let bob: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  bob = await fitgraph.user('bob');
});

const workouts = async (person = ann) =>
  (
    (await person.ask('{ workouts(orderBy: [{ id: ASC }]) { nodes { name } } }')).workouts
      .nodes as { name: string }[]
  ).map(({ name }) => name);
const weights = async () =>
  (await ann.ask('{ weightEntries { totalCount } }')).weightEntries.totalCount as number;
const createField = (name: string) =>
  `createWorkout(input: { name: "${name}", days: [{ name: "a", weekdays: [MONDAY] }] })`;
const weightField = (weight: string) =>
  `createWeightEntry(input: { date: "2021-06-01", weight: "${weight}", unit: KG })`;
const ROLLED_BACK = {
  message: 'Nothing was written, because another field of the same @atomic operation failed.',
  extensions: { code: 'ROLLED_BACK' },
};

beforeEach(async () => {
  await fitgraph.sql('DELETE FROM "workout"');
  await fitgraph.sql('DELETE FROM "weight_entry"');
});

test('writes all fields, shows earlier writes to later fields and returns ordinary payloads', async () => {
  const { data, errors } = await ann.query(`mutation @atomic {
    one: ${createField('one')} { workout { name days { name weekdays } } errors { message } }
    two: ${createField('two')} { workout { name } }
    plan: createNutritionPlan(input: { name: "one", meals: [{ items: [{ ingredientId: 1, amount: "100" }] }] }) { nutritionPlan { nutritionalValues { total { energy } } } }
    weight: ${weightField('80')} { weightEntry { weight } errors { message } } }`);

  expect(errors).toBeUndefined();
  expect(data).toEqual({
    one: {
      workout: {
        name: 'one',
        days: [{ name: 'a', weekdays: ['MONDAY'] }],
      },
      errors: [],
    },
    two: { workout: { name: 'two' } },
    plan: { nutritionPlan: { nutritionalValues: { total: { energy: '372.00' } } } },
    weight: { weightEntry: { weight: '80.00' }, errors: [] },
  });
  expect([await workouts(), await weights()]).toEqual([['one', 'two'], 1]);
});

test.each([
  [
    'the validation of a value',
    `createWorkout(input: { name: "${'x'.repeat(101)}" })`,
    ['input', 'name'],
  ],
  ['an update of a missing row', 'updateWorkout(id: 999999, input: { name: "x" })', ['id']],
  ['a delete of a missing row', 'deleteWorkout(id: 999999)', ['id']],
])(
  'writes nothing and reports the reason in the payload when %s fails',
  async (_what, wrong, path) => {
    const { data, errors } = await ann.query(`mutation @atomic {
    before: ${createField('before')} { workout { id } } wrong: ${wrong} { errors { path } } after: ${createField('after')} { workout { id } } }`);

    expect(data).toEqual({ before: null, wrong: { errors: [{ path }] }, after: null });
    expect(
      errors!
        .map(({ path: at, message, extensions }) => ({ at, message, extensions }))
        .sort((a, b) => String(a.at).localeCompare(String(b.at))),
    ).toEqual([
      { at: ['after'], ...ROLLED_BACK },
      { at: ['before'], ...ROLLED_BACK },
    ]);
    expect(await workouts()).toEqual([]);
  },
);

test('rolls back on a conflict and returns the conflicting row', async () => {
  await ann.ask(`mutation { ${weightField('80')} { weightEntry { id } } }`);
  const { data } = await ann.query(`mutation @atomic {
    workout: ${createField('w')} { workout { id } } weight: ${weightField('81')} { errors { code conflict { ... on WeightEntry { weight } } } } }`);

  expect(data).toEqual({
    workout: null,
    weight: { errors: [{ code: 'NOT_UNIQUE', conflict: { weight: '80.00' } }] },
  });
  expect([await workouts(), await weights()]).toEqual([[], 1]);
});

test('rolls back when the payload of a field cannot be read', async () => {
  const { data, errors } = await ann.query(`mutation @atomic {
    one: ${createField('one')} { workout { logs(first: -1) { totalCount } } } two: ${createField('two')} { workout { id } } }`);

  expect([data!.one, data!.two]).toEqual([null, null]);
  expect(errors!.length).toBeGreaterThan(1);
  expect(await workouts()).toEqual([]);
});

test('rejects account mutations', async () => {
  const { data, errors } = await ann.query(
    `mutation @atomic { ${createField('x')} { workout { id } } endSessions { count } }`,
  );

  expect(data).toEqual({ createWorkout: null, endSessions: null });
  expect(errors!.map(({ message, extensions }) => [message, extensions?.code])).toContainEqual([
    'endSessions cannot be part of an @atomic operation.',
    'BAD_REQUEST',
  ]);
  expect(await workouts()).toEqual([]);
});

test('commits each field separately without @atomic', async () => {
  const { data } = await ann.query(
    `mutation { one: ${createField('one')} { workout { name } } wrong: deleteWorkout(id: 999999) { errors { path } } }`,
  );

  expect(data!.one).toEqual({ workout: { name: 'one' } });
  expect(await workouts()).toEqual(['one']);
});

test('rolls back and leaves the row unchanged when a field refers to a row of another user', async () => {
  await bob.ask(`mutation { ${createField('of bob')} { workout { id } } }`);
  const [{ id }] = (await fitgraph.sql('SELECT "id" FROM "workout"')) as [{ id: number }];
  const { data } = await ann.query(
    `mutation @atomic { a: ${createField('a')} { workout { id } } b: updateWorkout(id: ${id}, input: { name: "taken" }) { errors { code } } }`,
  );

  expect(data).toEqual({ a: null, b: { errors: [{ code: 'NOT_FOUND' }] } });
  expect([await workouts(), await workouts(bob)]).toEqual([[], ['of bob']]);
});

test('commits exactly one of twenty concurrent conflicting operations', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      ann.query(
        `mutation @atomic { w: ${createField(`w${index}`)} { workout { name } } e: ${weightField(String(60 + index))} { weightEntry { weight } errors { code } } }`,
      ),
    ),
  );
  const winners = answers.filter(({ data }) => data?.w);

  expect(winners).toHaveLength(1);
  expect(await workouts()).toEqual([winners[0]!.data!.w.workout.name]);
  expect(await weights()).toBe(1);
});

test('needs a constant number of statements whatever the rows of a field', async () => {
  const counts: number[] = [];

  for (const rows of [2, 40]) {
    await fitgraph.sql('DELETE FROM "weight_entry"');
    const inputs = Array.from({ length: rows }, (_, day) => ({
      date: `2021-0${1 + Math.floor(day / 20)}-${String((day % 20) + 1).padStart(2, '0')}`,
      weight: '80',
    }));
    const text =
      'mutation ($inputs: [WeightEntryInput!]!) @atomic { createWeightEntries(inputs: $inputs) { weightEntries { id date } errors { message } } }';
    const { statements, errors } = await ann.query(text, { inputs });

    expect(errors).toBeUndefined();
    counts.push(statements);
  }

  expect(counts[1]).toBe(counts[0]);
});

test('publishes its changes only when the operation commits', async () => {
  const changesSince = async (cursor: string | null) =>
    (
      await ann.ask(
        'query ($since: String) { changes(since: $since) { cursor changes { type operation } } }',
        { since: cursor },
      )
    ).changes;
  const { cursor } = await changesSince(null);

  await ann.query(
    `mutation @atomic { w: ${weightField('80')} { weightEntry { id } } d: deleteWorkout(id: 999999) { errors { path } } }`,
  );
  expect((await changesSince(cursor)).changes).toEqual([]);
  await ann.query(
    `mutation @atomic { w: ${weightField('80')} { weightEntry { id } } x: ${createField('x')} { workout { id } } }`,
  );
  const changedTypes: string[] = (await changesSince(cursor)).changes.map(
    ({ type }: { type: string }) => type,
  );

  expect([...new Set(changedTypes)]).toEqual(['WEIGHT_ENTRY', 'WORKOUT', 'TRAINING_DAY']);
});

test('commits operations that update rows in opposite orders entirely or not at all', async () => {
  for (const name of ['a', 'b']) {
    await ann.ask(`mutation { ${createField(name)} { workout { id } } }`);
  }

  const ids = (await fitgraph.sql('SELECT "id" FROM "workout" ORDER BY "id"')).map(
    ({ id }) => id as number,
  );
  const rename = (name: string, order: number[]) =>
    ann.query(
      `mutation @atomic { ${order
        .map(
          (id) =>
            `w${id}: updateWorkout(id: ${id}, input: { name: "${name}" }) { workout { name } errors { code } }`,
        )
        .join(' ')} }`,
    );

  for (let round = 0; round < 6; round += 1) {
    const answers = await Promise.all([
      rename(`x${round}`, ids),
      rename(`y${round}`, [...ids].reverse()),
    ]);
    const committed = answers.filter(({ errors }) => !errors);

    for (const { errors = [] } of answers) {
      expect(['CONFLICT', 'ROLLED_BACK']).toEqual(
        expect.arrayContaining(errors.map(({ extensions }) => extensions!.code)),
      );
    }

    expect(committed.length).toBeGreaterThan(0);
    const [one, other] = await workouts();

    expect(one).toBe(other);
    expect(committed.map(({ data }) => data![`w${ids[0]}`].workout.name)).toContain(one);
  }
});

test('needs a constant number of statements for each of a hundred fields', async () => {
  const operation = (count: number) =>
    `mutation @atomic { ${Array.from({ length: count }, (_, day) => `e${day}: createWeightEntry(input: { date: "2021-${String(1 + Math.floor(day / 25)).padStart(2, '0')}-${String((day % 25) + 1).padStart(2, '0')}", weight: "80", unit: KG }) { errors { code } }`).join(' ')} }`;
  const counts: number[] = [];

  for (const count of [1, 2, 100]) {
    await fitgraph.sql('DELETE FROM "weight_entry"');
    const { errors, statements } = await ann.query(operation(count));

    expect(errors).toBeUndefined();
    expect(await weights()).toBe(count);
    counts.push(statements);
  }

  const [one, two, hundred] = counts as [number, number, number];

  expect(hundred - one).toBe(99 * (two - one));
});
