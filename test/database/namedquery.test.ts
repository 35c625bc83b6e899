/** A statement whose columns are known answers as pg's own query does, whatever was asked for on the connection before. */
import { Client, type ClientBase } from 'pg';
import { NamedQuery } from '../../src/database/namedquery';
import { MAX_KEPT, Prepared } from '../../src/database/prepared';
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

const STATEMENTS = 300;
const ASKED = 2_500;

let state = (Number(process.env.SEED ?? 0) || Math.floor(Date.now() / 86_400_000)) >>> 0;
console.log(`seed ${state}`);
/** Numerical Recipes' linear congruential generator. */
const below = (limit: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
};
const oneOf = <T>(items: readonly T[]): T => items[below(items.length)]!;

const TYPES: Readonly<Record<string, readonly unknown[]>> = {
  int: [0, -7, 2_147_483_647, null, 'no number'],
  bigint: [1, '9007199254740993', null],
  numeric: ['1.50', '-0.000', 'NaN', null],
  'double precision': [0.1, -1e300, null],
  boolean: [true, false, null],
  text: ['', 'a', 'Größe 💪', `'"\\`, null, 'x'.repeat(3_000), 'a null: \u0000'],
  'text[]': [[], ['a', null, '{"'], null],
  'int[]': [[1, 2], [], null, ['x']],
  date: ['2026-02-28', '2026-02-30', null],
  time: ['18:00:00.5', '24:00', null],
  timestamptz: ['2021-03-10T08:00:00.123+01:00', new Date(0), null],
  uuid: ['00000000-0000-4000-8000-000000000000', null, 'none'],
  jsonb: ['{"a":[1,null]}', null, '{'],
  bytea: [Buffer.from([0, 255]), null],
};
// Columns of one name, of none, and of names that objects have.
const NAMES = ['a', 'b', 'a', 'constructor', '?column?', 'Größe'];
const ROWS = ['', ' FROM generate_series(1, 3)', ' WHERE false', ' FROM generate_series(1, 200) n', ' FROM nowhere'];

interface Asked {
  text: string;
  types: string[];
}

function statement(number: number): Asked {
  const types = Array.from({ length: below(6) }, () => oneOf(Object.keys(TYPES)));
  const columns = types.map((type, index) => `$${index + 1}::${type} AS "${oneOf(NAMES)}"`);
  return { text: `SELECT ${columns.join(', ')}${oneOf(ROWS)} /* ${number} */`, types };
}

type Outcome = { rows: unknown[] } | { code: string | undefined; message: string };
const failed = (error: Error & { code?: string }): Outcome => ({ code: error.code, message: error.message });

const plain = (client: ClientBase, text: string, values: unknown[]): Promise<Outcome> =>
  client.query({ text, values }).then(({ rows }): Outcome => ({ rows }), failed);

function named(client: ClientBase, prepared: Prepared, text: string, values: unknown[]): Promise<Outcome> {
  const name = prepared.nameOf(text);
  if (name === undefined) return plain(client, text, values);
  return new Promise((resolve) => {
    const known = prepared.known(client, name, text);
    client.query(new NamedQuery(name, text, values, known, client, (error, rows) => resolve(error ? failed(error) : { rows })));
  });
}

test('random statements, known and unknown, that succeed and fail', async () => {
  const prepared = new Prepared();
  const statements = Array.from({ length: STATEMENTS }, (_, number) => statement(number));
  const { pool } = fitgraph.database;
  const [ours, other, pgs] = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
  let rows = 0;
  let failures = 0;
  try {
    for (let count = 0; count < ASKED; count += 1) {
      // Some are asked for often, so that they stay; the others make each other go.
      const { text, types } = statements[below(2) ? below(20) : below(STATEMENTS)]!;
      const values = types.map((type) => oneOf(TYPES[type]!));
      const [expected, ...found] = await Promise.all([
        plain(pgs, text, values),
        named(ours, prepared, text, values),
        ...(count % 3 ? [] : [named(other, prepared, text, values)]),
      ]);
      for (const answer of found) expect({ text, values, answer }).toEqual({ text, values, answer: expected });
      if ('rows' in expected) rows += expected.rows.length;
      else failures += 1;
    }
    const [{ kept }] = ((await plain(ours, 'SELECT count(*)::int AS "kept" FROM pg_prepared_statements', [])) as any).rows;
    expect(kept).toBeLessThanOrEqual(MAX_KEPT);
    expect(kept).toBeGreaterThan(20);
  } finally {
    for (const client of [ours, other, pgs]) client.release();
  }
  expect(rows).toBeGreaterThan(1_000);
  expect(failures).toBeGreaterThan(100);
});

test('a value that cannot be sent', async () => {
  const circular: unknown[] = [];
  circular.push({ toPostgres: () => circular[0] });
  const known = { length: 0 };
  const client = new Client(fitgraph.database.options.connection as never);
  expect(() => new NamedQuery('n', 'SELECT $1::text', [circular[0]], known, client, () => undefined)).toThrow();
});

test('a connection that breaks down under it', async () => {
  const client = new Client(fitgraph.database.options.connection as never);
  client.on('error', () => undefined);
  await client.connect();
  const prepared = new Prepared();
  const text = 'SELECT pg_sleep(30)';
  for (let uses = 0; uses < 3; uses += 1) prepared.nameOf(text);
  const answer = named(client, prepared, text, []);
  const pid = (client as unknown as { processID: number }).processID;
  await fitgraph.database.pool.query('SELECT pg_terminate_backend($1)', [pid]);
  expect(await answer).toMatchObject({ message: expect.stringMatching(/terminat/) });
});
