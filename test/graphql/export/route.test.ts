/**
 * Exports of lists as files: contents, format, access and rejected requests. pages.test.ts compares
 * their rows with pages.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Visitor } from '../../setup/visitor';
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../../setup/fitgraph';
import { Person } from '../../setup/person';
import { exporterOf, readFile, type ExportRequest } from './exported';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let file: ReturnType<typeof exporterOf>;

const COMMENTS = ['plain', 'a, b', 'said "so"', 'two\r\nlines', '', ' padded ', 'Möhre'];

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  file = exporterOf(fitgraph.url);

  for (const comment of COMMENTS) {
    await fitgraph.sql(
      `INSERT INTO "workout" ("creation_date", "comment", "user_id") VALUES ('2021-03-08', $1, $2)`,
      [comment, ann.id],
    );
  }

  const { id } = (await ann.post('/workout/', { comment: 'logged' })).body;

  for (const [date, exercise, reps, weight] of [
    ['2021-03-08', 1, 5, '100.00'],
    ['2021-03-09', 1, 3, '110.00'],
    ['2021-03-16', 2, 8, '60.00'],
  ]) {
    expect(
      (await ann.post('/workoutlog/', { date, exercise, reps, weight, workout: id })).status,
    ).toBe(201);
  }
});

const WORKOUTS = 'query Plans { workouts(orderBy: [{ id: ASC }]) { nodes { name } } }';

describe('an exported file', () => {
  test('has columns in selection order, with aliases and dotted names of nested fields', async () => {
    const query = `{ workoutLogs(orderBy: [{ date: ASC }]) { totalCount nodes {
      kg: weight date exercise { name of: category { name } } ...rest } } } fragment rest on WorkoutLog { reps exercise { id } }`;
    const { status, headers, text } = await file(ann, { query });

    expect([status, text]).toEqual([
      200,
      [
        'kg,date,exercise.name,exercise.of.name,exercise.id,reps',
        '100.00,2021-03-08,Squat,Legs,1,5',
        '110.00,2021-03-09,Squat,Legs,1,3',
        text.split('\r\n')[3],
        '',
      ].join('\r\n'),
    ]);
    expect(text.split('\r\n')[3]).toMatch(/^60\.00,2021-03-16,[^,]+,[^,]+,2,8$/);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(headers.get('content-disposition')).toBe('attachment; filename="workoutLogs.csv"');
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('ratelimit')).toMatch(/^"cost";r=\d+/);
  });

  test('may cost as much through `node` as directly', async () => {
    const limited = await Fitgraph.start({
      sameDatabaseAs: fitgraph,
      environment: { MAX_COST: '3000' },
    });

    try {
      const exporter = exporterOf(limited.url);
      const nodeId = (await ann.ask('{ exerciseCategory(id: 1) { nodeId } }')).exerciseCategory
        .nodeId;
      const ways = [
        (list: string) => `{ exerciseCategory(id: 1) { ${list} } }`,
        (list: string) => `{ node(nodeId: "${nodeId}") { ... on ExerciseCategory { ${list} } } }`,
      ];
      const inBothWays = (list: string) =>
        Promise.all(ways.map((way) => exporter(ann, { query: way(list) }, 'jsonl')));
      const expensive = await inBothWays(
        'exercises { nodes { name category { exercises(first: 10000) { nodes { name } } } } }',
      );

      expect(expensive.map(({ error }) => error?.extensions.code)).toEqual([
        'COST_LIMIT',
        'COST_LIMIT',
      ]);
      const [direct, byNode] = await inBothWays('exercises { nodes { name } }');

      expect([byNode!.status, byNode!.text]).toEqual([200, direct!.text]);
    } finally {
      await limited.stop();
    }
  });

  test('reads smaller pages if one exceeds the limits of a response', async () => {
    const limited = await Fitgraph.start({
      sameDatabaseAs: fitgraph,
      environment: { MAX_RESPONSE_BYTES: '20000' },
    });

    try {
      const cy = await fitgraph.user('cy');

      await fitgraph.sql(
        `INSERT INTO "workout" ("creation_date", "comment", "user_id") SELECT current_date, repeat('x', 80), $1 FROM generate_series(1, 400)`,
        [cy.id],
      );
      const { status, text } = await exporterOf(limited.url)(
        cy,
        { query: `{ workouts { nodes { ${'a'.repeat(60)}: name ${'b'.repeat(60)}: id } } }` },
        'jsonl',
      );

      expect([status, text.trim().split('\n').length]).toEqual([200, 400]);
    } finally {
      await limited.stop();
    }
  });

  test('is rejected if the type of an object decides which of several lists it contains', async () => {
    const { nodeId } = (await ann.ask('{ exerciseCategory(id: 1) { nodeId } }')).exerciseCategory;
    const query = `{ node(nodeId: "${nodeId}") { ... on Equipment { exercises { nodes { name } } } ... on ExerciseCategory { exercises { nodes { name } } } } }`;
    const { status, error } = await file(ann, { query }, 'jsonl');

    expect([status, error?.message]).toEqual([
      400,
      'Invalid input: node.exercises: A file contains one list. Select this field on one type, not on `Equipment` and `ExerciseCategory`.',
    ]);
  });

  test('has all rows, whatever the alias of their list', async () => {
    const erin = await fitgraph.user('erin');

    await fitgraph.sql(
      `INSERT INTO "workout" ("creation_date", "comment", "user_id") SELECT '2021-03-08', 'many', $1 FROM generate_series(1, 600)`,
      [erin.id],
    );
    const { records } = await file(erin, {
      query: '{ workouts { exportedPage: nodes { name } } }',
    });

    expect(records).toHaveLength(601);
  });

  test('quotes values so that a CSV parser restores the stored ones', async () => {
    const { records, text, headers } = await file(ann, { query: WORKOUTS });

    expect(records.flat()).toEqual(['name', ...COMMENTS, 'logged']);
    expect(text).toBe(
      `name\r\nplain\r\n"a, b"\r\n"said ""so"""\r\n"two\r\nlines"\r\n""\r\n padded \r\nMöhre\r\nlogged\r\n`,
    );
    expect(headers.get('content-disposition')).toBe('attachment; filename="Plans.csv"');
  });

  test('has a byte order mark only with bom=1', async () => {
    const marked = await file(ann, { query: WORKOUTS, bom: 1 });

    expect(marked.text.startsWith('\uFEFFname\r\n')).toBe(true);
    expect((await file(ann, { query: WORKOUTS, bom: 0 })).text).toBe(marked.text.slice(1));
    expect((await file(ann, { query: WORKOUTS, bom: 'yes' })).error!.extensions).toEqual({
      code: 'BAD_USER_INPUT',
      inputErrors: [{ path: ['bom'], message: 'Must be `0` or `1`.' }],
    });
  });

  test('is rejected if a parameter is unknown, in the URL or in the body', async () => {
    const { status, error } = await file(ann, { query: WORKOUTS, limit: 5 });

    expect([status, error?.extensions]).toEqual([
      400,
      {
        code: 'BAD_USER_INPUT',
        inputErrors: [
          {
            path: ['limit'],
            message: expect.stringMatching(
              /^Unknown parameter\. The URL of this export has .*`query`.*`bom`/,
            ),
          },
        ],
      },
    ]);

    const rejectedPath = async (urlParameters: ExportRequest, body: object, format = 'csv') => {
      const posted = await file(ann, urlParameters, format, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });

      return [posted.status, posted.error?.extensions.inputErrors[0].path];
    };

    expect(await rejectedPath({}, { query: WORKOUTS, separator: ';' })).toEqual([
      400,
      ['separator'],
    ]);

    // The operation of a POST is in its body, so the URL has only parameters of the format.
    for (const name of ['query', 'variables', 'operationName', 'extensions', 'id', 'documentId']) {
      expect(await rejectedPath({ [name]: '{}' }, { query: WORKOUTS })).toEqual([400, [name]]);
    }

    expect(await rejectedPath({ bom: '1' }, { query: WORKOUTS }, 'jsonl')).toEqual([400, ['bom']]);
  });

  test('has an empty cell for null, and a quoted one if the row has no other value', async () => {
    const query = '{ logs: workoutLogs(first: 1) { nodes { rir session { notes } date } } }';

    expect((await file(ann, { query })).text).toBe('rir,session.notes,date\r\n,,2021-03-08\r\n');
    expect((await file(ann, { query: query.replace('rir', '').replace('date }', '}') })).text).toBe(
      'session.notes\r\n""\r\n',
    );
  });

  test.each([
    ['=1+1', `'=1+1`],
    ['+49 30 1', `'+49 30 1`],
    ['-', `'-`],
    ['-5+1', `'-5+1`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['\tx', `'\tx`],
    ['\rx', `'\rx`],
    ['＝1', `'＝1`],
    [' =1+1', `' =1+1`],
    ['\t=1+1', `'\t=1+1`],
    ['\u00a0\u200b\u0001@SUM(A1)', `'\u00a0\u200b\u0001@SUM(A1)`],
    ['x; =1+1', `x;' =1+1`],
    [' -5', `' -5`],
    [' x', ' x'],
    ['-5', '-5'],
    ['-5.25', '-5.25'],
    ['- '.repeat(30), `'${'- '.repeat(30)}`],
    ['a=1', 'a=1'],
    ['x;=1+1', `x;'=1+1`],
    ['x;"@SUM(A1)', `x;"'@SUM(A1)`],
    ['=1;-x;+y', `'=1;'-x;'+y`],
    ['x\n=1+1;y', `x\n'=1+1;y`],
    ['x\r\nyz', 'x\r\nyz'],
    ['x; y', 'x; y'],
  ])(
    'has the text %j as %j, so that spreadsheets do not run it as a formula',
    async (comment, cell) => {
      const bob = await fitgraph.user(
        `bob-${comment.charCodeAt(0)}-${comment.length}-${cell.length}`,
      );

      await fitgraph.sql(
        `INSERT INTO "workout" ("creation_date", "comment", "user_id") VALUES ('2021-03-08', $1, $2)`,
        [comment, bob.id],
      );
      const query = '{ workouts { nodes { name id } } }';

      expect((await file(bob, { query })).records[1]![0]).toBe(cell);
      // JSON Lines contains the stored value, because it is read by programs.
      expect((await file(bob, { query }, 'jsonl')).rows[0].name).toBe(comment);
    },
  );

  test('in JSON Lines has each row as GraphQL returns it', async () => {
    const nodes = 'nodes { name logs(first: 1) { nodes { reps exercise { name } } } }';
    const { rows, headers } = await file(ann, { query: `{ workouts { ${nodes} } }` }, 'jsonl');

    expect(rows).toEqual((await ann.ask(`{ workouts { ${nodes} } }`)).workouts.nodes);
    expect(headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="workouts.jsonl"');
  });

  test('has list values joined in one cell, and a column for each field of listed objects', async () => {
    const query =
      '{ exercises(where: { id: { eq: 1 } }) { nodes { muscleIds muscles { name id } } } }';
    const [exercise] = (await ann.ask(query)).exercises.nodes;

    expect(exercise.muscles.length).toBeGreaterThan(0);
    const cell = (values: string[]) => values.join('; ');

    expect((await file(ann, { query })).records).toEqual([
      ['muscleIds', 'muscles.name', 'muscles.id'],
      [
        cell(exercise.muscleIds),
        cell(exercise.muscles.map(({ name }: any) => name)),
        cell(exercise.muscles.map(({ id }: any) => id)),
      ],
    ]);
  });

  test('has one line per group of a grouped list', async () => {
    const query = `{ workoutLogsGrouped(groupBy: [{ date: { by: WEEK } }], orderBy: [{ statistic: { name: COUNT, direction: DESC } }]) {
    keys { week: dateBucket { start } } count max { weight } } }`;

    expect((await file(ann, { query })).records).toEqual([
      ['keys.week.start', 'count', 'max.weight'],
      ['2021-03-08', '2', '110.00'],
      ['2021-03-15', '1', '60.00'],
    ]);
  });

  test('has the newest rows of a series inside each row of an exported series', async () => {
    const query =
      '{ bestOneRepMaxes(from: "2021-01-01") { date exercise { trainingVolume(by: DAY, last: 1) { bucket { start } } } } }';
    const { rows } = await file(ann, { query }, 'jsonl');

    expect(rows).toEqual((await ann.ask(query)).bestOneRepMaxes);
    expect(
      rows.map(({ date, exercise }) => [date, exercise.trainingVolume[0].bucket.start]),
    ).toEqual([
      ['2021-03-08', '2021-03-09'],
      ['2021-03-09', '2021-03-09'],
      ['2021-03-16', '2021-03-16'],
    ]);
  });

  test('may have the rows of a list below a single row, or of an unpaged list', async () => {
    const [{ id }] = (
      await ann.ask('{ workouts(where: { name: { eq: "logged" } }) { nodes { id } } }')
    ).workouts.nodes;
    const query =
      'query ($id: ID!) { workout(id: $id) { logs(orderBy: [{ reps: DESC }], first: 2) { edges { node { reps } cursor } } } }';
    const { records } = await file(ann, { query, variables: { id } });

    expect(records[0]).toEqual(['node.reps', 'cursor']);
    expect(records.slice(1).map(([reps]) => reps)).toEqual(['8', '5']);
    const { records: names } = await file(ann, {
      query: '{ __type(name: "WorkoutImpression") { enumValues { name } } }',
    });

    expect(names).toEqual([['name'], ['BAD'], ['NEUTRAL'], ['GOOD']]);
  });

  test('has only the rows selected by `first`, `offset`, `after` and `before`', async () => {
    const ids = async (args: string) =>
      (
        await file(ann, { query: `{ workouts(orderBy: [{ id: ASC }]${args}) { nodes { name } } }` })
      ).records
        .slice(1)
        .flat();

    expect(await ids(', first: 2, offset: 1')).toEqual(COMMENTS.slice(1, 3));
    const page = await ann.ask(
      '{ workouts(orderBy: [{ id: ASC }], first: 6) { pageInfo { endCursor } } }',
    );

    expect(await ids(`, after: "${page.workouts.pageInfo.endCursor}"`)).toEqual([
      'Möhre',
      'logged',
    ]);
    expect(await ids(`, before: "${page.workouts.pageInfo.endCursor}", offset: 3`)).toEqual(
      COMMENTS.slice(3, 5),
    );
    expect(await ids(', first: 0')).toEqual([]);
  });

  test('has only the columns that a variable includes, for the named operation', async () => {
    const query = `query A($all: Boolean!) { workouts(first: 1) { nodes { id @include(if: $all) name } } } query B { workouts { totalCount } }`;
    const header = async (all: boolean) =>
      (await file(ann, { query, variables: { all }, operationName: 'A' })).records[0];

    expect([await header(true), await header(false)]).toEqual([['id', 'name'], ['name']]);
    expect((await file(ann, { query })).error!.extensions.code).toBe(
      'OPERATION_RESOLUTION_FAILURE',
    );
  });

  test('is returned for POST, described for HEAD and rejected for PUT', async () => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Token ${ann.token}` };
    const body = JSON.stringify({
      query: 'query ($n: Int) { workouts(first: $n) { nodes { name } } }',
      variables: { n: 1 },
    });
    const sent = await readFile(
      await fetch(`${fitgraph.url}/graphql/export.csv?bom=1`, { method: 'POST', headers, body }),
    );

    expect([sent.status, sent.text]).toEqual([200, '\uFEFFname\r\nlogged\r\n']);
    expect(sent.headers.get('x-accel-buffering')).toBe('no');
    const head = await file(ann, { query: WORKOUTS }, 'csv', { method: 'HEAD' });

    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([
      200,
      '',
      'text/csv; charset=utf-8; header=present',
    ]);
    const put = await file(ann, { query: WORKOUTS }, 'csv', { method: 'PUT' });

    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
  });
});

describe('access to an exported file', () => {
  test('is granted to a READ token and a session, and to anonymous clients for the catalogue', async () => {
    const create =
      'mutation ($s: [TokenScope!]!, $n: String!) { t: createAccessToken(name: $n, scopes: $s) { token } }';
    const clientWithScopes = async (...s: string[]) =>
      new Person(fitgraph.url, {
        id: ann.id,
        token: (await ann.ask(create, { s, n: s.join() })).t.token,
      });

    expect((await file(await clientWithScopes('READ'), { query: WORKOUTS })).records).toHaveLength(
      COMMENTS.length + 2,
    );
    expect(await file(await clientWithScopes('WRITE_BODY'), { query: WORKOUTS })).toMatchObject({
      status: 403,
      error: { extensions: { code: 'FORBIDDEN' } },
    });
    const visitor = new Visitor(fitgraph.url);

    await visitor.signIn('ann', PASSWORD);
    const page = await visitor.get(`/graphql/export.csv?query=${encodeURIComponent(WORKOUTS)}`);

    expect([page.status, page.text.split('\r\n')[0]]).toEqual([200, 'name']);
    expect(
      (await file(undefined, { query: '{ exercises { nodes { name } } }' })).records.length,
    ).toBeGreaterThan(3);
  });

  test('is denied without a valid token, and does not extend to rows of other users', async () => {
    expect(await file(undefined, { query: WORKOUTS })).toMatchObject({
      status: 401,
      error: { extensions: { code: 'UNAUTHENTICATED' } },
    });
    const wrong = new Person(fitgraph.url, { id: 0, token: 'f'.repeat(40) });

    expect((await file(wrong, { query: WORKOUTS })).status).toBe(401);
    const bob = await fitgraph.user('bob');

    expect((await file(bob, { query: WORKOUTS })).text).toBe('name\r\n');
    const [{ id }] = (await ann.ask('{ workouts { nodes { id } } }')).workouts.nodes;
    const hers = 'query ($id: ID!) { workout(id: $id) { logs { nodes { reps } } } }';

    expect(await file(bob, { query: hers, variables: { id } })).toMatchObject({
      status: 404,
      error: { path: ['workout', 'logs', 'nodes'], extensions: { code: 'NOT_FOUND' } },
    });
  });
});

describe('an export request', () => {
  test.each([
    ['{ workouts { nodes { name } } viewer { username } }', ['viewer']],
    ['{ viewer { username } }', ['viewer', 'username']],
    ['{ workouts { totalCount } }', ['workouts']],
    ['{ workouts { nodes { id } more: nodes { name } } }', ['workouts', 'more']],
    ['{ workouts { nodes { name logs { nodes { reps } } } } }', ['workouts', 'nodes', 'logs']],
    [
      '{ workouts { nodes { name inner: logsGrouped { count } } } }',
      ['workouts', 'nodes', 'inner'],
    ],
    ['{ workouts(last: 3) { nodes { name } } }', ['last']],
    ['{ workouts @skip(if: true) { nodes { name } } }', ['query']],
    ['mutation { deleteWorkout(id: "1") { deletedIds } }', ['query']],
  ])('is rejected for %s, naming the field %j', async (query, path) => {
    const { status, error, headers } = await file(ann, { query });

    expect([status, error!.extensions]).toEqual([
      400,
      { code: 'BAD_USER_INPUT', inputErrors: [{ path, message: expect.any(String) }] },
    ]);
    expect(error!.message).toContain(`Invalid input: ${path.join('.')}: `);
    expect(headers.get('content-disposition')).toBeNull();
    expect(headers.get('cache-control')).toBe('private, no-store');
  });

  test.each([
    [{ query: '{ workouts { nodes { nothing } } }' }, 400, 'GRAPHQL_VALIDATION_FAILED'],
    [{ query: '{ workouts {' }, 400, 'GRAPHQL_PARSE_FAILED'],
    [{}, 400, 'BAD_USER_INPUT'],
    [{ query: WORKOUTS, variables: '{' }, 400, 'BAD_USER_INPUT'],
    [{ query: WORKOUTS, variables: '[1]' }, 400, 'BAD_USER_INPUT'],
    [{ query: 'query ($n: Int!) { workouts(first: $n) { nodes { id } } }' }, 400, 'BAD_USER_INPUT'],
    [{ query: '{ workouts(first: -1) { nodes { id } } }' }, 400, 'BAD_USER_INPUT'],
    [{ query: '{ workouts(after: "x") { nodes { id } } }' }, 400, 'BAD_USER_INPUT'],
    [{ query: 'mutation { signOutEverywhere { id } }' }, 400, 'GRAPHQL_VALIDATION_FAILED'],
    [{ query: 'mutation { deleteWorkout(id: "1") { deletedIds } }' }, 400, 'BAD_USER_INPUT'],
    [{ id: 'unknown' }, 400, 'PERSISTED_QUERY_NOT_FOUND'],
  ])('is rejected for %j with %i %s', async (parameters, status, code) => {
    const { error, ...answer } = await file(ann, parameters);

    expect([answer.status, error!.extensions.code]).toEqual([status, code]);
  });

  test('is rejected with the name of the missing parameter', async () => {
    const { status, error } = await file(ann, {});

    expect([status, error!.extensions.inputErrors[0].path]).toEqual([400, ['query']]);
  });

  test.each(['id', 'id @skip(if: true)'])(
    'is rejected when nested fragments make thousands of columns: %s',
    async (leaf) => {
      // Each level multiplies the number of columns by eight.
      const fragmentOfLevel = (level: number) =>
        `fragment F${level} on Ingredient { ${[...'abcdefgh'].map((alias) => `${alias}: units { ingredient { ...F${level + 1} } }`).join(' ')} }`;

      const reject = async (levels: number) => {
        const fragments = Array.from({ length: levels }, (_, level) => fragmentOfLevel(level)).join(
          ' ',
        );
        const query = `{ ingredients(first: 1) { nodes { ...F0 } } } ${fragments} fragment F${levels} on Ingredient { ${leaf} }`;
        const { status, text } = await file(ann, { query });

        return [status, JSON.parse(text).errors[0].message];
      };

      expect(await reject(4)).toEqual([
        400,
        'Invalid input: query: A row of a file can have at most 1000 fields, including those of nested objects.',
      ]);
      expect(await reject(8)).toEqual([
        400,
        expect.stringMatching(/^Validation would take more than/),
      ]);
    },
  );

  test('is rejected when the body of a POST is not a JSON object', async () => {
    const Authorization = `Token ${ann.token}`;

    for (const [type, body] of [
      ['text/plain', WORKOUTS],
      ['application/json', '[]'],
    ]) {
      const answer = await fetch(`${fitgraph.url}/graphql/export.csv`, {
        method: 'POST',
        headers: { 'Content-Type': type!, Authorization },
        body,
      });

      expect([answer.status, (await readFile(answer)).error!.extensions.code]).toEqual([
        400,
        'BAD_REQUEST',
      ]);
    }
  });
});

test('exports a trusted document by its id, and no other query with PERSISTED_ONLY', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-stored-'));

  fs.writeFileSync(
    path.join(folder, 'relay.json'),
    JSON.stringify({ plans: 'query Plans($n: Int) { workouts(first: $n) { nodes { name } } }' }),
  );
  const other = await Fitgraph.start({
    sameDatabaseAs: fitgraph,
    environment: { PERSISTED_OPERATIONS: folder, PERSISTED_ONLY: 'on' },
  });

  try {
    const stored = exporterOf(other.url);

    expect((await stored(ann, { id: 'plans', variables: { n: 1 } })).text).toBe(
      'name\r\nlogged\r\n',
    );
    expect((await stored(ann, { query: WORKOUTS })).error!.extensions.code).toBe(
      'PERSISTED_QUERY_ONLY',
    );
    const linksOf = async (url: string) =>
      (await new Visitor(url, { Accept: 'text/html' }).get('/api/v2/exercise/')).text;

    expect(await linksOf(fitgraph.url)).toContain('/graphql/export.csv?');
    expect(await linksOf(other.url)).not.toContain('/graphql/export.csv?');
  } finally {
    await other.stop();
    fs.rmSync(folder, { recursive: true });
  }
});
