/** The cost of an operation is estimated before its first statement. */
import {
  buildSchema as buildSDL,
  getIntrospectionQuery,
  getOperationAST,
  graphqlSync,
  parse,
  print,
  type GraphQLObjectType,
} from 'graphql';
import { estimateOperationCost } from '../../../src/engine/execution/cost';
import { buildGraphQLSchema, printSortedSchema } from '../../../src/graphql/schema';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import type { Answer, Person } from '../../setup/person';

const schema = buildGraphQLSchema();

const cost = (text: string, variables: Record<string, unknown> = {}) => {
  const document = parse(text);

  return estimateOperationCost(schema, document, getOperationAST(document)!, variables);
};

const objectsIn = (value: unknown): number =>
  value === null || typeof value !== 'object'
    ? 0
    : Object.values(value).reduce(
        (total: number, inner) => total + objectsIn(inner),
        Array.isArray(value) ? 0 : 1,
      );

test.each([
  ['the standard query', getIntrospectionQuery(), 5],
  [
    'all types and fields',
    '{ __schema { types { name fields { name args { name } } inputFields { name } enumValues { name } } } }',
    1.5,
  ],
  [
    'possible types and interfaces',
    '{ __schema { types { possibleTypes { name } interfaces { name } } } }',
    1.5,
  ],
  ['a single type', '{ __type(name: "Query") { fields { name args { name } } } }', 10],
  [
    'types nested in fields',
    '{ __schema { queryType { fields { type { fields { name } } } } } }',
    50,
  ],
])('estimates introspection close to the size of its result: %s', (_how, text, times) => {
  const returnedObjects = objectsIn(graphqlSync({ schema, source: text }).data);

  // Each object costs 3 units, because introspection blocks the event loop. Each leaf field costs a
  // tenth.
  expect(cost(text).total).toBeGreaterThanOrEqual(3 * returnedObjects);
  expect(cost(text).total).toBeLessThan(4 * returnedObjects * times);
});

describe('the estimated cost', () => {
  test.each([
    ['counts a root object and its fields', '{ exercise(id: 1) { id name } }', 1 + 5 + 1.2],
    [
      'assumes a page of twenty rows by default',
      '{ exercises { nodes { id } } }',
      1 + 5 + 1 + 20 * 1.1,
    ],
    [
      'counts the rows of `first`',
      '{ exercises(first: 100) { nodes { id } } }',
      1 + 5 + 1 + 100 * 1.1,
    ],
    [
      'counts the days of a period',
      '{ plannedTraining(from: "2026-01-01", until: "2026-01-07") { date } }',
      1 + 5 + 20 + 7 * 1.1,
    ],
    ['counts totalCount separately', '{ exercises { totalCount } }', 1 + 5 + 1 + 5],
    ['adds up aliases', '{ a: exercise(id: 1) { id } b: exercise(id: 2) { id } }', 1 + 2 * 6.1],
    [
      'multiplies nested pages',
      '{ householdUnits(first: 5) { nodes { ingredientUnits(first: 7) { nodes { id } } } } }',
      1 + 6 + 5 * (1 + 2 + 1 + 7 * 1.1),
    ],
    [
      'counts a key once even if it is selected repeatedly',
      '{ exercise(id: 1) { id id ...F ...F } } fragment F on Exercise { id }',
      1 + 5 + 1.1,
    ],
  ])('%s', (_what, text, expected) => {
    expect(cost(text).total).toBeCloseTo(expected, 6);
  });

  test('multiplies the declared sizes of nested lists', () => {
    const { total } = cost(
      '{ schedule(id: 1) { steps { workout { days { setGroups { plannedSets { id } } } } } } }',
    );

    expect(total).toBeCloseTo(1 + 5 + 1 + 4 * (1 + 1 + 4 * (1 + 8 * (1 + 3 * 1.1))), 6);
  });

  test('is printed as directives where it differs from the default', () => {
    const printed = buildSDL(printSortedSchema(schema));
    const typeOf = (name: string) => (printed.getType(name) as GraphQLObjectType).getFields();
    const directives = (type: string, field: string) =>
      (typeOf(type)[field]!.astNode!.directives ?? []).map((directive) => print(directive));

    expect(directives('Workout', 'days')).toEqual(['@listSize(assumedSize: 4)']);
    expect(directives('NutritionPlan', 'nutritionalValues')).toEqual([
      '@semanticNonNull',
      '@cost(weight: "50")',
    ]);
    expect(directives('Query', 'trainingLoad')).toEqual([
      '@semanticNonNull',
      '@cost(weight: "100")',
    ]);
    expect(directives('Query', 'muscles')).toEqual([
      '@semanticNonNull',
      '@listSize(assumedSize: 16)',
    ]);
    expect(directives('Query', 'exercises')).toEqual(['@semanticNonNull']);
    expect(directives('ExerciseConnection', 'nodes')).toEqual([]);
  });

  test('uses the values of variables and leaves skipped fields out', () => {
    const text =
      'query ($n: Int, $s: Boolean!) { exercises(first: $n) @skip(if: $s) { nodes { id } } viewer { id } }';

    expect(cost(text, { n: 1000, s: false }).total).toBeGreaterThan(1000);
    expect(cost(text, { n: 1000, s: true }).total).toBeLessThan(10);
    expect(cost(text, { n: 10, s: false }).total).toBeLessThan(30);
  });
});

const EQUIPMENT = 300;

test('the estimated cost counts the longest lists, skipped rows and counted rows of the catalogue', async () => {
  const one = await Fitgraph.start();
  const two = await (async () => {
    try {
      await one.database.withoutTimeouts(async (client) => {
        await client.query(
          `INSERT INTO "equipment" ("name") SELECT 'gear ' || n FROM generate_series(1, ${EQUIPMENT}) n`,
        );
        await client.query(
          `INSERT INTO "exercise_base_equipment" SELECT 1, "id" FROM "equipment" ON CONFLICT DO NOTHING`,
        );
        await client.query('ALTER TABLE "ingredient" DISABLE TRIGGER USER');
        await client.query(
          `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "language_id", "status")
             SELECT 'food ' || n, current_date, current_date, 1, 1, 1, 1, 2, '2' FROM generate_series(1, 20000) n`,
        );
        await client.query('ALTER TABLE "ingredient" ENABLE TRIGGER USER');
        await client.query('ANALYZE');
      });

      return await Fitgraph.start({ sameDatabaseAs: one });
    } catch (error) {
      await one.stop();
      throw error;
    }
  })();

  try {
    const costFor = async ({ anonymous }: Fitgraph, query: string): Promise<number> =>
      (await anonymous.send('POST', '/graphql', { query, extensions: { dryRun: true } })).body
        .extensions.cost;
    const equipment = '{ exercise(id: 1) { equipment { id } } }';

    expect(await costFor(one, equipment)).toBeLessThan(20);
    expect(await costFor(two, equipment)).toBeGreaterThan(EQUIPMENT);

    for (const [query, increase] of [
      ['{ ingredients(first: 1) { totalCount } }', 100],
      ['{ ingredients(first: 1, offset: 10000) { nodes { id } } }', 100],
      ['{ ingredients(first: 1, offset: 2000000000) { nodes { id } } }', 200],
    ] as const) {
      expect((await costFor(two, query)) - (await costFor(one, query))).toBeCloseTo(increase, -1);
    }

    // A stranger's list does not change the price of one's own.
    const ann = await one.user('ann');

    await one.sql(
      `INSERT INTO "workout" ("creation_date", "comment", "user_id") SELECT current_date, 'many', $1 FROM generate_series(1, 5000)`,
      [ann.id],
    );
    expect(await costFor(two, '{ workouts(first: 1) { totalCount } }')).toBe(
      await costFor(one, '{ workouts(first: 1) { totalCount } }'),
    );
  } finally {
    await two.stop();
    await one.stop();
  }
});

describe('the cost limit', () => {
  const fitgraph = fitgraphForThisFile();
  const levels = (count: number): string =>
    count ? `exercises(first: 10000) { nodes { category { ${levels(count - 1)} } } }` : 'name';
  const nestedCondition = (count: number): string =>
    count
      ? `{ category: { exercises: { some: ${nestedCondition(count - 1)} } } }`
      : '{ name: { eq: "x" } }';

  test.each([
    [
      'nested pages',
      `{ ${levels(4)} }`,
      'ExerciseCategory.exercises',
      'ExerciseCategory.exercises(first:)',
    ],
    [
      'many aliases',
      `{ ${Array.from({ length: 100 }, (_, i) => `a${i}: exercises(first: 10000) { nodes { id name } }`).join(' ')} }`,
      'Query.exercises',
      'Query.exercises(first:)',
    ],
    [
      'unpaged lists below a page',
      '{ workouts(first: 10000) { nodes { days { setGroups { plannedSets { id } } } } } }',
      'Workout.days',
      'Query.workouts(first:)',
    ],
    [
      'pages below an unpaged list',
      '{ muscles { exercises(first: 10000) { nodes { translations { id } images { id } } } } }',
      'Query.muscles',
      'Muscle.exercises(first:)',
    ],
    [
      'computed values of many rows',
      `{ ingredients(first: 9900) { nodes { ${Array.from({ length: 36 }, (_, i) => `a${i}: valuesOf(amount: "1") { energy }`).join(' ')} } } }`,
      'Ingredient.valuesOf',
      'Query.ingredients(first:)',
    ],
    [
      'repeated introspection',
      `{ __schema { ${Array.from({ length: 45 }, (_, i) => `a${i}: types { fields { name type { name ofType { name } } } }`).join(' ')} } }`,
      '__Schema.types',
      undefined,
    ],
    [
      'nested conditions',
      `{ exercises(where: { or: [${Array(5).fill(nestedCondition(3))}] }) { totalCount } }`,
      'Query.exercises',
      'Query.exercises(where:)',
    ],
  ])(
    'rejects an operation before its first statement: %s',
    async (_what, document, coordinate, argument) => {
      const { code, errors, data, statements, status } = await fitgraph.anonymous.query(document);

      expect([code, status, data, statements]).toEqual(['COST_LIMIT', 400, undefined, 0]);
      expect(errors).toEqual([
        expect.objectContaining({
          extensions: {
            code: 'COST_LIMIT',
            cost: expect.any(Number),
            limit: 500_000,
            coordinate,
            ...(argument && { argument }),
          },
        }),
      ]);
      const advice = argument
        ? `reduce ${argument} or select less below it`
        : 'select less below it';

      expect(errors![0]!.message).toContain(`Most of it comes from ${coordinate}: ${advice}.`);
    },
  );

  test('admits a training plan with all its nested lists, which are short and unpaged', async () => {
    const ann = await fitgraph.user('ann');
    const today = `{ schedules(where: { isActive: { eq: true } }) { nodes { startsOn isLoop steps { duration workout { id name days { name weekdays
      setGroups { sets plannedSets { reps targetWeight exercise { name muscles { name } images { image } } } } } } } } } }`;

    expect((await ann.query(today)).errors).toBeUndefined();
  });

  test('rejects introspection that repeats the fields of the largest type', async () => {
    // Validation allows two nested levels of `fields`: the types of the fields of `Query`, and the
    // types of their fields.
    const fields = (inner: string) => `fields { type { ${inner} } args { name type { name } } }`;
    const thrice = ['a', 'b', 'c'].map((alias) => `${alias}: ${fields(fields('name'))}`).join(' ');
    const introspection = `{ __schema { queryType { ${thrice} } } }`;
    const { code, errors } = await fitgraph.anonymous.query(introspection);

    expect([code, errors![0]!.extensions]).toEqual([
      'COST_LIMIT',
      expect.objectContaining({ coordinate: '__Type.fields' }),
    ]);
  });

  test('admits introspection, a dashboard and a full sync of ingredients', async () => {
    const ann = await fitgraph.user('ann');

    expect((await fitgraph.anonymous.query(getIntrospectionQuery())).errors).toBeUndefined();
    const dashboard = `{ viewer { name }
      workouts(first: 20) { nodes { id name days { id name } logs(first: 100) { nodes { date reps weight exercise { name } } } } }
      weightEntries(first: 365) { nodes { date weight } }
      nutritionPlans { nodes { id meals { items { amount ingredient { name energy } } nutritionalValues { energy } } } } }`;
    const sync =
      '{ ingredients(first: 10000) { totalCount nodes { id name energy protein fat carbohydrates units { grams householdUnit { name } } } } }';

    for (const document of [dashboard, sync]) {
      expect((await ann.query(document)).errors).toBeUndefined();
    }
  });

  test('admits REST pages with 10000 rows', async () => {
    const ann = await fitgraph.user('ann');

    for (const endpoint of ['exerciseinfo', 'ingredientinfo', 'nutritionplaninfo', 'workoutlog']) {
      expect((await ann.get(`/${endpoint}/?limit=10000`)).status).toBe(200);
    }
  });

  describe('a dry run', () => {
    const dryRun = (
      person: Person,
      query: string,
      { variables, dryRun = true }: { variables?: object; dryRun?: unknown } = {},
    ) =>
      person
        .withHeaders({ Accept: 'application/graphql-response+json' })
        .send('POST', '/graphql', { query, variables, extensions: { dryRun } });
    const pages = 'query ($n: Int!) { exercises(first: $n) { nodes { id name } } }';

    test('returns the estimated cost and executes nothing', async () => {
      const ann = await fitgraph.user('ann');
      const { status, body, statements } = await dryRun(ann, pages, { variables: { n: 1_000 } });

      expect([status, statements]).toEqual([200, 1]);
      const limit = 500_000;

      expect(body).toEqual({
        data: null,
        extensions: {
          cost: expect.any(Number),
          limit,
          coordinate: 'Query.exercises',
          argument: 'Query.exercises(first:)',
        },
      });
      expect(body.extensions.cost).toBeGreaterThan(1_000);
      const write =
        'mutation { createWeightEntry(input: { date: "2020-01-01", weight: "80" }) { errors { path } } }';

      expect((await dryRun(ann, write)).body.extensions.cost).toBeGreaterThan(200);
      expect((await dryRun(ann, write, { dryRun: 'false' })).body.data).toBeNull();
      expect((await ann.ask('{ weightEntries { totalCount } }')).weightEntries.totalCount).toBe(0);
      expect((await dryRun(ann, write, { dryRun: false })).body.data).toEqual({
        createWeightEntry: { errors: [] },
      });
    });

    test('includes 200 for each written row', async () => {
      const ann = await fitgraph.user('ann');
      const write =
        'mutation ($inputs: [WeightEntryInput!]!) { createWeightEntries(inputs: $inputs) { errors { path } } }';

      const costOfRows = async (count: number): Promise<number> => {
        const inputs = Array.from({ length: count }, (_, index) => ({
          date: `2020-01-0${index + 1}`,
          weight: '80',
        }));

        return (await dryRun(ann, write, { variables: { inputs } })).body.extensions.cost;
      };

      const rowCost = ((await costOfRows(4)) - (await costOfRows(1))) / 3;

      expect(rowCost).toBeGreaterThanOrEqual(200);
      expect(rowCost).toBeLessThan(210);
    });

    test('returns the cost of an operation that would be rejected, and of a subscription', async () => {
      const { anonymous } = fitgraph;
      const expensive = `{ ${levels(4)} }`;
      const { body } = await dryRun(anonymous, expensive);
      const [rejection] = (await anonymous.query(expensive)).errors!;
      const { code, ...reported } = rejection!.extensions;

      expect([code, body]).toEqual(['COST_LIMIT', { data: null, extensions: reported }]);
      expect(
        (await dryRun(anonymous, 'subscription { changed { cursor } }')).body.extensions.cost,
      ).toBeGreaterThan(0);
      const streamed = await anonymous
        .withHeaders({ Accept: 'text/event-stream' })
        .send('POST', '/graphql/stream', {
          query: 'subscription { changed { cursor } }',
          extensions: { dryRun: true },
        });

      expect(String(streamed.text)).toContain('Dry runs must be sent to POST /graphql.');
      const withHeader = anonymous.withHeaders({ Accept: 'text/event-stream', 'X-Dry-Run': '1' });
      const streamedWithHeader = await withHeader.send('POST', '/graphql/stream', {
        query: 'subscription { changed { cursor } }',
      });

      expect(String(streamedWithHeader.text)).toContain('Dry runs must be sent to POST /graphql.');
      const file = '/graphql/export.csv?query={muscles{name}}';
      const exported = await anonymous.withHeaders({ 'X-Dry-Run': '1' }).send('GET', file);

      expect([exported.status, exported.text]).toEqual([
        400,
        expect.stringContaining('Dry runs must be sent to POST /graphql.'),
      ]);
      expect((await anonymous.send('GET', file)).status).toBe(200);
    });

    test('reports invalid documents and variables', async () => {
      const { anonymous } = fitgraph;
      const code = ({ status, body }: Answer) => [
        status,
        body.errors[0].extensions.code,
        body.extensions,
      ];

      expect(code(await dryRun(anonymous, '{ nothing }'))).toEqual([
        400,
        'GRAPHQL_VALIDATION_FAILED',
        undefined,
      ]);
      expect(code(await dryRun(anonymous, pages, { variables: { n: 'many' } }))).toEqual([
        400,
        'BAD_USER_INPUT',
        undefined,
      ]);
    });

    test('is requested by a header, too, and returns the cost in one', async () => {
      const ann = (await fitgraph.user('ann')).withHeaders({ 'X-Dry-Run': '1' });
      const write =
        'mutation { createWeightEntry(input: { date: "2020-01-02", weight: "80" }) { errors { path } } }';

      for (const { body, headers } of [
        await ann.send('POST', '/graphql', { query: write }),
        await ann.send('POST', '/graphql', { query: write, extensions: { dryRun: false } }),
        await dryRun(fitgraph.anonymous, pages, { variables: { n: 9 } }),
      ]) {
        expect([body.data, headers.get('x-estimated-cost')]).toEqual([
          null,
          String(body.extensions.cost),
        ]);
      }
    });

    test('is rejected for an export, which would be sent otherwise', async () => {
      const search = new URLSearchParams({
        query: '{ exercises { nodes { id } } }',
        extensions: '{ "dryRun": true }',
      });
      const { status, text } = await fitgraph.anonymous.send(
        'GET',
        `/graphql/export.csv?${search}`,
      );

      expect([status, text]).toEqual([
        400,
        expect.stringContaining('Dry runs must be sent to POST /graphql.'),
      ]);
    });

    test('is rejected for a write over REST, which would be executed otherwise', async () => {
      const ann = await fitgraph.user('ann');
      const { body: workout } = await ann.post('/workout/', {});
      const dry = ann.withHeaders({ 'X-Dry-Run': 'no' });

      for (const answer of [
        await dry.post('/workout/', {}),
        await dry.send('PATCH', `/api/v2/workout/${workout.id}/`, { comment: 'x' }),
        await dry.send('PUT', `/api/v2/workout/${workout.id}/`, { comment: 'x' }),
        await dry.send('DELETE', `/api/v2/workout/${workout.id}/`),
        await dry
          .withHeaders({ Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' })
          .send('POST', '/api/v2/workout/', '_method=POST'),
      ]) {
        expect(answer.status).toBe(400);
        expect(answer.text).toContain('Dry runs must be sent to POST /graphql.');
      }

      expect((await dry.get('/workout/')).body.results).toEqual([workout]);
    });

    test('leaves an Idempotency-Key for the operation itself', async () => {
      const bob = (await fitgraph.user('bob')).withHeaders({ 'Idempotency-Key': 'key' });
      const write =
        'mutation { createWeightEntry(input: { date: "2020-01-01", weight: "80" }) { weightEntry { weight } } }';

      expect((await dryRun(bob, write)).body.data).toBeNull();
      expect((await bob.ask(write)).createWeightEntry).toEqual({
        weightEntry: { weight: '80.00' },
      });
    });
  });
});

test('rejects operations that cost more than MAX_COST', async () => {
  const fitgraph = await Fitgraph.start({ environment: { MAX_COST: '1000' } });

  try {
    expect(
      (await fitgraph.anonymous.query('{ exercises(first: 2000) { nodes { id } } }')).errors![0]!
        .extensions,
    ).toMatchObject({
      limit: 1000,
    });
    expect(
      (await fitgraph.anonymous.query('{ exercises(first: 200) { nodes { id } } }')).errors,
    ).toBeUndefined();
  } finally {
    await fitgraph.stop();
  }
});
