/**
 * A prepared statement with known columns returns the same as a query of pg, regardless of earlier
 * statements on the connection.
 */
import { Client, type ClientBase } from 'pg';
import { NamedQuery } from '../../src/database/internals/pg';
import {
  MAX_PREPARED_STATEMENTS,
  PreparedStatements,
} from '../../src/database/prepared-statements';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { randomFor, seeded, type Random } from '../setup/random';

const fitgraph = fitgraphForThisFile();

const STATEMENTS = 300;

/**
 * Number of statements that are sent as often as all others together, so that they stay prepared
 * while the others evict each other.
 */
const FREQUENT = 20;
const EXECUTIONS = 2_500;

/** Valid values besides null. */
const TYPES: Readonly<Record<string, readonly unknown[]>> = {
  int: [0, -7, 2_147_483_647],
  bigint: [1, '9007199254740993'],
  numeric: ['1.50', '-0.000', 'NaN'],
  'double precision': [0.1, -1e300],
  boolean: [true, false],
  text: ['', 'a', 'Größe 💪', `'"\\`, 'x'.repeat(3_000)],
  'text[]': [[], ['a', null, '{"']],
  'int[]': [[1, 2], []],
  date: ['2026-02-28'],
  time: ['18:00:00.5', '24:00'],
  timestamptz: ['2021-03-10T08:00:00.123+01:00', new Date(0)],
  uuid: ['00000000-0000-4000-8000-000000000000'],
  jsonb: ['{"a":[1,null]}'],
  bytea: [Buffer.from([0, 255])],
};
const INVALID: Readonly<Record<string, unknown>> = {
  int: 'no number',
  text: 'a null: \u0000',
  'int[]': ['x'],
  date: '2026-02-30',
  uuid: 'none',
  jsonb: '{',
};
// Column names: includes a duplicate, PostgreSQL's default name and a property of Object.prototype.
const NAMES = ['a', 'b', 'a', 'constructor', '?column?', 'Größe'];

/**
 * Text after the columns, and the number of rows that it yields. The statement with the last one
 * fails.
 */
const SOURCES: readonly [string, number | undefined][] = [
  ['', 1],
  [' FROM generate_series(1, 3)', 3],
  [' WHERE false', 0],
  [' FROM generate_series(1, 200) n', 200],
  [' FROM nowhere', undefined],
];

interface Statement {
  text: string;
  types: string[];
  rows?: number;
}

/**
 * Composes the statement of a number. Every source occurs among the frequent statements and among
 * the others.
 */
function statement(number: number): Statement {
  const random = randomFor(`statement ${number}`);
  const [source, rows] = SOURCES[number % SOURCES.length]!;
  const types = Array.from({ length: random.below(6) }, () => random.pick(Object.keys(TYPES)));
  const columns = types.map((type, index) => `$${index + 1}::${type} AS "${random.pick(NAMES)}"`);

  return { text: `SELECT ${columns.join(', ')}${source} /* ${number} */`, types, rows };
}

/**
 * Draws values for the parameters. `rows` is the number of rows that the statement returns for
 * them, or undefined if it fails.
 */
function valuesFor(
  { types, rows }: Statement,
  random: Random,
  areValid: boolean,
): { values: unknown[]; rows?: number } {
  const values: unknown[] = types.map((type) =>
    random.chance(0.2) ? null : random.pick(TYPES[type]!),
  );
  const places = types.flatMap((type, index) => (type in INVALID ? [index] : []));

  if (areValid || !places.length) return { values, rows };
  const place = random.pick(places);

  values[place] = INVALID[types[place]!];
  return { values };
}

type Outcome = { rows: unknown[] } | { code: string | undefined; message: string };
const failedOutcome = (error: Error & { code?: string }): Outcome => ({
  code: error.code,
  message: error.message,
});

const queryUnprepared = (client: ClientBase, text: string, values: unknown[]): Promise<Outcome> =>
  client.query({ text, values }).then(({ rows }): Outcome => ({ rows }), failedOutcome);

function queryByName(
  client: ClientBase,
  prepared: PreparedStatements,
  text: string,
  values: unknown[],
): Promise<Outcome> {
  const name = prepared.countUseAndGetName(text);

  if (name === undefined) return queryUnprepared(client, text, values);

  return new Promise((resolve) => {
    const known = prepared.getOrCreateState(client, name, text);

    client.query(
      new NamedQuery(name, text, values, known, client, (error, rows) =>
        resolve(error ? failedOutcome(error) : { rows }),
      ),
    );
  });
}

test(seeded('returns the same rows and errors as pg for random statements'), async () => {
  const random = randomFor('executions');
  const prepared = new PreparedStatements();
  const statements = Array.from({ length: STATEMENTS }, (_, number) => statement(number));
  const { pool } = fitgraph.database;
  const [ours, other, pgs] = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
  const frequent: Statement[] = [];
  const otherStatements: Statement[] = [];

  try {
    for (let count = 0; count < EXECUTIONS; count += 1) {
      // Each group (frequent, others) is sent completely, in random order, before any of its
      // statements is sent again.
      if (!frequent.length) frequent.push(...random.shuffled(statements.slice(0, FREQUENT)));

      if (!otherStatements.length) {
        otherStatements.push(...random.shuffled(statements.slice(FREQUENT)));
      }

      const chosen = (count % 2 ? frequent : otherStatements).pop()!;
      const { text } = chosen;
      const { values, rows } = valuesFor(chosen, random, random.chance(0.7));
      const [expected, ...found] = await Promise.all([
        queryUnprepared(pgs, text, values),
        queryByName(ours, prepared, text, values),
        ...(count % 3 ? [] : [queryByName(other, prepared, text, values)]),
      ]);

      for (const answer of found) {
        expect({ text, values, answer }).toEqual({ text, values, answer: expected });
      }

      expect({ text, values, rows: 'rows' in expected ? expected.rows.length : undefined }).toEqual(
        { text, values, rows },
      );
    }

    const [{ kept }] = (
      (await queryUnprepared(
        ours,
        'SELECT count(*)::int AS "kept" FROM pg_prepared_statements',
        [],
      )) as any
    ).rows;

    expect(kept).toBeLessThanOrEqual(MAX_PREPARED_STATEMENTS);
    // All frequent statements stay prepared, except those that fail because their table does not
    // exist.
    expect(kept).toBeGreaterThanOrEqual(FREQUENT - FREQUENT / SOURCES.length);
  } finally {
    for (const client of [ours, other, pgs]) client.release();
  }
});

test('throws when a value cannot be serialized', async () => {
  const circular: unknown[] = [];

  circular.push({ toPostgres: () => circular[0] });
  const known = { sqlTextLength: 0 };
  const client = new Client(fitgraph.database.options.connection as never);

  expect(
    () => new NamedQuery('n', 'SELECT $1::text', [circular[0]], known, client, () => undefined),
  ).toThrow();
});

test('fails when its connection is terminated', async () => {
  const client = new Client(fitgraph.database.options.connection as never);

  client.on('error', () => undefined);
  await client.connect();
  const prepared = new PreparedStatements();
  const text = 'SELECT pg_sleep(30)';

  for (let uses = 0; uses < 3; uses += 1) prepared.countUseAndGetName(text);
  const answer = queryByName(client, prepared, text, []);
  const pid = (client as unknown as { processID: number }).processID;

  await fitgraph.database.pool.query('SELECT pg_terminate_backend($1)', [pid]);
  expect(await answer).toMatchObject({ message: expect.stringMatching(/terminat/) });
});
