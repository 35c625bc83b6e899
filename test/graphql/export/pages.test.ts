/**
 * An exported file has the same rows as the paged list. They are read from the database only as
 * fast as the client receives them.
 */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { getNamedType, isEnumType, isInputObjectType, isNonNullType, isObjectType } from 'graphql';
import type { GraphQLArgument, GraphQLObjectType } from 'graphql';
import { Client } from 'pg';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { populate, SIZE } from '../../setup/rows-of-every-type';
import { randomFor, seeded, type Random } from '../../setup/random';
import { exportPath, exporterOf } from './exported';
import { until } from '../../setup/waits';

const running: Fitgraph[] = [];

afterAll(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

async function startServer(options: Parameters<typeof Fitgraph.start>[0]): Promise<Fitgraph> {
  const one = await Fitgraph.start(options);

  running.push(one);
  return one;
}

describe('random selections', () => {
  const FILES = 80;

  /** Random generator of the current file. */
  let random: Random;
  const schema = buildGraphQLSchema();
  const pagedOf = (args: readonly GraphQLArgument[]) =>
    ['first', 'after'].every((name) => args.some((argument) => argument.name === name));
  const lists = Object.values(schema.getQueryType()!.getFields()).filter(
    ({ name, args }) =>
      pagedOf(args) &&
      // Excludes analyses, which have one fixed order.
      args.some((argument) => argument.name === 'orderBy') &&
      !args.some(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined) &&
      !name.endsWith('Grouped'),
  );

  /** Draws a selection of fields of a type, and returns it with the columns of its file. */
  function selection(type: GraphQLObjectType, depth: number): { text: string; columns: string[] } {
    const columns: string[] = [];
    const parts: string[] = [];
    const fields = Object.values(type.getFields()).filter(
      ({ name, args }) =>
        !pagedOf(args) &&
        !name.endsWith('Grouped') &&
        !args.some(({ type: one }) => isNonNullType(one)),
    );
    const leafFields = fields.filter((field) => !isObjectType(getNamedType(field.type)));
    // Ensures at least one column, if the type has leaf fields.
    const chosen = [
      ...random.some(leafFields, 1),
      ...Array.from({ length: random.int(0, 3) }, () => random.pick(fields)),
    ];

    for (const field of random.shuffled(chosen)) {
      const inner = getNamedType(field.type);
      const key = random.chance(0.2) ? `a${random.int(1, 9)}x${parts.length}` : field.name;

      if (parts.some((part) => part.startsWith(`${key}:`))) continue;

      if (!isObjectType(inner)) {
        parts.push(`${key}: ${field.name}`);
        columns.push(key);
      } else if (depth > 0) {
        const nestedSelection = selection(inner, depth - 1);

        if (!nestedSelection.columns.length) continue;
        parts.push(`${key}: ${field.name} { ${nestedSelection.text} }`);
        columns.push(...nestedSelection.columns.map((column) => `${key}.${column}`));
      }
    }

    return { text: parts.join(' '), columns };
  }

  function argumentsOf(args: readonly GraphQLArgument[]): string {
    const order = getNamedType(args.find(({ name }) => name === 'orderBy')!.type);
    const terms = isInputObjectType(order)
      ? Object.values(order.getFields()).filter(
          ({ name, type }) => isEnumType(getNamedType(type)) && name !== 'relevance',
        )
      : [];
    const ordered = random.chance(0.6)
      ? `, orderBy: [{ ${random.pick(terms as [(typeof terms)[0]]).name}: ${random.pick(['ASC', 'DESC'])} }]`
      : '';

    return (
      ordered +
      (random.chance(0.3) ? `, where: { not: { id: { eq: "${random.int(1, 10)}" } } }` : '')
    );
  }

  const joined = (value: unknown, path: readonly string[]): string => {
    if (value === null || value === undefined) return '';
    if (Array.isArray(value)) return value.map((one) => joined(one, path)).join('; ');

    return path.length
      ? joined((value as Record<string, unknown>)[path[0]!], path.slice(1))
      : String(value as string);
  };

  const cell = (row: unknown, column: string) => {
    const text = joined(row, column.split('.'));

    return /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  };

  async function readAllPages(
    person: Person,
    list: string,
    args: string,
    nodes: string,
  ): Promise<unknown[]> {
    const rows: unknown[] = [];

    for (let after = 'null', more = true; more;) {
      const { page } = await person.ask(
        `{ page: ${list}(first: 5, after: ${after}${args}) { ${nodes} pageInfo { hasNextPage endCursor } } }`,
      );

      rows.push(...page.nodes);
      after = JSON.stringify(page.pageInfo.endCursor);
      more = page.pageInfo.hasNextPage;
    }

    return rows;
  }

  test(seeded('give the same rows in pages, as CSV and as JSON Lines'), async () => {
    const fitgraph = await startServer({ content: 'tables' });
    const [ann] = await populate(fitgraph, 'files');
    const file = exporterOf(fitgraph.url);
    const seen = { rows: 0, lists: new Set<string>() };

    for (let number = 0; number < FILES; number += 1) {
      const list = lists[number % lists.length]!;

      random = randomFor(`file ${Math.floor(number / lists.length)} of ${list.name}`);
      const connection = getNamedType(list.type) as GraphQLObjectType;
      const { text, columns } = selection(
        getNamedType(connection.getFields().nodes!.type) as GraphQLObjectType,
        2,
      );
      const [args, nodes] = [argumentsOf(list.args), `nodes { ${text} }`];
      const rows = await readAllPages(ann, list.name, args, nodes);
      const query = `{ ${list.name}${args && `(${args.slice(2)})`} { ${nodes} } }`;
      const lines = await file(ann, { query }, 'jsonl');

      expect([query, lines.rows]).toEqual([query, rows]);
      const { records } = await file(ann, { query });

      expect([query, records]).toEqual([
        query,
        [columns, ...rows.map((row) => columns.map((column) => cell(row, column)))],
      ]);
      seen.rows += rows.length;
      seen.lists.add(list.name);
    }

    expect(seen.lists.size).toBe(lists.length);
    // Most files are not empty, although unpublished rows are not listed and a condition may
    // exclude rows.
    expect(seen.rows).toBeGreaterThan((FILES * SIZE) / 2);

    for (const by of [
      '{ date: { by: DAY } }',
      '{ field: EXERCISE_CATEGORY }',
      '{ reps: { width: 2 } }',
    ]) {
      const groups = (first: string) =>
        `{ groups: workoutLogsGrouped(groupBy: [${by}]${first}) { count keys { exercise { name } date reps } max { weight } } }`;
      const all = (await ann.ask(groups(', first: 10000'))).groups;

      expect((await file(ann, { query: groups('') }, 'jsonl')).rows).toEqual(all);
      expect((await file(ann, { query: groups(', first: 3, offset: 1') }, 'jsonl')).rows).toEqual(
        all.slice(1, 4),
      );
    }
  });
});

describe('a large export', () => {
  const ROWS = 20_000;
  const PAGE = 250;
  const fitgraph = fitgraphForThisFile();
  let ann: Person;
  let blocker: Client;

  beforeAll(async () => {
    ann = await fitgraph.user('ann');
    await fitgraph.sql(
      `INSERT INTO "workout" ("creation_date", "comment", "user_id") SELECT date '2021-01-01' + n % 50, repeat('x', 94) || n, $1 FROM generate_series(10001, $2) n`,
      [ann.id, 10_000 + ROWS],
    );
    blocker = new Client(fitgraph.database.options.connection);
    await blocker.on('error', () => undefined).connect();
  });
  afterEach(() => blocker.query('ROLLBACK'));
  afterAll(() => blocker.end());

  const IDS = '{ workouts(orderBy: [{ createdOn: DESC }]) { nodes { id } } }';

  /**
   * A query whose file has 40 MB, more than fits into the buffers between the server and a client
   * that does not read.
   */
  const WIDE = `{ workouts { nodes { ${Array.from({ length: 20 }, (_, index) => `c${index}: name`).join(' ')} } } }`;

  /** Returns the log entries of export requests. */
  const exportLogEntries = (at: Fitgraph): { statements: number; user: number }[] =>
    at.logged
      .map((line) => JSON.parse(line))
      .filter(({ path }) => path?.startsWith('/graphql/export'));

  /** Sends a request and resolves with the response once its headers have arrived. */
  function startExport(
    person: Person,
    query: string,
    url = fitgraph.url,
  ): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { Authorization: `Token ${person.token}` };

      http.get(url + exportPath({ query }), { headers, agent: false }, resolve).on('error', reject);
    });
  }

  /** Reads the response until it ends or the connection breaks. */
  async function readToEnd(
    response: http.IncomingMessage,
  ): Promise<{ bytes: number; broken: boolean }> {
    let bytes = 0;

    try {
      for await (const chunk of response) bytes += (chunk as Buffer).length;
    } catch {
      return { bytes, broken: true };
    }

    return { bytes, broken: false };
  }

  test('has every row once and in order, and reads one page per statement', async () => {
    const before = exportLogEntries(fitgraph).length;
    const { records } = await exporterOf(fitgraph.url)(ann, { query: IDS });
    const rows = await fitgraph.sql(
      'SELECT "id" FROM "workout" WHERE "user_id" = $1 ORDER BY "creation_date" DESC, "id"',
      [ann.id],
    );

    expect(rows).toHaveLength(ROWS);
    expect(records.slice(1).map(([id]) => Number(id))).toEqual(rows.map(({ id }) => id));
    await until('the request is logged', () => exportLogEntries(fitgraph).length > before);
    // One more statement authenticates the request.
    expect(exportLogEntries(fitgraph).at(-1)!.statements).toBe(ROWS / PAGE + 1);
  });

  test('stops reading rows when the client stalls and then disconnects', async () => {
    const before = exportLogEntries(fitgraph).length;
    const response = await startExport(ann, WIDE);

    await sleep(1_000);
    response.destroy();
    await until('the request is logged', () => exportLogEntries(fitgraph).length > before);
    expect(exportLogEntries(fitgraph).at(-1)!.statements).toBeLessThan(ROWS / PAGE);
  });

  test('cancels its running statement when the client disconnects', async () => {
    const countLockWaits = async () =>
      (
        await fitgraph.sql(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
      ).length;
    const response = await startExport(ann, WIDE);

    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE "workout" IN ACCESS EXCLUSIVE MODE');
    response.resume();
    await until('a page waits for the lock', async () => (await countLockWaits()) === 1);
    response.destroy();
    await until('no page waits for the lock', async () => (await countLockWaits()) === 0);
  });

  test('breaks the connection when a page fails, so that the file is not taken as complete', async () => {
    const other = await startServer({
      sameDatabaseAs: fitgraph,
      environment: { LOCK_TIMEOUT: '200ms' },
    });
    const response = await startExport(ann, WIDE, other.url);

    expect(response.statusCode).toBe(200);
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE "workout" IN ACCESS EXCLUSIVE MODE');
    const { bytes, broken } = await readToEnd(response);

    expect(broken).toBe(true);
    expect(bytes).toBeLessThan(ROWS * 20 * 100);
    expect(other.logged.join('')).toContain('an export could not be completed');
  });

  test('is aborted after EXPORT_TIMEOUT', async () => {
    const other = await startServer({
      sameDatabaseAs: fitgraph,
      environment: { EXPORT_TIMEOUT: '1s' },
    });
    const response = await startExport(ann, WIDE, other.url);

    await until('the export is aborted', () =>
      other.logged.join('').includes('an export took too long'),
    );
    expect(await readToEnd(response)).toMatchObject({ broken: true });
  });

  test('is rejected with 429 while its user runs two others, but not for another user', async () => {
    const other = await startServer({
      sameDatabaseAs: fitgraph,
      environment: { MAX_EXPORTS: '5' },
    });
    const bob = await fitgraph.user('bob');
    const file = exporterOf(other.url);
    const stalled = [
      await startExport(ann, WIDE, other.url),
      await startExport(ann, WIDE, other.url),
    ];
    const third = await file(ann, { query: IDS });

    expect([third.status, third.headers.get('retry-after'), third.error!.extensions.code]).toEqual([
      429,
      '10',
      'TOO_MANY_REQUESTS',
    ]);
    expect((await file(bob, { query: IDS })).status).toBe(200);
    for (const response of stalled) response.destroy();
    await until(
      'another export is accepted',
      async () =>
        (await file(ann, { query: '{ workouts(first: 1) { nodes { id } } }' })).status === 200,
    );
  });

  test('waits for budget between pages, and is rejected when its first page exceeds the budget', async () => {
    const other = await startServer({
      sameDatabaseAs: fitgraph,
      environment: { BUDGET_USER: '1000' },
    });
    const file = exporterOf(other.url);
    const query = '{ workouts(first: 3000) { nodes { id } } }';
    const budget = other.services.costRateLimiter.budgetFor(
      { viewer: { id: ann.id }, session: fitgraph.database.createSession() } as never,
      '',
    )!;

    const spend = (total: number) => {
      budget.requireRemainingBudget();
      budget.chargeResponseBytes(1024 * total);
    };

    spend(98_500);
    const began = performance.now();
    const { records } = await file(ann, { query });

    expect(records).toHaveLength(3_001);
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(() => {
      for (;;) spend(50);
    }).toThrow('The budget is exhausted');
    // The first page of this export alone costs as much as is replenished in ten seconds.
    const expensiveQuery = `{ workouts(first: 200) { nodes { ${Array.from({ length: 50 }, (_, index) => `i${index}: id`).join(' ')} } } }`;
    const rejected = await file(ann, { query: expensiveQuery });

    expect([rejected.status, rejected.error!.extensions.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('reads expensive rows in smaller pages, within MAX_COST', async () => {
    const other = await startServer({
      sameDatabaseAs: fitgraph,
      environment: { MAX_COST: '1000' },
    });
    const ids = Array.from({ length: 50 }, (_, index) => `i${index}: id`).join(' ');

    // 25 of the latter rows exceed the limit, too: they are read in pages of ten.
    for (const selection of [ids, 'id days { id setGroups { id } }']) {
      const query = `{ workouts(first: 250) { nodes { ${selection} } } }`;
      const { records } = await exporterOf(other.url)(ann, { query });

      expect(records).toHaveLength(251);
      expect((await ann.atInstance(other.url).query(query)).code).toBe('COST_LIMIT');
    }
  });
});

describe('a large file of groups', () => {
  const fitgraph = fitgraphForThisFile();
  const DAYS = 25_000;
  const FIRST_DAY = '1900-01-01';
  const GROUPS =
    '{ weightEntriesGrouped(groupBy: [{ date: { by: DAY } }], orderBy: [{ key: { number: 1 } }]) { keys { dateBucket { start } } count } }';
  let writer: Client;

  beforeAll(async () => {
    writer = new Client(fitgraph.database.options.connection);
    await writer.on('error', () => undefined).connect();
  });
  afterAll(() => writer.end());

  const entriesOf = async (username: string) => {
    const person = await fitgraph.user(username);

    await fitgraph.sql(
      `INSERT INTO "weight_entry" ("date", "weight", "unit", "user_id")
       SELECT date '${FIRST_DAY}' + n, 80, 'kg', $1 FROM generate_series(1, ${DAYS}) n`,
      [person.id],
    );

    return person;
  };

  test('has each group once, while other groups are added and removed', async () => {
    const person = await entriesOf('writer');
    let isRead = false;
    let writes = 0;

    /** Removes one of the first days, or adds an earlier one, so that all others move. */
    const write = async () => {
      for (let day = 1; !isRead; day += 1) {
        if (day % 2) {
          await writer.query(
            `DELETE FROM "weight_entry" WHERE "user_id" = $1 AND "date" = date '${FIRST_DAY}' + $2::int`,
            [person.id, day],
          );
        } else {
          await writer.query(
            `INSERT INTO "weight_entry" ("date", "weight", "unit", "user_id") VALUES (date '${FIRST_DAY}' - $2::int, 80, 'kg', $1), (date '${FIRST_DAY}' - $2::int - 1, 80, 'kg', $1), (date '${FIRST_DAY}' - $2::int - 100000, 80, 'kg', $1)`,
            [person.id, 2 * day],
          );
        }

        writes += 1;
      }
    };

    const writing = write();
    const { status, records } = await exporterOf(fitgraph.url)(person, { query: GROUPS });

    isRead = true;
    await writing;
    expect(status).toBe(200);
    expect(writes).toBeGreaterThan(2);
    const days = records.slice(1).map(([day]) => day!);
    const lastDays = Array.from({ length: DAYS / 2 }, (_, index) =>
      new Date(Date.parse(FIRST_DAY) + (DAYS / 2 + 1 + index) * 86_400_000)
        .toISOString()
        .slice(0, 10),
    );

    expect(new Set(days).size).toBe(days.length);
    expect(days.slice(-lastDays.length)).toEqual(lastDays);
  });

  test('has smaller pages where nested rows exceed the limits of one answer', async () => {
    const LIGHT_GROUPS = 10_000;
    const HEAVY_GROUPS = 2_000;
    const TRANSLATIONS = 100;
    const person = await fitgraph.user('nested');
    const other = await startServer({
      sameDatabaseAs: fitgraph,
      environment: { MAX_COST: '100000000', BUDGET: 'off' },
    });
    const [{ id: workout }] = (await fitgraph.sql(
      `INSERT INTO "workout" ("creation_date", "comment", "user_id") VALUES ('2021-01-01', '', $1) RETURNING "id"`,
      [person.id],
    )) as [{ id: number }];
    const [{ id: exercise }] = (await fitgraph.sql(
      `INSERT INTO "exercise_base" ("uuid", "status", "category_id") VALUES (gen_random_uuid(), '2', 1) RETURNING "id"`,
    )) as [{ id: number }];

    await fitgraph.sql(
      `INSERT INTO "exercise" ("uuid", "name", "status", "description", "language_id", "exercise_base_id")
       SELECT gen_random_uuid(), 'Name ' || n, '2', 'How it is done.', 2, $1 FROM generate_series(1, $2::int) n`,
      [exercise, TRANSLATIONS],
    );
    await fitgraph.sql(
      `INSERT INTO "workout_log" ("user_id", "workout_id", "exercise_id", "reps", "weight", "repetition_unit_id", "weight_unit_id", "date")
       SELECT $1, $2, CASE WHEN n <= ${LIGHT_GROUPS} THEN 1 ELSE (SELECT min("id") FROM "exercise" WHERE "exercise_base_id" = $3) END,
         5, 60, 1, 1, date '${FIRST_DAY}' + n FROM generate_series(1, ${LIGHT_GROUPS + HEAVY_GROUPS}) n`,
      [person.id, workout, exercise],
    );
    const { status, error, rows } = await exporterOf(other.url)(
      person,
      {
        query:
          '{ workoutLogsGrouped(groupBy: [{ field: EXERCISE }, { date: { by: DAY } }]) { keys { exercise { translations { id } } } } }',
      },
      'jsonl',
    );

    expect([status, error]).toEqual([200, undefined]);
    expect(rows).toHaveLength(LIGHT_GROUPS + HEAVY_GROUPS);
    expect(rows.at(-1).keys.exercise.translations).toHaveLength(TRANSLATIONS);
  });

  test('is rejected before its first byte if it is too large', async () => {
    const person = await entriesOf('large');
    const other = await startServer({
      sameDatabaseAs: fitgraph,
      environment: { MAX_RESPONSE_BYTES: '200KB' },
    });
    const { status, error } = await exporterOf(other.url)(person, { query: GROUPS });

    expect([status, error?.extensions.code, error?.path]).toEqual([
      400,
      'RESULT_TOO_LARGE',
      ['weightEntriesGrouped'],
    ]);
    expect(error!.message).toContain('Narrow it down');
  });
});
