/**
 * Constraints between rows hold under concurrent writes over GraphQL and REST, on two instances
 * that share a database.
 */
import sharp from 'sharp';
import { createUser, getOrCreateApiKey } from '../../../src/accounts/accounts';
import { WEEKDAY_ENUM } from '../../../src/engine/grouping/time-buckets';
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../../setup/fitgraph';
import { Person, type Answer } from '../../setup/person';

// Long timeouts, so that waiting writes succeed even on a busy machine.
const environment = { LOCK_TIMEOUT: '1min', MAX_WAIT: '1min', STATEMENT_TIMEOUT: '1min' };
const fitgraph = fitgraphForThisFile({ environment });
let second: Fitgraph;
let picture: Buffer;

beforeAll(async () => {
  second = await Fitgraph.start({ sameDatabaseAs: fitgraph, environment });
  picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
});
afterAll(() => second.stop());

const ROUNDS = 6;

/** Creates a person, and returns a client of each instance for them. */
async function onBothInstances(
  name: string,
  options?: { isSuperuser: boolean },
): Promise<[Person, Person]> {
  const person = await fitgraph.user(name, options);

  return [person, new Person(second.url, { id: person.id, token: person.token })];
}

/** A write that is sent as the given person. */
type Write = (person: Person) => Promise<Answer>;

/** Sends all writes at once, cycling through the people and thereby through the instances. */
const together = (people: readonly Person[], writes: readonly Write[]): Promise<Answer[]> =>
  Promise.all(writes.map((write, index) => write(people[index % people.length]!)));

/** Whether a response of either API reports success. */
const done = ({ status, body }: Answer): boolean =>
  status === 201 ||
  status === 204 ||
  (status === 200 &&
    !body.errors &&
    Object.values<any>(body.data ?? {}).every((payload) => !payload?.errors?.length));

const failures = (answers: readonly Answer[]) =>
  answers.filter((answer) => !done(answer)).map(({ status, text }) => [status, text]);

const graphql =
  (document: string, variables?: Record<string, unknown>): Write =>
  (person) =>
    person.query(document, variables);

describe('the active schedule of a user', () => {
  const create =
    'mutation ($input: ScheduleInput!) { made: createSchedule(input: $input) { errors { path } } }';
  const update =
    'mutation ($id: ID!, $input: SchedulePatch!) { changed: updateSchedule(id: $id, input: $input) { errors { path } } }';

  const scheduled = async (person: Person, count: number): Promise<number[]> => {
    const made = await Promise.all(
      Array.from({ length: count }, (_, index) => person.post('/schedule/', { name: `${index}` })),
    );

    return made.map(({ body }) => body.id as number);
  };

  /** Returns one mutation that updates all schedules in the given order. */
  const changeAll = (changes: { id: number; isActive: boolean }[]) => {
    const fields = changes.map(
      ({ id, isActive }, index) =>
        `s${index}: updateSchedule(id: ${id}, input: { isActive: ${isActive} }) { errors { path } }`,
    );

    return graphql(`mutation { ${fields.join(' ')} }`);
  };

  const activeRows = (person: Person) =>
    fitgraph.sql('SELECT "id" FROM "schedule" WHERE "user_id" = $1 AND "is_active"', [person.id]);

  test('is unique after concurrent creates', async () => {
    const people = await onBothInstances('creator');

    for (let round = 0; round < ROUNDS; round += 1) {
      const writes: Write[] = [1, 2, 3, 4].flatMap((number) => [
        (person) => person.post('/schedule/', { name: `rest ${number}` }),
        graphql(create, { input: { name: `graphql ${number}` } }),
        graphql(create, { input: { name: 'inactive', isActive: false } }),
      ]);

      expect(failures(await together(people, writes))).toEqual([]);
      expect(await activeRows(people[0])).toHaveLength(1);
    }

    const { body } = await people[1].get('/schedule/?is_active=True');

    expect(body.count).toBe(1);
  });

  test('is unique after concurrent updates, multi-row mutations and creates', async () => {
    const people = await onBothInstances('changer');
    const ids = await scheduled(people[0], 8);

    for (let round = 0; round < ROUNDS; round += 1) {
      const changesOfAll = (isActive: (index: number) => boolean) =>
        ids.map((id, index) => ({ id, isActive: isActive(index) }));
      const writes: Write[] = [
        ...ids.slice(0, 3).map(
          (id): Write =>
            (person) =>
              person.patch(`/schedule/${id}/`, { is_active: true }),
        ),
        ...ids.slice(2, 5).map((id) => graphql(update, { id, input: { isActive: true } })),
        (person) => person.put(`/schedule/${ids[5]}/`, { name: 'put', is_active: true }),
        (person) => person.post('/schedule/', { name: 'new' }),
        changeAll(changesOfAll(() => true)),
        changeAll(changesOfAll((index) => index % 2 === 0).reverse()),
        changeAll(changesOfAll((index) => index === 3)),
      ];

      expect(failures(await together(people, writes))).toEqual([]);
      expect((await activeRows(people[0])).length).toBeLessThanOrEqual(1);
      await people[0].patch(`/schedule/${ids[round]}/`, { is_active: true });
      expect(await activeRows(people[0])).toEqual([{ id: ids[round] }]);
    }
  });

  test('is unique while other schedules are deleted', async () => {
    const people = await onBothInstances('deleter');

    for (let round = 0; round < ROUNDS; round += 1) {
      const ids = await scheduled(people[0], 6);
      const keptIds = ids.slice(0, 3);
      const writes: Write[] = [
        ...keptIds.map(
          (id): Write =>
            (person) =>
              person.patch(`/schedule/${id}/`, { is_active: true }),
        ),
        changeAll(keptIds.map((id) => ({ id, isActive: true })).reverse()),
        (person) => person.delete(`/schedule/${ids[5]}/`),
        graphql(
          `mutation { a: deleteSchedule(id: ${ids[4]}) { deletedIds } b: deleteSchedule(id: ${ids[3]}) { deletedIds } }`,
        ),
      ];

      expect(failures(await together(people, writes))).toEqual([]);
      expect(await activeRows(people[0])).toHaveLength(1);
    }
  });

  test('is kept unique by a database constraint', async () => {
    const [person] = await onBothInstances('operator');
    const insert = `INSERT INTO "schedule" ("name", "start_date", "user_id") VALUES ('a', '2021-01-01', $1), ('b', '2021-01-01', $1)`;

    await expect(fitgraph.sql(insert, [person.id])).rejects.toThrow(/schedule_one_is_active/);
  });
});

describe('the active nutrition plan of a user', () => {
  const create =
    'mutation ($input: NutritionPlanInput!) { made: createNutritionPlan(input: $input) { errors { path } } }';
  const activeRows = (person: Person) =>
    fitgraph.sql('SELECT "id" FROM "nutrition_plan" WHERE "user_id" = $1 AND "is_active"', [
      person.id,
    ]);
  const activate = (id: number): Write =>
    graphql(
      `mutation { updateNutritionPlan(id: ${id}, input: { isActive: true }) { errors { path } } }`,
    );

  test('is unique after concurrent creates and updates', async () => {
    const people = await onBothInstances('dieter');
    const made = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        people[0].post('/nutritionplan/', { description: `${index}` }),
      ),
    );
    const ids = made.map(({ body }) => body.id as number);

    for (let round = 0; round < ROUNDS; round += 1) {
      const writes: Write[] = [
        ...ids.map(activate),
        ...ids.map(activate),
        (person) => person.post('/nutritionplan/', { description: 'rest' }),
        (person) => person.patch(`/nutritionplan/${ids[0]}/`, { description: 'changed' }),
        graphql(create, { input: { name: 'graphql' } }),
        graphql(create, { input: { name: 'inactive', isActive: false } }),
        graphql(
          `mutation { updateNutritionPlan(id: ${ids[1]}, input: { isActive: false }) { errors { path } } }`,
        ),
      ];

      expect(failures(await together(people, writes))).toEqual([]);
      expect((await activeRows(people[0])).length).toBeLessThanOrEqual(1);
      await people[0].query(
        `mutation { updateNutritionPlan(id: ${ids[2]}, input: { isActive: true }) { errors { path } } }`,
      );
      expect(await activeRows(people[0])).toEqual([{ id: ids[2] }]);
    }
  });

  test('is the last row when one SQL statement inserts several', async () => {
    const [person] = await onBothInstances('importer');
    const insert = `INSERT INTO "nutrition_plan" ("creation_date", "language_id", "user_id") VALUES ('2021-01-01', 2, $1), ('2021-01-02', 2, $1) RETURNING "id"`;
    const [, last] = await fitgraph.sql(insert, [person.id]);

    expect(await activeRows(person)).toEqual([{ id: last!.id }]);
  });
});

describe('the main image of an exercise base', () => {
  const upload =
    (exercise: number, name: string, isMain: boolean): Write =>
    (person) => {
      const form = new FormData();

      form.set('exercise', String(exercise));
      form.set('is_main', String(isMain));
      form.set('image', new Blob([new Uint8Array(picture)]), name);
      return person.send('POST', '/api/v2/exerciseimage/', form);
    };

  const uploadByGraphql =
    (exercise: number, name: string, isMain: boolean): Write =>
    (person) => {
      const query =
        'mutation ($input: ExerciseImageInput!) { made: createExerciseImage(input: $input) { errors { path } } }';
      const form = new FormData();

      form.set(
        'operations',
        JSON.stringify({
          query,
          variables: { input: { exerciseId: exercise, isMain, image: null } },
        }),
      );
      form.set('map', JSON.stringify({ 0: ['variables.input.image'] }));
      form.set('0', new Blob([new Uint8Array(picture)]), name);
      return person.withHeaders({ 'apollo-require-preflight': '1' }).send('POST', '/graphql', form);
    };

  const main = async (exercise: number) =>
    fitgraph.sql(
      `SELECT "status" FROM "exercise_image" WHERE "exercise_base_id" = $1 AND "is_main"`,
      [exercise],
    );

  test('is unique and accepted after concurrent uploads of superusers and others', async () => {
    const people = [
      ...(await onBothInstances('editor', { isSuperuser: true })),
      ...(await onBothInstances('visitor')),
    ];

    for (let round = 0; round < 3; round += 1) {
      // `together` assigns the 20 writes to the four people in turn, so that each of them sends
      // each kind of upload.
      const writes = [0, 1, 2, 3].flatMap((number) => [
        upload(2, `a${number}.png`, true),
        uploadByGraphql(2, `b${number}.png`, true),
        upload(2, `c${number}.png`, false),
        uploadByGraphql(2, `d${number}.png`, true),
        upload(2, `e${number}.png`, true),
      ]);

      expect(failures(await together(people, writes))).toEqual([]);
      expect(await main(2)).toEqual([{ status: '2' }]);
    }
  });

  test('is not replaced by a pending upload', async () => {
    const [visitor] = await onBothInstances('visitor');

    expect(await main(1)).toEqual([{ status: '2' }]);

    for (const write of [
      upload(1, 'a.png', true),
      upload(1, 'b.png', false),
      uploadByGraphql(1, 'c.png', true),
    ]) {
      expect(done(await write(visitor))).toBe(true);
    }

    expect(
      await fitgraph.sql(
        'SELECT "id" FROM "exercise_image" WHERE "exercise_base_id" = 1 AND "is_main"',
      ),
    ).toEqual([{ id: 1 }]);
  });

  test('is a pending upload while no accepted one exists', async () => {
    const [visitor] = await onBothInstances('visitor');
    const isMain = async (write: Write) => (await write(visitor)).body.is_main as boolean;

    expect(await isMain(upload(3, 'a.png', false))).toBe(true);
    expect(await isMain(upload(3, 'b.png', false))).toBe(true);
    expect(await main(3)).toEqual([{ status: '1' }]);
    expect(await isMain(upload(3, 'c.png', true))).toBe(true);
    expect(await main(3)).toEqual([{ status: '1' }]);
    const [editor] = await onBothInstances('editor', { isSuperuser: true });

    expect((await upload(3, 'd.png', false)(editor)).body).toMatchObject({
      is_main: true,
      status: '2',
    });
    expect(await main(3)).toEqual([{ status: '2' }]);
    expect(await isMain(upload(3, 'e.png', true))).toBe(false);
  });

  test('is unique after concurrent uploads that do not ask for it', async () => {
    const people = [
      ...(await onBothInstances('editor', { isSuperuser: true })),
      ...(await onBothInstances('visitor')),
    ];
    const visitors = people.slice(2);

    for (let round = 0; round < 3; round += 1) {
      await fitgraph.sql('DELETE FROM "exercise_image" WHERE "exercise_base_id" = 3');
      const uploads = (count: number) =>
        Array.from({ length: count }, (_, number) => upload(3, `f${number}.png`, false));

      expect(failures(await together(visitors, uploads(8)))).toEqual([]);
      expect(await main(3)).toEqual([{ status: '1' }]);
      expect(failures(await together(people, uploads(8)))).toEqual([]);
      expect(await main(3)).toEqual([{ status: '2' }]);
    }
  });

  test('is unique and accepted when SQL statements mark several images', async () => {
    const insert = (statuses: readonly string[]) =>
      fitgraph.sql(
        `INSERT INTO "exercise_image" ("uuid", "exercise_base_id", "image", "is_main", "status")
          SELECT gen_random_uuid(), 3, 'x.png', true, unnest($1::text[])`,
        [statuses],
      );

    await fitgraph.sql('DELETE FROM "exercise_image" WHERE "exercise_base_id" = 3');
    await insert(['1', '1']);
    expect(await main(3)).toEqual([{ status: '1' }]);
    await insert(['1', '2', '1']);
    expect(await main(3)).toEqual([{ status: '2' }]);
    await fitgraph.sql('DELETE FROM "exercise_image" WHERE "exercise_base_id" = 3');
  });
});

describe.each([
  [
    'the weight entry of a day',
    '/weightentry/',
    'WeightEntr',
    'weight_entry',
    () => ({ weight: '80' }),
  ],
  [
    'the workout session of a day',
    '/workoutsession/',
    'WorkoutSession',
    'workout_session',
    (workout: number) => ({ workout }),
  ],
] as const)('%s', (_what, path, type, table, values) => {
  const [one, many] =
    type === 'WeightEntr'
      ? ['WeightEntry', 'WeightEntries']
      : ['WorkoutSession', 'WorkoutSessions'];
  const input = (workout: number, date: string) => ({
    date,
    ...(type === 'WeightEntr' ? { weight: '80' } : { workoutId: workout }),
  });
  const create = `mutation ($input: ${one}Input!) { made: create${one}(input: $input) { errors { path message } } }`;
  const createMany = `mutation ($inputs: [${one}Input!]!) { made: create${many}(inputs: $inputs) { errors { path message } } }`;
  const update = `mutation ($id: ID!, $input: ${one}Patch!) { changed: update${one}(id: $id, input: $input) { errors { path message } } }`;
  const days = (person: Person) =>
    fitgraph.sql(
      `SELECT "date", count(*)::int AS "n" FROM "${table}" WHERE "user_id" = $1 GROUP BY 1 ORDER BY 1`,
      [person.id],
    );
  const NOT_UNIQUE =
    /The field date must be unique\.|The fields date, user must make a unique set\./;

  test('is written by exactly one of several concurrent requests; the others report a duplicate', async () => {
    const people = await onBothInstances(table);
    const workout = (await people[0].post('/workout/', {})).body.id;

    for (let round = 1; round <= ROUNDS; round += 1) {
      const date = `2021-03-0${round}`;
      const writes: Write[] = [1, 2].flatMap(() => [
        (person) => person.post(path, { date, ...values(workout) }),
        graphql(create, { input: input(workout, date) }),
        graphql(createMany, { inputs: [input(workout, date)] }),
      ]);
      const answers = await together(people, writes);

      expect(answers.filter(done)).toHaveLength(1);

      for (const { text, status } of answers.filter((answer) => !done(answer))) {
        expect([200, 400]).toContain(status);
        expect(text).toMatch(NOT_UNIQUE);
      }
    }

    expect(await days(people[0])).toEqual(
      Array.from({ length: ROUNDS }, (_, index) => ({ date: `2021-03-0${index + 1}`, n: 1 })),
    );
    // Moves all rows concurrently to the same day, which has no row yet.
    const ids = (
      await fitgraph.sql(`SELECT "id" FROM "${table}" WHERE "user_id" = $1 ORDER BY 1`, [
        people[0].id,
      ])
    ).map(({ id }) => id);
    const date = '2021-04-01';
    const moved = await together(
      people,
      ids.map((id, index): Write =>
        index % 2
          ? (person) => person.patch(`${path}${id}/`, { date })
          : graphql(update, { id, input: { date } }),
      ),
    );

    expect(moved.filter(done)).toHaveLength(1);

    for (const { text } of moved.filter((answer) => !done(answer))) {
      expect(text).toMatch(NOT_UNIQUE);
    }

    expect((await days(people[0])).filter(({ n }) => n > 1)).toEqual([]);
  });
});

test('stores the weekdays of exactly one of several concurrent updates', async () => {
  const people = await onBothInstances('planner');
  const training = (await people[0].post('/workout/', {})).body.id;
  const id = (await people[0].post('/day/', { training, description: 'a', day: [1] })).body.id;
  const update =
    'mutation ($id: ID!, $days: [Weekday!]!) { changed: updateTrainingDay(id: $id, input: { weekdays: $days }) { errors { path } } }';
  const sets = [[1], [2], [1, 2], [3, 4], [5], [6, 7], [1, 7], [4]];

  for (let round = 0; round < ROUNDS; round += 1) {
    const writes = sets.map((day, index): Write =>
      index % 2
        ? (person) => person.patch(`/day/${id}/`, { day })
        : graphql(update, {
            id,
            days: day.map((number) => Object.keys(WEEKDAY_ENUM.type)[number - 1]),
          }),
    );

    expect(failures(await together(people, writes))).toEqual([]);
    expect(sets).toContainEqual((await people[1].get(`/day/${id}/`)).body.day);
  }
});

test('creates one user with one profile when the same name is registered concurrently', async () => {
  const sessions = [fitgraph.database.createSession(), second.database.createSession()];
  const made = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) =>
      createUser({ username: 'wanted', password: PASSWORD }, sessions[index % 2]!),
    ),
  );

  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);

  for (const result of made) {
    if (result.status === 'rejected') {
      expect(result.reason).toMatchObject({ extensions: { code: 'CONFLICT' } });
    }
  }

  expect(
    await fitgraph.sql(
      'SELECT count(*)::int AS "n" FROM "user_profile" p JOIN "user_account" u ON u."id" = p."user_id" WHERE "username" = $1',
      ['wanted'],
    ),
  ).toEqual([{ n: 1 }]);
});

test('returns the same token to concurrent first logins', async () => {
  const id = await createUser(
    { username: 'newcomer', password: PASSWORD },
    fitgraph.database.createSession(),
  );
  const login = 'mutation { login(username: "newcomer", password: "a good password") { token } }';
  const answers = await together(
    [fitgraph.anonymous, second.anonymous],
    [1, 2, 3].flatMap((): Write[] => [
      (person) => person.post('/login/', { username: 'newcomer', password: PASSWORD }),
      graphql(login),
    ]),
  );
  const tokens = answers.map(({ body }) => (body.token ?? body.data.login.token) as string);

  expect(new Set(tokens)).toEqual(
    new Set([await getOrCreateApiKey(id, fitgraph.database.createSession(), fitgraph.tokenVault)]),
  );
});
