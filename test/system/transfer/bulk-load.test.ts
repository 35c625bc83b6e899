/**
 * Large imports drop foreign keys and indexes and recreate them. The result is the same as with
 * keys and indexes in place. They are kept where other sessions would wait. A recreated key or
 * index has a new oid, by which the tests detect it.
 */
import { Client } from 'pg';
import { TokenVault } from '../../../src/accounts/tokens';
import type { Database } from '../../../src/database/connection';
import { migrateUp } from '../../../src/database/migrate';
import { MIN_ROWS_TO_DROP_KEYS } from '../../../src/transfer/bulk-load';
import { validateDump, type DumpRow } from '../../../src/transfer/dump';
import { importDumpRows, type ImportOptions } from '../../../src/transfer/importer';
import { asSuperuser, createDatabase, open, SECRET_KEY } from '../../setup/databases';
import { Fitgraph } from '../../setup/fitgraph';
import { shapeOf } from '../../setup/database-shape';
import { randomFor, seeded, type Random } from '../../setup/random';

const TABLES = ['ingredient', 'workout_log'];
const OIDS = `SELECT "table", "name", "oid"::int FROM (
    SELECT conrelid::regclass::text AS "table", conname::text AS "name", oid FROM pg_constraint WHERE contype = 'f'
    UNION ALL SELECT indrelid::regclass::text, indexrelid::regclass::text, indexrelid FROM pg_index WHERE NOT indisunique) AS "pieces"
  WHERE "table" = ANY($1) ORDER BY 1, 2`;

interface Side {
  database: Database;
  client: Client;
}

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function sideOf(database: Database): Promise<Side> {
  const client = new Client(database.directConnectionOptions);

  await client.connect();
  closing.push(() => client.end());
  return { database, client };
}

/** Creates a database that no server uses, and opens a connection for a separate session. */
async function createSide(): Promise<Side> {
  const own = await createDatabase('catalogue');
  const database = open(own.connection);

  closing.push(() => own.drop());
  closing.push(() => database.close());
  return sideOf(database);
}

const ask = async ({ client }: Side, text: string, values?: unknown[]) =>
  (await client.query(text, values)).rows;
const load = (rows: DumpRow[], { database }: Side, options: Partial<ImportOptions> = {}) =>
  importDumpRows(validateDump(rows), database, {
    tokenVault: new TokenVault(SECRET_KEY),
    ...options,
  });
const oidsOf = (of: Side) => ask(of, OIDS, [TABLES]);

/** Returns the tables whose keys or indexes were recreated since `before`. */
async function recreatedTables(of: Side, before: Record<string, unknown>[]): Promise<string[]> {
  const after = await oidsOf(of);

  expect(after.map(({ name }) => name)).toEqual(before.map(({ name }) => name));
  return [
    ...new Set(
      after
        .filter(({ oid }, index) => oid !== before[index]!.oid)
        .map(({ table }) => table as string),
    ),
  ];
}

/**
 * Returns the number of rows, their digest without columns that differ between imports, and the
 * number of logged changes, by table.
 */
async function summaryOf(of: Side): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};

  for (const table of [...TABLES, 'workout', 'user_account']) {
    const row = `to_jsonb(t) - '{created_at,updated_at,version,date_joined}'::text[]`;
    const recordedRows = `SELECT count(DISTINCT "row_id")::int FROM "change" WHERE "table" = '${table}'`;
    const [found] = await ask(
      of,
      `SELECT count(*)::int AS "rows", md5(string_agg((${row})::text, ';' ORDER BY "id")) AS "digest", (${recordedRows}) AS "noted" FROM "${table}" t`,
    );

    all[table] = found;
  }

  return all;
}

const day = (random: Random) =>
  `20${random.int(19, 21)}-0${random.int(1, 9)}-${random.int(10, 28)}`;

/** Creates the dump rows of two users with two workouts each. */
function owners(): DumpRow[] {
  const account = {
    password: 'none',
    email: '',
    is_active: true,
    date_joined: '2021-01-01T00:00:00Z',
  };

  return [
    ...[101, 102].map((pk): DumpRow => ({
      model: 'auth.user',
      pk,
      fields: { username: `user${pk}`, ...account },
    })),
    ...[1, 2, 3, 4].map((pk): DumpRow => {
      return {
        model: 'manager.workout',
        pk,
        fields: { creation_date: '2021-01-01', comment: '', user: 101 + (pk % 2) },
      };
    }),
  ];
}

function logs(random: Random, count: number, from = 1): DumpRow[] {
  return Array.from({ length: count }, (_, index): DumpRow => {
    const workout = random.int(1, 4);
    const units = {
      repetition_unit: random.int(1, 3),
      weight_unit: random.int(1, 3),
      exercise: random.int(1, 4),
    };
    const values = {
      reps: random.int(0, 20),
      weight: `${random.int(0, 200)}.50`,
      rir: random.pick(['0', '2', '3.5']),
      date: day(random),
    };

    return {
      model: 'manager.workoutlog',
      pk: from + index,
      fields: { ...values, ...units, workout, user: 101 + (workout % 2) },
    };
  });
}

function foods(random: Random, count: number): DumpRow[] {
  return Array.from({ length: count }, (_, index): DumpRow => {
    const parts = {
      energy: random.int(0, 900),
      protein: `${random.int(0, 50)}.125`,
      carbohydrates: `${random.int(0, 50)}.000`,
      fat: '1.000',
    };
    const name = `${random.pick(['Möhre', 'Oats', 'Apple pie', 'Œuf'])} ${random.int(0, 5_000)}`;
    const of = {
      license: random.int(1, 2),
      language: random.int(1, 2),
      license_author: '',
      status: random.pick(['1', '2', '3']),
    };
    const fields = { name, ...parts, ...of, creation_date: day(random), update_date: day(random) };

    return { model: 'nutrition.ingredient', pk: 10 + index, fields };
  });
}

test(
  seeded('imports the same rows, keys and indexes whether or not it drops keys and indexes'),
  async () => {
    const fitgraph = await Fitgraph.start();

    closing.push(() => fitgraph.stop());
    const [alone, withServer] = [await createSide(), await sideOf(fitgraph.database)];

    for (const one of [alone, withServer]) await ask(one, 'DELETE FROM "change"');
    const shape = await shapeOf(alone.client);
    const [before, withServerBefore] = [await oidsOf(alone), await oidsOf(withServer)];
    const random = randomFor('imported rows');
    const rows = [
      ...owners(),
      ...logs(random, MIN_ROWS_TO_DROP_KEYS + 1_234),
      ...foods(random, MIN_ROWS_TO_DROP_KEYS),
    ];

    await load(rows, alone);
    // Sends requests until the import is over. In this database keys and indexes are kept, so that
    // the server can answer meanwhile.
    const loading = load(rows, withServer).then(() => 'over');

    while ((await Promise.race([loading, fitgraph.anonymous.get('/ingredient/1/')])) !== 'over');
    expect(await recreatedTables(alone, before)).toEqual(TABLES);
    expect(await recreatedTables(withServer, withServerBefore)).toEqual([]);
    for (const one of [alone, withServer]) expect(await shapeOf(one.client)).toEqual(shape);
    const those = await summaryOf(alone);

    expect(those.workout_log).toMatchObject({
      rows: MIN_ROWS_TO_DROP_KEYS + 1_234,
      noted: MIN_ROWS_TO_DROP_KEYS + 1_234,
    });
    expect(those).toEqual(await summaryOf(withServer));
  },
);

test.each<[string, (rows: DumpRow[]) => void, RegExp]>([
  [
    'refers to a missing row',
    (rows) => Object.assign(rows.at(-5)!.fields, { exercise: 99 }),
    /workoutlog 4996: exercise refers to .* does not exist/,
  ],
  [
    'has a parent of another user',
    (rows) => Object.assign(rows.at(-5)!.fields, { workout: 1, user: 101 }),
    /workoutlog 4996: workout refers to/,
  ],
  [
    'has the id of another row',
    (rows) => void rows.splice(7, 0, { ...rows.at(-1)!, pk: 20_000 }),
    /workoutlog 20000: Key \(id\)/,
  ],
])(seeded('restores rows, keys and indexes when a row %s'), async (_what, corrupt, message) => {
  const one = await createSide();

  await load([...owners(), ...logs(randomFor('a log before the import'), 1, 20_000)], one);
  const [before, shape, rows] = [
    await oidsOf(one),
    await shapeOf(one.client),
    await summaryOf(one),
  ];
  const those = logs(randomFor('refused logs'), MIN_ROWS_TO_DROP_KEYS);

  corrupt(those);
  await expect(load(those, one)).rejects.toThrow(message);
  expect(await recreatedTables(one, before)).toEqual([]);
  expect(await shapeOf(one.client)).toEqual(shape);
  expect(await summaryOf(one)).toEqual(rows);
});

describe(seeded('the import of workout logs'), () => {
  async function expectKept(
    one: Side,
    rows = logs(randomFor('logs of a small import'), MIN_ROWS_TO_DROP_KEYS),
  ): Promise<void> {
    const before = await oidsOf(one);

    expect((await load(rows, one)).get('manager.workoutlog')).toBe(rows.length);
    expect(await recreatedTables(one, before)).toEqual([]);
  }

  test('keeps keys and indexes when there are few rows', async () => {
    const one = await createSide();

    await load(owners(), one);
    await expectKept(one, logs(randomFor('logs of a small import'), MIN_ROWS_TO_DROP_KEYS - 1));
  });

  test('keeps keys and indexes while a transaction reads a referenced table', async () => {
    const one = await createSide();

    await load(owners(), one);
    await one.client.query('BEGIN; SELECT FROM "exercise"');
    await expectKept(one);
    await one.client.query('COMMIT');
  });

  test('keeps keys and indexes while another session migrates', async () => {
    const one = await createSide();

    await load(owners(), one);
    await one.client.query('SELECT pg_advisory_lock(7316402)');
    await expectKept(one);
  });

  test('keeps keys and indexes when most rows exist already', async () => {
    const one = await createSide();

    await load(
      [
        ...owners(),
        ...logs(randomFor('logs before the import'), MIN_ROWS_TO_DROP_KEYS + 1, 50_000),
      ],
      one,
    );
    await expectKept(one);
  });

  test('keeps keys and indexes when another role owns the tables', async () => {
    const one = await createSide();

    await load(owners(), one);
    const role = `importer_${process.pid}`;
    const superuser = new Client(asSuperuser(one.database.directConnectionOptions));

    await superuser.connect();
    await superuser.query(`CREATE ROLE "${role}" LOGIN BYPASSRLS; GRANT ALL ON ALL TABLES IN SCHEMA public TO "${role}";
      GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO "${role}"`);
    closing.push(() =>
      superuser
        .query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`)
        .finally(() => superuser.end()),
    );
    const database = open({ ...one.database.directConnectionOptions, user: role });

    closing.push(() => database.close());
    await expectKept({ ...one, database });
  });
});

test(seeded('makes migrations of a starting server wait until the import has ended'), async () => {
  const one = await createSide();
  const messages: string[] = [];
  let started: Promise<string> | undefined;

  await load(
    [...owners(), ...logs(randomFor('logs during the start'), MIN_ROWS_TO_DROP_KEYS)],
    one,
    {
      beforeCommit: async () => {
        started = migrateUp(one.database, { reportWait: (message) => messages.push(message) }).then(
          () => 'started',
        );
        const wait = new Promise((resolve) => setTimeout(resolve, 500, 'waits'));

        expect(await Promise.race([started, wait])).toBe('waits');
      },
    },
  );
  expect(await started).toBe('started');
  expect(messages).toEqual([
    expect.stringMatching(/^waiting for another process that migrates or fills the database/),
  ]);
});
