/** Many rows are made, changed and deleted in one mutation: all of them or none. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { asSuperuser } from '../setup/databases';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { nodeIdOf } from '../../src/core/model/node';
import type { GraphQLAnswer, Person } from '../setup/person';
import { lockIsAwaited } from '../setup/waits';

const fitgraph = fitgraphForThisFile();
let ann: Person;
beforeEach(async () => {
  ann = await fitgraph.user('ann');
  await fitgraph.sql('DELETE FROM "weight_entry"');
});

const SHOWN = 'weightEntries { id date weight } errors { path code message }';
const create = (inputs: unknown) =>
  ann.query(`mutation ($inputs: [WeightEntryInput!]!) { answer: createWeightEntries(inputs: $inputs) { ${SHOWN} } }`, { inputs });
const update = (changes: unknown) =>
  ann.query(`mutation ($changes: [WeightEntryChange!]!) { answer: updateWeightEntries(changes: $changes) { ${SHOWN} } }`, { changes });
const remove = (ids: unknown[]) =>
  ann.query(
    'mutation ($rows: [RowVersion!]!) { answer: deleteWeightEntries(rows: $rows) { deletedIds deletedNodeIds errors { path code message } } }',
    {
      rows: ids.map((id) => ({ id })),
    },
  );

const entry = (day: number, weight = '80.00') => ({ date: `2021-03-${String(day).padStart(2, '0')}`, weight });
const stored = () => fitgraph.sql('SELECT "date", "weight" FROM "weight_entry" ORDER BY "id"');
const idsOf = ({ data }: GraphQLAnswer): string[] => data.answer.weightEntries.map(({ id }: { id: string }) => id);
const extensions = ({ errors }: GraphQLAnswer) => errors![0]!.extensions;

const DOUBLE = { code: 'NOT_UNIQUE', message: 'The field date must be unique.' };

describe('creating', () => {
  test('answers the rows in the order of the inputs', async () => {
    const inputs = [7, 3, 9, 1, 5].map((day) => entry(day, `${70 + day}.00`));
    const { data } = await create(inputs);
    expect(data.answer.errors).toEqual([]);
    expect(data.answer.weightEntries).toMatchObject(inputs);
    expect(await stored()).toEqual(inputs);
  });

  test('of nothing does nothing', async () => {
    expect((await create([])).data.answer).toEqual({ weightEntries: [], errors: [] });
  });

  test('tells all mistakes, each with the place of its row, and writes nothing', async () => {
    await create([entry(10)]);
    const { data } = await create([entry(1), entry(2, '601'), entry(10), entry(3), entry(1), entry(10, '20')]);
    expect(data.answer).toEqual({
      weightEntries: null,
      errors: [
        { path: ['inputs', '1', 'weight'], code: 'TOO_LARGE', message: 'Ensure this value is less than or equal to 600.' },
        { path: ['inputs', '2'], ...DOUBLE },
        { path: ['inputs', '4'], ...DOUBLE },
        { path: ['inputs', '5', 'weight'], code: 'TOO_SMALL', message: 'Ensure this value is greater than or equal to 30.' },
        { path: ['inputs', '5'], ...DOUBLE },
      ],
    });
    expect(await stored()).toEqual([entry(10)]);
  });

  test('shows the stored rows that are in the way, and none of the same write', async () => {
    const [id] = idsOf(await create([entry(10)]));
    const document = `mutation ($inputs: [WeightEntryInput!]!) { answer: createWeightEntries(inputs: $inputs) { errors { path code } conflicts { id weight } } }`;
    const { answer } = await ann.ask(document, { inputs: [entry(1), entry(10, '81.00'), entry(1)] });
    expect(answer).toEqual({
      errors: ['1', '2'].map((index) => ({ path: ['inputs', index], code: 'NOT_UNIQUE' })),
      conflicts: [{ id, weight: '80.00' }],
    });
  });

  test('stops at 500 rows, and so do changes and deletions', async () => {
    const days = Array.from({ length: 501 }, (_, index) => new Date(Date.UTC(2000, 0, 1 + index)).toISOString().slice(0, 10));
    const inputs = days.map((date) => ({ date, weight: '80' }));
    const limit = (argument: string) => ({
      code: 'BAD_USER_INPUT',
      fields: { [argument]: ['A mutation writes 500 rows at most; these are 501.'] },
    });
    expect(extensions(await create(inputs))).toEqual(limit('inputs'));
    expect(extensions(await update(days.map((_, id) => ({ id, input: {} }))))).toEqual(limit('changes'));
    expect(extensions(await remove(days.map((_, id) => id)))).toEqual(limit('rows'));
    expect(idsOf(await create(inputs.slice(1)))).toHaveLength(500);
  });
});

describe('changing', () => {
  test('gives each row what is given for it, null too, and leaves it the rest', async () => {
    const workoutId = (await ann.post('/workout/', {})).body.id;
    const log = { exerciseId: 1, workoutId, date: '2021-03-10' };
    const made = await ann.ask(
      'mutation ($inputs: [WorkoutLogInput!]!) { answer: createWorkoutLogs(inputs: $inputs) { workoutLogs { id } } }',
      {
        inputs: [1, 2, 3, 4].map((reps) => ({ ...log, reps, weight: '10', rir: 'RIR_2' })),
      },
    );
    const ids = made.answer.workoutLogs.map(({ id }: { id: string }) => id);
    const changes = [
      { id: ids[3], input: { rir: null } },
      { id: ids[0], input: { reps: 11, weight: '12.5' } },
      { id: ids[2], input: {} },
      { id: ids[1], input: { rir: 'RIR_0_5', date: '2021-03-11' } },
    ];
    const { answer } = await ann.ask(
      `mutation ($changes: [WorkoutLogChange!]!) { answer: updateWorkoutLogs(changes: $changes) { workoutLogs { reps weight rir date } errors { path } } }`,
      { changes },
    );
    expect(answer).toEqual({
      workoutLogs: [
        { reps: 4, weight: '10.00', rir: null, date: '2021-03-10' },
        { reps: 11, weight: '12.50', rir: 'RIR_2', date: '2021-03-10' },
        { reps: 3, weight: '10.00', rir: 'RIR_2', date: '2021-03-10' },
        { reps: 2, weight: '10.00', rir: 'RIR_0_5', date: '2021-03-11' },
      ],
      errors: [],
    });
  });

  test('tells all mistakes and changes nothing', async () => {
    const [a, b, c] = idsOf(await create([entry(1), entry(2), entry(3)]));
    const { data } = await update([
      { id: a, input: { weight: '700' } },
      { id: b, input: { date: '2021-03-03', weight: '81' } },
      { id: c, input: { weight: null } },
    ]);
    expect(data.answer).toEqual({
      weightEntries: null,
      errors: [
        { path: ['changes', '0', 'input', 'weight'], code: 'TOO_LARGE', message: 'Ensure this value is less than or equal to 600.' },
        { path: ['changes', '1', 'input'], ...DOUBLE },
        { path: ['changes', '2', 'input', 'weight'], code: 'NULL', message: 'This field may not be null.' },
      ],
    });
    expect(await stored()).toEqual([entry(1), entry(2), entry(3)]);
  });

  test('rows may trade what must be unique', async () => {
    const ids = idsOf(await create([entry(1, '71.00'), entry(2, '72.00'), entry(3, '73.00')]));
    const dates = ['2021-03-02', '2021-03-03', '2021-03-01'];
    const traded = await update(ids.map((id, index) => ({ id, input: { date: dates[index] } })));
    expect(traded.data.answer.weightEntries).toMatchObject(dates.map((date) => ({ date })));
    const onto = await update([
      { id: ids[0], input: { date: '2021-03-20' } },
      { id: ids[1], input: { date: '2021-03-20' } },
    ]);
    expect(onto.data.answer.errors).toEqual([{ path: ['changes', '1', 'input'], ...DOUBLE }]);
  });

  test.each([
    ['named twice', (id: string) => id, 'INVALID', /^The id \d+ is there more than once\.$/],
    ['unknown', () => '2000000000', 'NOT_FOUND', /^There is no WeightEntry with the id "2000000000"\.$/],
    ['no id at all', () => 'x', 'NOT_FOUND', /^There is no WeightEntry with the id "x"\.$/],
  ])('a row that is %s is named, and nothing is changed or deleted', async (_what, last, code, message) => {
    const [a, b] = idsOf(await create([entry(1), entry(2)])) as [string, string];
    const ids = [a, b, last(a)];
    const at = (argument: string) => [{ path: [argument, '2', 'id'], code, message: expect.stringMatching(message) }];
    const { data } = await update(ids.map((id) => ({ id, input: { weight: '99' } })));
    expect(data.answer.errors).toEqual(at('changes'));
    expect((await remove(ids)).data.answer.errors).toEqual(at('rows'));
    expect(await stored()).toEqual([entry(1), entry(2)]);
  });
});

test('deleting answers the ids in their order', async () => {
  const ids = idsOf(await create([entry(1), entry(2), entry(3)]));
  const nodeIds = ids.map((id) => nodeIdOf('WeightEntry', id));
  const both = await remove([ids[2], nodeIds[0]]);
  expect(both.data.answer).toEqual({ deletedIds: [ids[2], ids[0]], deletedNodeIds: [nodeIds[2], nodeIds[0]], errors: [] });
  expect(await stored()).toEqual([entry(2)]);
  expect((await remove([])).data.answer).toEqual({ deletedIds: [], deletedNodeIds: [], errors: [] });
});

describe('at the same time', () => {
  const CODES = [undefined, 'CONFLICT'];

  test('changes of the same rows in another order wait for each other', async () => {
    const ids = idsOf(await create(Array.from({ length: 28 }, (_, index) => entry(index + 1))));
    for (let round = 0; round < 5; round += 1) {
      const weights = [61, 62, 63, 64];
      const answers = await Promise.all(
        weights.map((weight, index) => {
          const changes = ids.map((id) => ({ id, input: { weight: `${weight}.00` } }));
          return update(index % 2 ? changes.reverse() : changes);
        }),
      );
      for (const { errors } of answers) expect(errors).toBeUndefined();
      // One of them was the last, for all rows.
      expect(new Set((await stored()).map(({ weight }) => weight)).size).toBe(1);
    }
  });

  test('of the same days made twice in another order, one write wins and the other one names its rows', async () => {
    const inputs = Array.from({ length: 400 }, (_, index) => ({
      date: new Date(Date.UTC(2020, 0, 1 + index)).toISOString().slice(0, 10),
      weight: '80.00',
    }));
    for (let round = 0; round < 4; round += 1) {
      await fitgraph.sql('DELETE FROM "weight_entry"');
      const answers = await Promise.all([create(inputs), create([...inputs].reverse()), create(inputs)]);
      for (const { code } of answers) expect(CODES).toContain(code);
      const made = answers.filter(({ data }) => data?.answer.weightEntries);
      expect(made).toHaveLength(1);
      for (const { data } of answers.filter((answer) => answer.data && !made.includes(answer)))
        expect(data.answer.errors).toHaveLength(inputs.length);
      expect(await stored()).toHaveLength(inputs.length);
    }
  });

  test('changes and deletions never end in an unexpected error', async () => {
    const ids = idsOf(await create(Array.from({ length: 28 }, (_, index) => entry(index + 1))));
    const back = [...ids].reverse();
    const answers = await Promise.all([
      update(ids.map((id) => ({ id, input: { weight: '65' } }))),
      remove(back),
      update(
        back.map((id) => ({ id, input: { date: '2022-01-01'.replace('01-01', `01-${String(ids.indexOf(id) + 1).padStart(2, '0')}`) } })),
      ),
      sleep(5).then(() => remove(ids)),
    ]);
    for (const { code } of answers) expect(CODES).toContain(code);
  });

  test('a write that others get in the way of again and again is a conflict, over both interfaces', async () => {
    const ids = idsOf(await create([entry(1), entry(2)]));
    await fitgraph.sql(
      `CREATE FUNCTION busy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`,
    );
    await fitgraph.sql('CREATE TRIGGER busy BEFORE UPDATE OR DELETE ON "weight_entry" FOR EACH ROW EXECUTE FUNCTION busy()');
    try {
      expect((await update(ids.map((id) => ({ id, input: { weight: '67' } })))).code).toBe('CONFLICT');
      expect((await remove(ids)).code).toBe('CONFLICT');
      expect((await ann.patch(`/weightentry/${ids[0]}/`, { weight: '67' })).status).toBe(409);
    } finally {
      await fitgraph.sql('DROP FUNCTION busy CASCADE');
    }
    expect(await stored()).toEqual([entry(1), entry(2)]);
  });

  test('rows are locked in the order of their ids, wherever they lie', async () => {
    const [low, high] = idsOf(await create([entry(1), entry(2)])) as [string, string];
    // Its new version lies behind the other row.
    await fitgraph.sql('UPDATE "weight_entry" SET "weight" = 70 WHERE "id" = $1', [low]);
    const client = await fitgraph.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('UPDATE "weight_entry" SET "weight" = 66 WHERE "id" = $1', [low]);
      const changed = update([high, low].map((id) => ({ id, input: { weight: '67' } })));
      await lockIsAwaited(fitgraph);
      // Who waits for the first row does not hold the second one yet.
      await client.query('SELECT FROM "weight_entry" WHERE "id" = $1 FOR UPDATE NOWAIT', [high]);
      await client.query('COMMIT');
      expect((await changed).data.answer.errors).toEqual([]);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  test('a deadlock that could not be foreseen is tried again', async () => {
    const [low, high] = idsOf(await create([entry(1), entry(2)])) as [string, string];
    // Whose statement PostgreSQL ends is decided by a parameter that only a superuser sets.
    const { host, port, database } = fitgraph.database.pool.options;
    const client = new Client(asSuperuser({ host, port, database }));
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query('SET LOCAL deadlock_timeout = 60000');
      // Somebody else locks the rows in the order of their own.
      await client.query('UPDATE "weight_entry" SET "weight" = 66 WHERE "id" = $1', [high]);
      const changed = update([low, high].map((id) => ({ id, input: { weight: '67' } })));
      await lockIsAwaited(fitgraph);
      const theirs = client.query('UPDATE "weight_entry" SET "weight" = 66 WHERE "id" = $1', [low]);
      await theirs;
      await client.query('COMMIT');
      expect((await changed).data.answer.errors).toEqual([]);
      expect((await stored()).map(({ weight }) => weight)).toEqual(['67.00', '67.00']);
    } finally {
      await client.end();
    }
  });
});
