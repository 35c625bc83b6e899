/** Bulk mutations create, update and delete many rows: all of them or none. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { asSuperuser } from '../../setup/databases';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { nodeIdOf } from '../../../src/engine/declare/node';
import type { GraphQLAnswer, Person } from '../../setup/person';
import { lockIsAwaited } from '../../setup/waits';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeEach(async () => {
  ann = await fitgraph.user('ann');
  await fitgraph.sql('DELETE FROM "weight_entry"');
});

const PAYLOAD = 'weightEntries { id date weight } errors { path code message }';
const create = (inputs: unknown) =>
  ann.query(
    `mutation ($inputs: [WeightEntryInput!]!) { answer: createWeightEntries(inputs: $inputs) { ${PAYLOAD} } }`,
    { inputs },
  );
const update = (changes: unknown) =>
  ann.query(
    `mutation ($changes: [WeightEntryChange!]!) { answer: updateWeightEntries(changes: $changes) { ${PAYLOAD} } }`,
    { changes },
  );
const remove = (ids: unknown[]) =>
  ann.query(
    'mutation ($rows: [RowVersion!]!) { answer: deleteWeightEntries(rows: $rows) { deletedIds deletedNodeIds errors { path code message } } }',
    {
      rows: ids.map((id) => ({ id })),
    },
  );

const entry = (day: number, weight = '80.00') => ({
  date: `2021-03-${String(day).padStart(2, '0')}`,
  weight,
});
const storedEntries = () =>
  fitgraph.sql('SELECT "date", "weight" FROM "weight_entry" ORDER BY "id"');
const idsOf = ({ data }: GraphQLAnswer): string[] =>
  data.answer.weightEntries.map(({ id }: { id: string }) => id);
const extensions = ({ errors }: GraphQLAnswer) => errors![0]!.extensions;

const NOT_UNIQUE = { code: 'NOT_UNIQUE', message: 'The field date must be unique.' };

describe('a bulk create', () => {
  test('returns the rows in the order of the inputs', async () => {
    const inputs = [7, 3, 9, 1, 5].map((day) => entry(day, `${70 + day}.00`));
    const { data } = await create(inputs);

    expect(data.answer.errors).toEqual([]);
    expect(data.answer.weightEntries).toMatchObject(inputs);
    expect(await storedEntries()).toEqual(inputs);
  });

  test('accepts an empty list', async () => {
    expect((await create([])).data.answer).toEqual({ weightEntries: [], errors: [] });
  });

  test('reports all errors with the index of their row and writes nothing', async () => {
    await create([entry(10)]);
    const { data } = await create([
      entry(1),
      entry(2, '601'),
      entry(10),
      entry(3),
      entry(1),
      entry(10, '20'),
    ]);

    expect(data.answer).toEqual({
      weightEntries: null,
      errors: [
        {
          path: ['inputs', '1', 'weight'],
          code: 'TOO_LARGE',
          message: 'Ensure this value is less than or equal to 600.',
        },
        { path: ['inputs', '2', 'date'], ...NOT_UNIQUE },
        { path: ['inputs', '4', 'date'], ...NOT_UNIQUE },
        { path: ['inputs', '5', 'date'], ...NOT_UNIQUE },
        {
          path: ['inputs', '5', 'weight'],
          code: 'TOO_SMALL',
          message: 'Ensure this value is greater than or equal to 30.',
        },
      ],
    });
    expect(await storedEntries()).toEqual([entry(10)]);
  });

  test('returns conflicting stored rows, but no rows of the same mutation', async () => {
    const [id] = idsOf(await create([entry(10)]));
    const document = `mutation ($inputs: [WeightEntryInput!]!) { answer: createWeightEntries(inputs: $inputs) { errors { path code conflict { ... on WeightEntry { id weight } } } } }`;
    const { answer } = await ann.ask(document, {
      inputs: [entry(1), entry(10, '81.00'), entry(1)],
    });

    expect(answer).toEqual({
      errors: [
        { index: '1', conflict: { id, weight: '80.00' } },
        { index: '2', conflict: null },
      ].map(({ index, conflict }) => ({
        path: ['inputs', index, 'date'],
        code: 'NOT_UNIQUE',
        conflict,
      })),
    });
  });

  test('rejects more than 500 rows, as bulk updates and deletes do', async () => {
    const days = Array.from({ length: 501 }, (_, index) =>
      new Date(Date.UTC(2000, 0, 1 + index)).toISOString().slice(0, 10),
    );
    const inputs = days.map((date) => ({ date, weight: '80' }));
    const limit = (argument: string) => ({
      code: 'BAD_USER_INPUT',
      inputErrors: [
        { path: [argument], message: 'A mutation can write at most 500 rows; this one has 501.' },
      ],
    });

    expect(extensions(await create(inputs))).toEqual(limit('inputs'));
    expect(extensions(await update(days.map((_, id) => ({ id, input: {} }))))).toEqual(
      limit('changes'),
    );
    expect(extensions(await remove(days.map((_, id) => id)))).toEqual(limit('rows'));
    expect(idsOf(await create(inputs.slice(1)))).toHaveLength(500);
  });
});

describe('a bulk update', () => {
  test('sets the given fields of each row, including null, and keeps the others', async () => {
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

  test('reports all errors and changes nothing', async () => {
    const [a, b, c] = idsOf(await create([entry(1), entry(2), entry(3)]));
    const { data } = await update([
      { id: a, input: { weight: '700' } },
      { id: b, input: { date: '2021-03-03', weight: '81' } },
      { id: c, input: { weight: null } },
    ]);

    expect(data.answer).toEqual({
      weightEntries: null,
      errors: [
        {
          path: ['changes', '0', 'input', 'weight'],
          code: 'TOO_LARGE',
          message: 'Ensure this value is less than or equal to 600.',
        },
        { path: ['changes', '1', 'input', 'date'], ...NOT_UNIQUE },
        {
          path: ['changes', '2', 'input', 'weight'],
          code: 'NULL',
          message: 'This field may not be null.',
        },
      ],
    });
    expect(await storedEntries()).toEqual([entry(1), entry(2), entry(3)]);
  });

  test('allows rows to swap unique values, but rejects duplicates', async () => {
    const ids = idsOf(await create([entry(1, '71.00'), entry(2, '72.00'), entry(3, '73.00')]));
    const dates = ['2021-03-02', '2021-03-03', '2021-03-01'];
    const traded = await update(ids.map((id, index) => ({ id, input: { date: dates[index] } })));

    expect(traded.data.answer.weightEntries).toMatchObject(dates.map((date) => ({ date })));
    const onto = await update([
      { id: ids[0], input: { date: '2021-03-20' } },
      { id: ids[1], input: { date: '2021-03-20' } },
    ]);

    expect(onto.data.answer.errors).toEqual([
      { path: ['changes', '1', 'input', 'date'], ...NOT_UNIQUE },
    ]);
  });

  test.each([
    ['repeated', (id: string) => id, 'INVALID', /^The id \d+ occurs more than once\.$/],
    [
      'unknown',
      () => '2000000000',
      'NOT_FOUND',
      /^There is no WeightEntry with the id "2000000000"\.$/,
    ],
    ['not a number', () => 'x', 'NOT_FOUND', /^There is no WeightEntry with the id "x"\.$/],
  ])(
    'is rejected as a whole when an id is %s, and so is a bulk delete',
    async (_what, last, code, message) => {
      const [a, b] = idsOf(await create([entry(1), entry(2)])) as [string, string];
      const ids = [a, b, last(a)];
      const at = (argument: string) => [
        { path: [argument, '2', 'id'], code, message: expect.stringMatching(message) },
      ];
      const { data } = await update(ids.map((id) => ({ id, input: { weight: '99' } })));

      expect(data.answer.errors).toEqual(at('changes'));
      expect((await remove(ids)).data.answer.errors).toEqual(at('rows'));
      expect(await storedEntries()).toEqual([entry(1), entry(2)]);
    },
  );
});

test('deletes many rows and returns their ids in the given order', async () => {
  const ids = idsOf(await create([entry(1), entry(2), entry(3)]));
  const nodeIds = ids.map((id) => nodeIdOf('WeightEntry', id));
  const both = await remove([ids[2], nodeIds[0]]);

  expect(both.data.answer).toEqual({
    deletedIds: [ids[2], ids[0]],
    deletedNodeIds: [nodeIds[2], nodeIds[0]],
    errors: [],
  });
  expect(await storedEntries()).toEqual([entry(2)]);
  expect((await remove([])).data.answer).toEqual({
    deletedIds: [],
    deletedNodeIds: [],
    errors: [],
  });
});

describe('the deletion of a row with a history', () => {
  const HISTORIES = [
    {
      type: 'Workout',
      make: async () => {
        const id = (await ann.post('/workout/', {})).body.id as number;

        await ann.post('/workoutsession/', { workout: id, date: '2021-03-01' });

        for (const reps of [5, 6]) {
          await ann.post('/workoutlog/', {
            workout: id,
            exercise: 1,
            reps,
            weight: '50',
            date: '2021-03-01',
          });
        }

        return id;
      },
      counts: 'sessions: 1, logs: 2',
      total: 3,
      path: '/workout/',
    },
    {
      type: 'NutritionPlan',
      make: async () => {
        const id = (await ann.post('/nutritionplan/', {})).body.id as number;

        await ann.post('/nutritiondiary/', { plan: id, ingredient: 1, amount: '100' });
        return id;
      },
      counts: 'diaryEntries: 1',
      total: 1,
      path: '/nutritionplan/',
    },
  ];
  const deleteOf = (type: string) =>
    `mutation ($id: ID!, $deleteHistory: Boolean) { answer: delete${type}(id: $id, deleteHistory: $deleteHistory) { deletedIds deletedHistoryCount errors { path code message } } }`;

  test.each(HISTORIES)(
    'of a $type needs `deleteHistory` and counts what went',
    async ({ type, make, counts, total, path }) => {
      const id = await make();
      const refusal = {
        deletedIds: [],
        deletedHistoryCount: 0,
        errors: [
          {
            path: ['id'],
            code: 'HAS_HISTORY',
            message: `Its history would be deleted, too (${counts}). Set \`deleteHistory\` to confirm.`,
          },
        ],
      };

      expect((await ann.ask(deleteOf(type), { id })).answer).toEqual(refusal);
      expect((await ann.ask(deleteOf(type), { id, deleteHistory: false })).answer).toEqual(refusal);
      expect((await ann.get(`${path}${id}/`)).status).toBe(200);
      expect((await ann.ask(deleteOf(type), { id, deleteHistory: true })).answer).toEqual({
        deletedIds: [String(id)],
        deletedHistoryCount: total,
        errors: [],
      });
      expect((await ann.get(`${path}${id}/`)).status).toBe(404);
    },
  );

  test.each(HISTORIES)('of a $type cascades over REST', async ({ make, path }) => {
    const id = await make();

    expect((await ann.delete(`${path}${id}/`)).status).toBe(204);
  });

  test.each(HISTORIES)('of a $type without one needs no confirmation', async ({ type, path }) => {
    const { id } = (await ann.post(path, {})).body;

    expect((await ann.ask(deleteOf(type), { id })).answer).toEqual({
      deletedIds: [String(id)],
      deletedHistoryCount: 0,
      errors: [],
    });
  });

  test('is refused for logs that are written at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = (await ann.post('/workout/', {})).body;
      const [log, { answer }] = await Promise.all([
        ann.post('/workoutlog/', {
          workout: id,
          exercise: 1,
          reps: 5,
          weight: '50',
          date: '2021-03-01',
        }),
        ann.ask(deleteOf('Workout'), { id }),
      ]);

      // Either the log was first, and the workout stays, or the workout no longer existed.
      expect([log.status, answer.deletedIds.length]).toEqual(
        log.status === 201 ? [201, 0] : [403, 1],
      );
    }
  });
});

describe('concurrent bulk mutations', () => {
  const CODES = [undefined, 'CONFLICT'];

  test('serialize updates of the same rows in different orders', async () => {
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
      // All rows have the value of the same update, the last one.
      expect(new Set((await storedEntries()).map(({ weight }) => weight)).size).toBe(1);
    }
  });

  test('let exactly one of several creates for the same days succeed', async () => {
    const inputs = Array.from({ length: 400 }, (_, index) => ({
      date: new Date(Date.UTC(2020, 0, 1 + index)).toISOString().slice(0, 10),
      weight: '80.00',
    }));

    for (let round = 0; round < 4; round += 1) {
      await fitgraph.sql('DELETE FROM "weight_entry"');
      const answers = await Promise.all([
        create(inputs),
        create([...inputs].reverse()),
        create(inputs),
      ]);

      for (const { code } of answers) expect(CODES).toContain(code);
      const made = answers.filter(({ data }) => data?.answer.weightEntries);

      expect(made).toHaveLength(1);

      for (const { data } of answers.filter((answer) => answer.data && !made.includes(answer))) {
        expect(data.answer.errors).toHaveLength(inputs.length);
      }

      expect(await storedEntries()).toHaveLength(inputs.length);
    }
  });

  test('never fail with an unexpected error when updates meet deletes', async () => {
    const ids = idsOf(await create(Array.from({ length: 28 }, (_, index) => entry(index + 1))));
    const back = [...ids].reverse();
    const answers = await Promise.all([
      update(ids.map((id) => ({ id, input: { weight: '65' } }))),
      remove(back),
      update(
        back.map((id) => ({
          id,
          input: {
            date: '2022-01-01'.replace(
              '01-01',
              `01-${String(ids.indexOf(id) + 1).padStart(2, '0')}`,
            ),
          },
        })),
      ),
      sleep(5).then(() => remove(ids)),
    ]);

    for (const { code } of answers) expect(CODES).toContain(code);
  });

  test('return CONFLICT, or 409 over REST, when serialization failures persist', async () => {
    const ids = idsOf(await create([entry(1), entry(2)]));

    await fitgraph.sql(
      `CREATE FUNCTION busy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`,
    );
    await fitgraph.sql(
      'CREATE TRIGGER busy BEFORE UPDATE OR DELETE ON "weight_entry" FOR EACH ROW EXECUTE FUNCTION busy()',
    );

    try {
      expect((await update(ids.map((id) => ({ id, input: { weight: '67' } })))).code).toBe(
        'CONFLICT',
      );
      expect((await remove(ids)).code).toBe('CONFLICT');
      expect((await ann.patch(`/weightentry/${ids[0]}/`, { weight: '67' })).status).toBe(409);
    } finally {
      await fitgraph.sql('DROP FUNCTION busy CASCADE');
    }

    expect(await storedEntries()).toEqual([entry(1), entry(2)]);
  });

  test('lock rows in the order of their ids, whatever their physical order', async () => {
    const [low, high] = idsOf(await create([entry(1), entry(2)])) as [string, string];

    // PostgreSQL stores the updated row behind the other one.
    await fitgraph.sql('UPDATE "weight_entry" SET "weight" = 70 WHERE "id" = $1', [low]);
    const client = await fitgraph.database.pool.connect();

    try {
      await client.query('BEGIN');
      await client.query('UPDATE "weight_entry" SET "weight" = 66 WHERE "id" = $1', [low]);
      const changed = update([high, low].map((id) => ({ id, input: { weight: '67' } })));

      await lockIsAwaited(fitgraph);
      // The waiting update does not hold a lock on the second row yet.
      await client.query('SELECT FROM "weight_entry" WHERE "id" = $1 FOR UPDATE NOWAIT', [high]);
      await client.query('COMMIT');
      expect((await changed).data.answer.errors).toEqual([]);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  test('retry after a deadlock with another client', async () => {
    const [low, high] = idsOf(await create([entry(1), entry(2)])) as [string, string];
    // PostgreSQL aborts the transaction whose `deadlock_timeout` expires first, here that of the
    // server. Only a superuser may set it.
    const { host, port, database } = fitgraph.database.pool.options;
    const client = new Client(asSuperuser({ host, port, database }));

    await client.connect();

    try {
      await client.query('BEGIN; SET LOCAL deadlock_timeout = 60000');
      // Another client locks the rows in the opposite order. PostgreSQL looks for a deadlock only
      // once, one second after a wait has begun, so the second statement is executed as soon as the
      // server waits.
      await client.query('UPDATE "weight_entry" SET "weight" = 66 WHERE "id" = $1', [high]);
      const theirs = client.query(`DO $$ BEGIN
          WHILE NOT EXISTS (SELECT FROM pg_locks l WHERE NOT l.granted AND pg_backend_pid() = ANY (pg_blocking_pids(l.pid))) LOOP PERFORM pg_sleep(0.01); END LOOP;
          UPDATE "weight_entry" SET "weight" = 66 WHERE "id" = ${low};
        END $$; COMMIT`);
      const changed = update([low, high].map((id) => ({ id, input: { weight: '67' } })));

      await theirs;
      expect((await changed).data.answer.errors).toEqual([]);
      expect((await storedEntries()).map(({ weight }) => weight)).toEqual(['67.00', '67.00']);
    } finally {
      await client.end();
    }
  });
});

test.each(['1e0', '1.0', '+1', ' 1', '0x1'])(
  'the id "%s" is not that of row 1, also beside a row that refers to it',
  async (id) => {
    const workout = (await ann.post('/workout/', {})).body.id;
    const log = (exerciseId: string) => ({
      exerciseId,
      workoutId: String(workout),
      reps: 1,
      weight: '1',
      date: '2024-01-01',
    });
    const { data } = await ann.query(
      'mutation ($inputs: [WorkoutLogInput!]!) { answer: createWorkoutLogs(inputs: $inputs) { workoutLogs { id } errors { path code } } }',
      { inputs: [log('1'), log(id)] },
    );

    expect(data.answer).toEqual({
      workoutLogs: null,
      errors: [{ path: ['inputs', '1', 'exerciseId'], code: 'NOT_FOUND' }],
    });
  },
);
