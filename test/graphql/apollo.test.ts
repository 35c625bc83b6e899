/** GraphQL over HTTP: authentication, request limits and node ids. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import { nodeIdOf, parseNodeId } from '../../src/engine/declare/node';

const fitgraph = fitgraphForThisFile();

describe('authentication of GraphQL requests', () => {
  const viewer = (Authorization: string) =>
    fitgraph.anonymous.withHeaders({ Authorization }).query('{ viewer { name } }');

  test.each(['Token', 'token', 'Bearer', 'bearer'])('accepts the scheme %s', async (scheme) => {
    const { token } = await fitgraph.user('ann');

    expect((await viewer(`${scheme} ${token}`)).data).toEqual({ viewer: { name: 'ann' } });
  });

  test('treats a request without a token or with another scheme as anonymous', async () => {
    expect((await fitgraph.anonymous.query('{ viewer { name } }')).data).toEqual({ viewer: null });
    expect((await viewer('Basic YW5uOmFubg==')).data).toEqual({ viewer: null });
  });

  test.each(['Token nonsense', 'Bearer nonsense', 'Bearer'])(
    'rejects the invalid header %j',
    async (header) => {
      const answer = await viewer(header);

      expect(answer.code).toBe('UNAUTHENTICATED');
      expect(answer.data ?? null).toBeNull();
    },
  );

  test('never sets a cookie', async () => {
    const ann = await fitgraph.user('ann');

    for (const answer of [
      await ann.get('/'),
      await ann.query('{ viewer { name } }'),
      await fitgraph.anonymous.get('/language/'),
    ]) {
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
  });
});

describe('GraphQL request limits', () => {
  /** Returns a query with `depth` nested fields. */
  const nested = (depth: number) =>
    `{ exerciseCategory(id: 1) { ${selectionOfDepth(depth - 1)} } }`;
  const STEPS = ['exercises(first: 1)', 'nodes', 'category'];

  const selectionOfDepth = (depth: number, step = 0): string => {
    if (depth > 1) {
      return `${STEPS[step]} { ${selectionOfDepth(depth - 1, (step + 1) % STEPS.length)} }`;
    }

    return step === 1 ? 'totalCount' : 'id';
  };

  const ask = async (document: string) => (await fitgraph.user('ann')).query(document);

  test('accept a selection of 20 levels and reject 21', async () => {
    expect((await ask(nested(20))).errors).toBeUndefined();
    const tooDeep = await ask(nested(21));

    expect(tooDeep).toMatchObject({ status: 400, code: 'GRAPHQL_VALIDATION_FAILED' });
    expect(tooDeep.errors![0]!.message).toBe('Fields are nested deeper than 20 levels.');
  });

  test('include the depth of fragments', async () => {
    const spread = `{ exerciseCategory(id: 1) { ...a } }
      fragment a on ExerciseCategory { ${selectionOfDepth(10)} exercises(first: 1) { nodes { category { ...b } } } }
      fragment b on ExerciseCategory { ${selectionOfDepth(19)} }`;

    expect((await ask(spread)).errors![0]!.message).toBe(
      'Fields are nested deeper than 20 levels.',
    );
    const inline = `{ exerciseCategory(id: 1) { ... on ExerciseCategory { ${selectionOfDepth(20)} } } }`;

    expect((await ask(inline)).errors![0]!.message).toBe(
      'Fields are nested deeper than 20 levels.',
    );
  });

  test('reject cyclic fragments', async () => {
    const answer = await ask(
      '{ exerciseCategory(id: 1) { ...a } } fragment a on ExerciseCategory { exercises(first: 1) { nodes { category { ...a } } } }',
    );

    expect(answer).toMatchObject({ status: 400, code: 'GRAPHQL_VALIDATION_FAILED' });
  });

  test('reject a document of more than 10,000 tokens', async () => {
    const answer = await ask(`{ ${'__typename '.repeat(10_001)} }`);

    expect(answer.status).toBe(400);
    expect(answer.errors![0]!.message).toMatch(/token/i);
  });

  test('reject a body that is too large with 413', async () => {
    const answer = await ask(`{ __typename } # ${'x'.repeat(6_000_000)}`);

    expect(answer.status).toBe(413);
  });

  test('allow introspection by anonymous clients', async () => {
    const { data } = await fitgraph.anonymous.query(
      '{ __schema { queryType { name } types { name } } }',
    );

    expect(data.__schema.types.map(({ name }: any) => name)).toContain('Exercise');
  });

  test('reject requests that a browser sends cross-site without a preflight', async () => {
    const simple = await fitgraph.anonymous
      .withHeaders({ 'Content-Type': 'text/plain' })
      .send('POST', '/graphql', '{"query":"{ __typename }"}');

    expect(simple.status).toBeGreaterThanOrEqual(400);
    expect((await fitgraph.anonymous.send('GET', '/graphql?query=%7B__typename%7D')).status).toBe(
      400,
    );
  });
});

describe('node ids', () => {
  test('resolve to their row', async () => {
    const { exercises } = await fitgraph.anonymous.ask(
      '{ exercises { nodes { nodeId name category { nodeId name } } } }',
    );

    for (const { nodeId, name, category } of exercises.nodes) {
      const document =
        'query ($nodeId: ID!) { node(nodeId: $nodeId) { __typename nodeId ... on Exercise { name } ... on ExerciseCategory { name } } }';

      expect((await fitgraph.anonymous.ask(document, { nodeId })).node).toEqual({
        __typename: 'Exercise',
        nodeId,
        name,
      });
      expect((await fitgraph.anonymous.ask(document, { nodeId: category.nodeId })).node).toEqual({
        __typename: 'ExerciseCategory',
        ...category,
      });
    }
  });

  test('have one canonical encoding; any other is rejected', () => {
    const id = nodeIdOf('Exercise', 12);

    expect(parseNodeId(id)).toEqual({ type: 'Exercise', id: '12' });

    for (const other of [
      `${id}=`,
      ` ${id}`,
      `${id}A`,
      '',
      'x',
      nodeIdOf('Exercise', '1 OR 1'),
      nodeIdOf('', 1),
    ]) {
      expect(parseNodeId(other)).toBeUndefined();
    }
  });
});

test('reads, updates and deletes a row by id or nodeId, but not by a nodeId of another type', async () => {
  const ann = await fitgraph.user('ann');
  const { made } = await ann.ask(
    'mutation { made: createWorkout(input: { name: "by name" }) { workout { id nodeId } } }',
  );
  const { id, nodeId } = made.workout;
  const one = async (name: string) =>
    (await ann.query('query ($id: ID!) { workout(id: $id) { name } }', { id: name })).data.workout;

  expect([await one(id), await one(nodeId)]).toEqual([{ name: 'by name' }, { name: 'by name' }]);
  const update = `mutation ($id: ID!, $input: WorkoutPatch!) { one: updateWorkout(id: $id, input: $input) { workout { name } errors { path code } } }`;

  expect((await ann.ask(update, { id: nodeId, input: { name: 'changed' } })).one.workout).toEqual({
    name: 'changed',
  });
  const remove =
    'mutation ($id: ID!) { gone: deleteWorkout(id: $id) { deletedIds deletedNodeIds errors { path code } } }';
  const other = nodeIdOf('Schedule', id);

  expect(await one(other)).toBeNull();
  const errors = [{ path: ['id'], code: 'INVALID' }];

  expect(await ann.ask(update, { id: other, input: {} })).toEqual({
    one: { workout: null, errors },
  });
  expect(await ann.ask(remove, { id: other })).toEqual({
    gone: { deletedIds: [], deletedNodeIds: [], errors },
  });
  expect((await ann.get(`/workout/${nodeId}/`)).status).toBe(404);
  expect((await ann.delete(`/workout/${nodeId}/`)).status).toBe(404);
  expect(await ann.ask(remove, { id: nodeId })).toEqual({
    gone: { deletedIds: [id], deletedNodeIds: [nodeId], errors: [] },
  });
  expect(await one(id)).toBeNull();
});

test('shows the writes of earlier fields to later fields of the same mutation', async () => {
  const ann = await fitgraph.user('ann');
  const { id: workout } = (await ann.post('/workout/', {})).body;
  const create = (day: number) =>
    `createWorkoutSession(input: { workoutId: ${workout}, date: "2021-01-0${day}" }) { workoutSession { id workout { sessions { totalCount } } } }`;
  const {
    one: { workoutSession: one },
    two: { workoutSession: two },
  } = await ann.ask(`mutation { one: ${create(1)} two: ${create(2)} }`);

  expect([one.workout.sessions.totalCount, two.workout.sessions.totalCount]).toEqual([1, 2]);
  const remove = (id: string) => `deleteWorkoutSession(id: ${id}) { deletedIds }`;

  expect(await ann.ask(`mutation { a: ${remove(one.id)} b: ${remove(two.id)} }`)).toEqual({
    a: { deletedIds: [one.id] },
    b: { deletedIds: [two.id] },
  });
  await ann.delete(`/workout/${workout}/`);
});

test('keeps aliases of the same list with different arguments apart', async () => {
  const document = `{ a: exercises(first: 1) { nodes { name } } b: exercises(first: 1, offset: 1) { nodes { name } } c: exercises { totalCount } }`;

  expect(await fitgraph.anonymous.ask(document)).toEqual({
    a: { nodes: [{ name: 'Squat' }] },
    b: { nodes: [{ name: 'Bench press' }] },
    c: { totalCount: 3 },
  });
});

test('reads fields in fragments and with @skip and @include', async () => {
  const document = `query ($yes: Boolean!, $no: Boolean!) {
    exercise(id: 1) { ...names category { ... on ExerciseCategory { name } } uuid @skip(if: $yes) licenseId @include(if: $no) }
  } fragment names on Exercise { name muscles { name } }`;

  expect((await fitgraph.anonymous.ask(document, { yes: true, no: false })).exercise).toEqual({
    name: 'Squat',
    muscles: [{ name: 'Quadriceps femoris' }],
    category: { name: 'Legs' },
  });
  expect((await fitgraph.anonymous.ask(document, { yes: false, no: true })).exercise).toMatchObject(
    {
      uuid: '00000001-0000-4000-8000-000000000001',
      licenseId: '2',
    },
  );
});
