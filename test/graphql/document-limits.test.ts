/**
 * Limits of documents, and limits of the errors reported for them.
 *
 * @alone
 */
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { nodeIdOf } from '../../src/engine/declare/node';

const fitgraph = fitgraphForThisFile();

const joinRepeated = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

describe('document limits', () => {
  test.each([
    ['root fields', 100, (count: number) => `{ ${joinRepeated(count, () => '__typename')} }`],
    [
      'root fields in a fragment',
      100,
      (count: number) =>
        `{ ...F } fragment F on Query { ${joinRepeated(count, (i) => `a${i}: __typename`)} }`,
    ],
    [
      'parts of a selection',
      500,
      (count: number) =>
        `{ exercise(id: 1) { ${joinRepeated(count, (i) => ['id', 'uuid', 'name'][i % 3]!)} } }`,
    ],
    [
      'aliases in a document',
      500,
      (count: number) =>
        `{ ${joinRepeated(count / 50, (level) => `a${level}: exercise(id: 1) { ${joinRepeated(49, (i) => `b${i}: name`)} }`)}
          ${joinRepeated(count % 50, (i) => `c${i}: __typename`)} }`,
    ],
    [
      'aliases in a selection',
      50,
      (count: number) => `{ exercise(id: 1) { ${joinRepeated(count, (i) => `a${i}: name`)} } }`,
    ],
    [
      'aliases in a selection with fragments',
      50,
      (count: number) =>
        `{ exercise(id: 1) { ...A ...B ...A } } fragment A on Exercise { ${joinRepeated(30, (i) => `a${i}: name`)} }
         fragment B on Exercise { ... { ${joinRepeated(count - 30, (i) => `b${i}: name`)} } }`,
    ],
    [
      'aliases in a selection with an interface',
      50,
      (count: number) =>
        `{ exercise(id: 1) { ... on Exercise { ${joinRepeated(30, (i) => `a${i}: name`)} } ... on Node { ${joinRepeated(count - 30, (i) => `b${i}: id`)} } } }`,
    ],
    [
      'aliases of one object with a fragment that is first spread on another type',
      50,
      (count: number) =>
        `{ node(nodeId: "x") { ... on Exercise { ...F } ...F ... on Ingredient { ${joinRepeated(30, (i) => `a${i}: name`)} } } }
         fragment F on Node { ${joinRepeated(count - 30, (i) => `b${i}: nodeId`)} }`,
    ],
    ['characters of an alias', 64, (count: number) => `{ ${'a'.repeat(count)}: __typename }`],
    [
      'directives of a field',
      5,
      (count: number) => `{ __typename ${'@include(if: true) '.repeat(count)} }`,
    ],
  ])('restrict the number of %s to %s', async (_what, limit, document) => {
    const overLimit = await fitgraph.anonymous.query(document(limit + 1));

    expect(overLimit).toMatchObject({
      status: 400,
      code: 'GRAPHQL_VALIDATION_FAILED',
      errors: [{ extensions: { limit } }],
    });
    expect(overLimit.errors).toHaveLength(1);
    const atLimit = await fitgraph.anonymous.query(document(limit));

    for (const { extensions } of atLimit.errors ?? []) expect(extensions.limit).toBeUndefined();
  });

  test.each([
    [
      'tokens',
      (count: number) =>
        `{ exercises(where: { id: { in: [${joinRepeated(count - 20, () => '1')}] } }) { totalCount } }`,
    ],
    ['lines', (count: number) => `{ __typename }${'\r\n'.repeat(count - 1)}`],
  ])(
    'restrict the number of %s to 5000 before the document is validated',
    async (what, document) => {
      expect(await fitgraph.anonymous.query(document(5_001))).toMatchObject({
        status: 400,
        code: 'GRAPHQL_PARSE_FAILED',
        errors: [{ message: expect.stringContaining(`5000 ${what}`) }],
      });
      expect((await fitgraph.anonymous.query(document(5_000))).errors).toBeUndefined();
    },
  );

  const fragments = (count: number, body: (index: number) => string, type = 'Exercise') =>
    joinRepeated(count, (i) => `fragment F${i} on ${type} { ${body(i)} }`);

  test.each([
    [
      'equal fields',
      100,
      (count: number) => `{ exercise(id: 1) { ${joinRepeated(count, () => 'category { id }')} } }`,
    ],
    [
      'equal fields of several levels',
      50,
      (count: number) =>
        `{ ${joinRepeated(count, () => 'exercise(id: 1) { category { exercises { nodes { id } } } }')} }`,
    ],
    [
      'equal fields with different arguments',
      100,
      (count: number) =>
        `{ exercise(id: 1) { category { ${joinRepeated(count, (i) => `exercises(first: ${i}) { totalCount }`)} } } }`,
    ],
    [
      'equal fields with large arguments',
      6,
      (count: number) =>
        `{ ${joinRepeated(100, () => `exercises(where: { id: { in: [${joinRepeated(count, () => '1')}] } }) { totalCount }`)} }`,
    ],
    [
      'equal fields in fragments',
      60,
      (count: number) =>
        `{ exercise(id: 1) { ${joinRepeated(count, (i) => `...F${i}`)} } } ${fragments(count, () => 'id name category { id }')}`,
    ],
    [
      'equal leaves of several types',
      100,
      (count: number) =>
        `{ node(nodeId: "") { ${joinRepeated(count, (i) => `... on ${['Exercise', 'Workout'][i % 2]} { id nodeId __typename }`)} } }`,
    ],
    [
      'fragments with different fields',
      150,
      (count: number) =>
        `{ exercise(id: 1) { ${joinRepeated(count, (i) => `...F${i}`)} } } ${fragments(count, (i) => `${i % 2 ? 'id' : 'name'}`)}`,
    ],
    [
      'fragments in a chain',
      150,
      (count: number) =>
        `{ exercise(id: 1) { ...F0 } } ${fragments(count, (i) => `name ...F${i + 1}`)} fragment F${count} on Exercise { id }`,
    ],
    [
      'operations that share fragments',
      60,
      (count: number) =>
        `${joinRepeated(count, (i) => `query Q${i} { exercise(id: 1) { ...F0 } }`)} ${fragments(count, (i) => `...F${i + 1}`)} fragment F${count} on Exercise { id }`,
    ],
    [
      'operations that share variables',
      20,
      (count: number) =>
        `${joinRepeated(count, (i) => `query Q${i}($v: ID!) { ...F }`)} fragment F on Query { ${joinRepeated(count, () => 'exercise(id: $v) { id }')} }`,
    ],
  ])(
    'reject documents that take too long to validate: too many %s',
    async (_what, limit, document) => {
      const overLimit = await fitgraph.anonymous.query(document(2 * limit));

      expect(overLimit).toMatchObject({
        status: 400,
        code: 'GRAPHQL_VALIDATION_FAILED',
        errors: [{ extensions: { limit: 200_000 } }],
      });
      expect(overLimit.errors).toHaveLength(1);
      const withinLimit = await fitgraph.anonymous.query(document(limit));

      for (const { extensions } of withinLimit.errors ?? []) {
        expect(extensions.limit).toBeUndefined();
      }
    },
  );

  test('admit fragments of a screen that select the same fields thirty times', async () => {
    const leaves = joinRepeated(30, (i) => `...F${i}`);
    const screen = `{ exercises(first: 1) { nodes { ${leaves} } } } ${fragments(30, () => 'id __typename category { id __typename } license { id __typename }')}`;

    expect((await fitgraph.anonymous.query(screen)).errors).toBeUndefined();
  });

  test('report the first exceeded limit alone, without any other validation error', async () => {
    const wrong = joinRepeated(60, (i) => `wrong${i}`);
    const { errors } = await fitgraph.anonymous.query(
      `{ ${'a'.repeat(65)}: __typename ${wrong} b: __typename ${'@c '.repeat(6)} ...Missing }`,
    );

    expect(errors!.map(({ message }) => message)).toEqual([
      'An alias can have at most 64 characters.',
    ]);
  });

  test('report unknown directives within the limit as unknown', async () => {
    const { errors } = await fitgraph.anonymous.query('{ __typename @aa@aa@aa }');

    expect(errors!.map(({ message }) => message)).toEqual(
      Array<string>(3).fill('Unknown directive "@aa".'),
    );
  });

  test.each(['{ ...', '[', '{ viewer '])(
    'reject 3000 levels of %j, and brackets nested deeper than 200 levels',
    async (text) => {
      const answer = await fitgraph.anonymous.query(`${text.repeat(3_000)}`);

      expect([answer.status, answer.code]).toEqual([400, 'GRAPHQL_PARSE_FAILED']);
      const closed = await fitgraph.anonymous.query(
        `{ ${'... { '.repeat(2_400)} __typename ${'}'.repeat(2_400)} }`,
      );

      expect([closed.status, closed.code, closed.errors![0]!.message]).toEqual([
        400,
        'GRAPHQL_PARSE_FAILED',
        'Brackets are nested deeper than 200 levels.',
      ]);
    },
  );

  describe('nested input values', () => {
    const TOO_DEEP = 'nested no deeper than 64 levels';
    const queryWithLiteral = (value: string) =>
      fitgraph.anonymous.query(`{ exercises(where: ${value}) { totalCount } }`);

    const queryWithVariable = (value: string) => {
      const query = 'query ($where: ExerciseWhere) { exercises(where: $where) { totalCount } }';

      return fitgraph.anonymous.send(
        'POST',
        '/graphql',
        `{"query":"${query}","variables":{"where":${value}}}`,
      );
    };

    const objects = (count: number, key: string) =>
      `${`{${key}:`.repeat(count - 1)}{}${'}'.repeat(count - 1)}`;

    /** Returns a nested value of `count` pairs. Each pair has two levels: an object and a list. */
    const pairs = (count: number, innermost: string) =>
      `${'{or:['.repeat(count)}${innermost}${']}'.repeat(count)}`;

    test('are rejected by the limit of conditions if the brackets of the document are not nested too deep', async () => {
      for (const value of [
        objects(64, 'not'),
        objects(190, 'not'),
        pairs(32, ''),
        pairs(90, '{}'),
      ]) {
        expect((await queryWithLiteral(value)).text).toContain(
          'Conditions are nested deeper than 10 levels.',
        );
      }
    });

    test('are not counted as nested when they are side by side in a document', async () => {
      const { data } = await queryWithLiteral(
        `{ or: [${joinRepeated(100, () => '{ name: { in: ["Squat"] } }')}] }`,
      );

      expect(data).toEqual({ exercises: { totalCount: 1 } });
    });

    test('pass with 64 levels below a variable, so that the limit of conditions applies', async () => {
      expect((await queryWithVariable(objects(65, '"not"'))).text).toContain(
        'Conditions are nested deeper than 10 levels.',
      );
    });

    test('are rejected with 65 levels below a variable', async () => {
      expect((await queryWithVariable(objects(66, '"not"'))).body.errors[0].extensions).toEqual({
        code: 'BAD_USER_INPUT',
        inputErrors: [{ path: ['where'], message: expect.stringContaining(TOO_DEEP) }],
      });
    });
  });

  test('do not count brackets inside strings', async () => {
    const { status, data } = await fitgraph.anonymous.query(
      `{ exercises(where: { name: { eq: "${'{['.repeat(500)}" } }) { totalCount } }`,
    );

    expect([status, data]).toEqual([200, { exercises: { totalCount: 0 } }]);
  });
});

describe('reported errors', () => {
  const expectFewShortErrors = ({
    errors,
    text,
  }: {
    errors?: readonly { message: string }[];
    text?: string;
  }) => {
    expect(errors!.length).toBeGreaterThan(0);
    expect(errors!.length).toBeLessThanOrEqual(20);
    for (const { message } of errors!) expect(message.length).toBeLessThanOrEqual(1_001);
    if (text !== undefined) expect(text.length).toBeLessThan(30_000);
  };

  const long = 'a'.repeat(50_000);

  test.each([
    ['unknown fields', `{ ${joinRepeated(90, (i) => `wrong${i}`)} }`],
    [
      'unknown fields in fragments',
      `{ ...F } fragment F on Query { exercise(id: 1) { ${joinRepeated(300, (i) => `wrong${i}`)} } }`,
    ],
    ['unknown arguments', `{ exercise(${joinRepeated(1_000, (i) => `wrong${i}: 1`)}) { id } }`],
    ['unused variables', `query (${joinRepeated(1_000, (i) => `$v${i}: ID`)}) { __typename }`],
    ['a long field name', `{ ${long} }`],
    ['a long argument name', `{ exercise(${long}: 1) { id } }`],
    ['a long type name', `query ($v: ${long}) { __typename }`],
    ['a long enum value', `{ exercises(orderBy: [{ name: ${long} }]) { totalCount } }`],
    ['a long number', `{ exercises(first: ${'1'.repeat(50_000)}) { totalCount } }`],
    ['a long string in place of a field', `{ exercise(id: 1) { id } ${JSON.stringify(long)} }`],
    [
      'node ids of another type',
      `{ ${joinRepeated(30, (i) => `a${i}: exercise(id: "${nodeIdOf('Workout', i)}") { id }`)} }`,
    ],
    ['a long cursor', `{ exercises(after: "${long}") { totalCount } }`],
    [
      'failing fields',
      `{ ${joinRepeated(60, (i) => `a${i}: exercises(first: -${i + 1}) { totalCount }`)} }`,
    ],
  ])('are at most twenty and short for %s', async (_what, document) =>
    expectFewShortErrors(await fitgraph.anonymous.query(document)),
  );

  test('are at most twenty and short for a long unknown id or operation name', async () => {
    for (const body of [
      { id: long },
      { documentId: long },
      { query: '{ __typename }', operationName: long },
    ]) {
      const answer = await fitgraph.anonymous.send('POST', '/graphql', body);

      expectFewShortErrors({ errors: answer.body.errors, text: answer.text });
    }
  });

  test('end with the number of omitted execution errors', async () => {
    const answer = await fitgraph.anonymous.query(
      `{ ${joinRepeated(60, (i) => `a${i}: exercises(first: -${i + 1}) { totalCount }`)} }`,
    );

    expect(answer.errors).toHaveLength(20);
    expect(answer.errors![19]).toMatchObject({
      message: 'There are 41 more errors.',
      extensions: { code: 'TOO_MANY_ERRORS' },
    });
    expect(Object.keys(answer.data)).toHaveLength(60);
  });

  test.each([
    [
      'unknown keys',
      Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`wrong${index}`, 1])),
    ],
    ['a long unknown key', { [long]: 1 }],
    [
      'invalid values',
      { and: Array.from({ length: 500 }, () => ({ createdOn: { eq: 'never' } })) },
    ],
    ['a long invalid value', { createdOn: { eq: long } }],
  ])('are at most twenty and short for a variable with %s', async (_what, where) => {
    expectFewShortErrors(
      await fitgraph.anonymous.query(
        'query ($where: ExerciseWhere) { exercises(where: $where) { totalCount } }',
        { where },
      ),
    );
  });

  test('are at most twenty and short for 60 invalid variables', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `v${index}`);
    const document = `query (${names.map((name) => `$${name}: Int`).join(' ')}) { ${names.map((name) => `${name}: exercises(first: $${name}) { totalCount }`).join(' ')} }`;

    expectFewShortErrors(
      await fitgraph.anonymous.query(
        document,
        Object.fromEntries(names.map((name) => [name, long])),
      ),
    );
  });

  test('repeat only a part of a long unknown id', async () => {
    const ann = await fitgraph.user('ann');
    const document =
      'mutation ($id: ID!) { createPlannedSet(input: { setGroupId: $id, exerciseId: $id, reps: 1 }) { errors { message } } }';
    const { data, text } = await ann.query(document, { id: long });

    expect(data.createPlannedSet.errors).toHaveLength(2);
    expect(text.length).toBeLessThan(2_000);
  });

  test('are at most twenty and short over a WebSocket', async () => {
    const client = createClient({
      url: `${fitgraph.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    const subscriptionErrors = (query: string) =>
      new Promise<any>((resolve) =>
        client.subscribe(
          { query },
          { next: resolve, error: resolve, complete: () => resolve(undefined) },
        ),
      );

    expectFewShortErrors({
      errors: await subscriptionErrors(`subscription { ${joinRepeated(90, (i) => `wrong${i}`)} }`),
    });
    const [unknown] = await subscriptionErrors('subscription { rowChange { id } }');

    expect(unknown.message).toMatch(/^Cannot query field/);
    expect(unknown.message).toContain('Did you mean');
    await client.dispose();
  });

  test('are at most twenty and short over server-sent events', async () => {
    const answer = await fitgraph.anonymous
      .withHeaders({ Accept: 'text/event-stream' })
      .send('POST', '/graphql/stream', {
        query: `subscription { ${joinRepeated(90, (i) => `exercise${i}`)} }`,
      });

    expectFewShortErrors(JSON.parse(/^data: (.*)$/m.exec(answer.text)![1]!));
  });
});

describe('"Did you mean" suggestions', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['a root field', '{ exercize(id: 1) { id } }', {}],
    ['a field of a type', '{ exercise(id: 1) { nam } }', {}],
    ['an argument', '{ exercise(idd: 1) { id } }', {}],
    ['a type', '{ node(nodeId: "a") { ... on Exercize { id } } }', {}],
    ['an enum value', '{ exercises(orderBy: [{ name: ASCC }]) { totalCount } }', {}],
    ['an input field', '{ exercises(where: { nam: { eq: "a" } }) { totalCount } }', {}],
    [
      'an enum value in a variable',
      'query ($order: [ExerciseOrder!]) { exercises(orderBy: $order) { totalCount } }',
      { order: [{ name: 'ASCC' }] },
    ],
  ])('are given to everybody who may read the schema: %s', async (_what, document, variables) => {
    for (const person of [fitgraph.anonymous, await fitgraph.user('ann')]) {
      expect((await person.query(document, variables)).text).toContain('Did you mean');
    }
  });

  test('are not given in REST responses', async () => {
    const ann = await fitgraph.user('ann');
    const answers = [
      await fitgraph.anonymous.get('/exercise/?status=3&ordering=nam&nam=a'),
      await ann.post('/workoutsession/', { impression: 'GOO', date: '2024-01-01', workout: 1 }),
      await ann.post('/setting/', { rir: 'RIR_1' }),
    ];

    for (const { text } of answers) expect(text).not.toContain('Did you mean');
  });
});

describe('a GraphQL request', () => {
  const preflighted = { 'Apollo-Require-Preflight': 'yes' };

  test('is rejected when it is a batch', async () => {
    for (const batch of [
      [],
      [{ query: '{ __typename }' }],
      Array<object>(1_000).fill({ query: '{ __typename }' }),
    ]) {
      const { status, body } = await fitgraph.anonymous.send('POST', '/graphql', batch);

      expect([status, body.errors.length, body.data]).toEqual([400, 1, undefined]);
    }
  });

  test('is rejected when it is a mutation by GET, even with Apollo-Require-Preflight', async () => {
    const ann = await fitgraph.user('ann');
    const path = `/graphql?${new URLSearchParams({ query: 'mutation { createWorkout(input: {}) { workout { id } } }' })}`;

    expect((await ann.withHeaders(preflighted).send('GET', path)).status).toBe(405);
    // Browsers send an Authorization header only after a preflight, so this request passes the CSRF
    // check, too, and is rejected as a mutation.
    expect((await ann.send('GET', path)).status).toBe(405);
    expect((await fitgraph.anonymous.send('GET', path)).status).toBe(400);
    expect((await ann.ask('{ workouts { totalCount } }')).workouts.totalCount).toBe(0);
  });

  test.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/graphql',
    '',
  ])('is rejected when its Content-Type is %j', async (type) => {
    const bodies = ['query={__typename}', '{"query":"{ __typename }"}', '{ __typename }'];

    for (const body of bodies) {
      for (const sender of [fitgraph.anonymous, fitgraph.anonymous.withHeaders(preflighted)]) {
        const answer = await sender
          .withHeaders({ 'Content-Type': type })
          .send('POST', '/graphql', body);

        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        expect(answer.text).not.toContain('"data"');
      }
    }
  });
});

test('returns errors without stack traces and file names', async () => {
  for (const document of [
    '{',
    '{ wrong }',
    '{ exercise(id: 99999) { id } }',
    '{ node(nodeId: "a") { nodeId } }',
    'mutation { login(username: "a", password: "b") { token } }',
  ]) {
    for (const { text } of [await fitgraph.anonymous.query(document)]) {
      expect(text).not.toMatch(/stacktrace|exception|node_modules|\.ts:/);
    }
  }
});
