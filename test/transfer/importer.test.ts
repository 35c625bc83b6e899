/** Imports: a dump of every model is imported completely or not at all. */
import { pbkdf2Sync } from 'node:crypto';
import { findEntity, resourceOf } from '../../src/engine/declare/registry';
import type { Entity } from '../../src/engine/declare/fields';
import {
  validateDump,
  entitiesByDumpModel,
  sortByDependency,
  DJANGO_TOKEN_MODEL,
  type DumpRow,
} from '../../src/transfer/dump';
import { importDumpRows, type ImportOptions } from '../../src/transfer/importer';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Answer } from '../setup/person';
import { dumpRowOf } from '../setup/sample-values';
import { until } from '../setup/waits';

const fitgraph = fitgraphForThisFile({ content: 'tables' });

const TOKEN = '0123456789abcdef0123456789abcdef01234567';
const PASSWORD = 'swordfish swordfish';
const HASH = `pbkdf2_sha256$1000$salt$${pbkdf2Sync(PASSWORD, 'salt', 1000, 32, 'sha256').toString('base64')}`;
const FIRST = 31;

const entityOf = (model: string) => entitiesByDumpModel().get(model)!;

/** Creates a dump of two rows of every model, with ids from 31 on. Owned rows belong to user 31. */
function dump(): DumpRow[] {
  const rows = sortByDependency(entitiesByDumpModel()).flatMap((entity): DumpRow[] => {
    const numbers = entity.name === 'UserProfile' ? [FIRST] : [FIRST, FIRST + 1];

    return numbers.map((number) =>
      dumpRowOf(entity, number, ({ relation, target }) => {
        const id = target!() === findEntity('User') ? FIRST : number;

        return relation!.isToMany ? [id] : id;
      }),
    );
  });

  for (const row of rows) {
    if (row.model === 'auth.user') {
      Object.assign(row.fields, {
        username: `user${row.pk}`,
        password: HASH,
        is_active: true,
        groups: [],
        user_permissions: [],
      });
    } else if (entityOf(row.model) && resourceOf(entityOf(row.model))!.isOwned && hasParent(row)) {
      delete row.fields.user;
    }
  }

  return [
    ...rows,
    {
      model: DJANGO_TOKEN_MODEL,
      pk: TOKEN,
      fields: { user: FIRST, created: '2021-01-01T00:00:00Z' },
    },
  ];
}

/** Whether a row has an owned parent. Dumps contain the owner only of rows without one. */
const hasParent = ({ fields }: DumpRow) =>
  ['training', 'exerciseday', 'set', 'schedule', 'plan', 'meal'].some((key) => key in fields);

const load = (rows: unknown, options: Partial<ImportOptions> = {}) =>
  importDumpRows(validateDump(rows), fitgraph.database, {
    tokenVault: fitgraph.tokenVault,
    ...options,
  });

const tableOf = (entity: Entity) => resourceOf(entity)!.table;

/** Reads all imported tables. */
async function readEverything(): Promise<Record<string, unknown>> {
  const rowsByTable: Record<string, unknown> = {};

  for (const table of [
    ...[...entitiesByDumpModel().values()].map(tableOf),
    'training_day_weekday',
    'exercise_base_muscle',
    'token',
  ]) {
    rowsByTable[table] = await fitgraph.sql(`SELECT * FROM "${table}" t ORDER BY t`);
  }

  return rowsByTable;
}

/**
 * Removes what differs between two imports of the same rows: tokens, which are encrypted anew,
 * timestamps and row versions.
 */
function comparable(rowsByTable: Record<string, unknown>): Record<string, unknown> {
  const tables = Object.entries(rowsByTable as Record<string, Record<string, unknown>[]>).map(
    ([table, rows]) => [
      table,
      rows.map(({ created_at: _created, updated_at: _updated, version: _version, ...row }) => row),
    ],
  );

  return { ...Object.fromEntries(tables), token: [] };
}

const model = (name: string) => dump().filter((row) => row.model === name);

/** Returns the dump with one row changed. */
function dumpWithChange(name: string, change: (row: DumpRow) => void): DumpRow[] {
  const rows = dump();

  change(rows.find((row) => row.model === name)!);
  return rows;
}

beforeEach(async () => {
  const tables = [...entitiesByDumpModel().values()].map((entity) => `"${tableOf(entity)}"`);

  await fitgraph.sql(`TRUNCATE ${tables.join()} RESTART IDENTITY CASCADE`);
  await fitgraph.reference.reload();
});

describe('a dump of every model', () => {
  beforeEach(async () => {
    await load(dump());
    await fitgraph.reference.reload();
  });
  const owner = () => fitgraph.anonymous.withHeaders({ Authorization: `Token ${TOKEN}` });

  test('keeps its ids and all its values', async () => {
    for (const entity of entitiesByDumpModel().values()) {
      const rows = await fitgraph.sql(`SELECT * FROM "${tableOf(entity)}" ORDER BY "id"`);

      expect([entity.name, rows.map(({ id }) => id)]).toEqual([
        entity.name,
        entity.name === 'UserProfile' ? [31] : [31, 32],
      ]);
    }

    const { body } = await owner().get('/workoutlog/31/');
    const [{ fields }] = model('manager.workoutlog') as [DumpRow];
    const { user, mass_unit: massUnit, ...shown } = fields;

    expect([user, massUnit]).toEqual([FIRST, 'kg']);
    expect(body).toMatchObject(JSON.parse(JSON.stringify({ id: 31, ...shown, rir: '0' })));
    const day = await owner().get('/day/32/');

    expect(day.body).toMatchObject({ id: 32, training: 32, day: [32] });
  });

  test('gives every owned row the owner of its parent', async () => {
    for (const entity of entitiesByDumpModel().values()) {
      if (resourceOf(entity)!.isOwned && entity.name !== 'User') {
        expect(await fitgraph.sql(`SELECT DISTINCT "user_id" FROM "${tableOf(entity)}"`)).toEqual([
          { user_id: FIRST },
        ]);
      }
    }
  });

  test('advances the sequences, so that new rows get higher ids', async () => {
    const { status, body } = await owner().post('/workout/', { comment: 'new' });

    expect([status, body.id]).toEqual([201, 33]);

    for (const entity of entitiesByDumpModel().values()) {
      const [row] = await fitgraph.sql(
        `SELECT nextval(pg_get_serial_sequence('"${tableOf(entity)}"', 'id')) AS next`,
      );

      expect([entity.name, row!.next]).toEqual([entity.name, expect.any(Number)]);
      expect(row!.next).toBeGreaterThan(entity.name === 'UserProfile' ? 31 : 32);
    }
  });

  test('imports tokens that work and are encrypted', async () => {
    expect((await owner().get('/userprofile/')).body).toMatchObject({
      count: 1,
      results: [{ id: 31, user: 31 }],
    });
    const [{ sealed }] = (await fitgraph.sql('SELECT "sealed" FROM "token"')) as [
      { sealed: Buffer },
    ];

    expect(sealed.includes(TOKEN)).toBe(false);
    expect(fitgraph.tokenVault.decrypt(sealed)).toBe(TOKEN);
  });

  test('imports passwords that work and are rehashed at the first login', async () => {
    const login = (password: string) =>
      fitgraph.anonymous.post('/login/', { username: 'user31', password });
    const hash = async () =>
      (await fitgraph.sql('SELECT "password" FROM "user_account" WHERE "id" = 31'))[0]!.password;

    expect((await login('something else')).status).toBe(401);
    expect(await hash()).toBe(HASH);
    expect(await login(PASSWORD)).toMatchObject({ status: 200, body: { token: TOKEN } });
    expect(await hash()).toMatch(/^\$argon2id\$/);
    expect(await login(PASSWORD)).toMatchObject({ status: 200, body: { token: TOKEN } });
    expect((await login('something else')).status).toBe(401);
  });

  test('has the same result when its rows are in reverse order', async () => {
    const before = await readEverything();

    await load(dump().reverse(), { shouldReplaceExisting: true });
    expect(comparable(await readEverything())).toEqual(comparable(before));
  });

  test('is rejected without changes when it is imported twice', async () => {
    const before = await readEverything();

    await expect(load(dump())).rejects.toThrow(
      /^[a-z]+\.[a-z]+ 31: Key \(id\)=\(31\) already exists/,
    );
    expect(await readEverything()).toEqual(before);
  });

  test('replaces all rows when it is imported again with replace', async () => {
    const before = await readEverything();

    await owner().post('/workout/', { comment: 'to be replaced' });
    const counts = await load(dump(), { shouldReplaceExisting: true });

    expect(counts.get('manager.workout')).toBe(2);
    expect(comparable(await readEverything())).toEqual(comparable(before));
  });

  test.each([
    ['links', 'core.daysofweek', /would also delete rows of manager\.day, or their links/],
    [
      'rows that refer to others of the tables',
      'nutrition.ingredient',
      /would also delete rows of nutrition\./,
    ],
  ])('is not replaced in part if that would delete %s', async (_what, name, message) => {
    const before = await readEverything();

    await expect(load(model(name), { shouldReplaceExisting: true })).rejects.toThrow(message);
    expect(await readEverything()).toEqual(before);
  });

  test('is not replaced in part if that would delete rows that refer to it through an empty table', async () => {
    await fitgraph.sql(
      'DELETE FROM "ingredient_unit" u WHERE NOT EXISTS (SELECT FROM "meal_item" i WHERE i."weight_unit_id" = u."id")',
    );
    await fitgraph.sql('UPDATE "meal_item" SET "weight_unit_id" = NULL');
    await fitgraph.sql('UPDATE "diary_entry" SET "weight_unit_id" = NULL');
    await fitgraph.sql('DELETE FROM "ingredient_unit"');
    const before = await readEverything();

    await expect(
      load(model('nutrition.weightunit'), { shouldReplaceExisting: true }),
    ).rejects.toThrow(/would also delete rows of nutrition\.mealitem/);
    expect(await readEverything()).toEqual(before);
  });

  test('is not replaced in part if that would delete links that another transaction is writing', async () => {
    const before = comparable(await readEverything());
    const writer = await fitgraph.database.pool.connect();

    try {
      await writer.query(
        `CREATE TEMPORARY TABLE "links" AS SELECT * FROM "training_day_weekday"; DELETE FROM "training_day_weekday"`,
      );
      await writer.query('BEGIN; INSERT INTO "training_day_weekday" SELECT * FROM "links"');
      const replacement = load(model('core.daysofweek'), { shouldReplaceExisting: true });
      const outcome = expect(replacement).rejects.toThrow(
        /would also delete rows of manager\.day, or their links/,
      );

      await until('the import waits', async () => {
        const locks = await fitgraph.sql('SELECT FROM pg_locks WHERE NOT granted');

        return locks.length > 0;
      });
      await writer.query('COMMIT');
      await outcome;
    } finally {
      await writer.query('ROLLBACK; DROP TABLE IF EXISTS "links"');
      writer.release();
    }

    expect(comparable(await readEverything())).toEqual(before);
  });

  test('is replaced while its users read and write, whose requests at most have to be repeated', async () => {
    const statuses: Record<string, number> = {};
    let isReplaced = false;

    const repeat = async (send: () => Promise<Answer>) => {
      while (!isReplaced) {
        const { status, body, headers } = await send();
        const code = body.errors?.[0]?.extensions.code;

        if (status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        const outcome = [status, code].filter(Boolean).join(' ');

        statuses[outcome] = (statuses[outcome] ?? 0) + 1;
      }
    };

    const requests = [
      () => owner().get('/workout/'),
      () => owner().get('/userprofile/'),
      () => owner().query('{ viewer { name } workouts { nodes { name days { id } } } }'),
      () => owner().post('/workout/', { comment: 'written meanwhile' }),
      () =>
        owner().query(
          'mutation { createWorkout(input: { name: "written meanwhile" }) { errors { code } } }',
        ),
    ].map(repeat);

    for (let run = 0; run < 3; run += 1) await load(dump(), { shouldReplaceExisting: true });
    isReplaced = true;
    await Promise.all(requests);
    expect(Object.keys(statuses).filter((outcome) => !/^20[01]$|^503/.test(outcome))).toEqual([]);
    expect(statuses).toMatchObject({ 200: expect.any(Number), 201: expect.any(Number) });
  });

  test('is replaced when several rows have the same image', async () => {
    const rows = dump().map((row) =>
      row.model === 'exercises.exerciseimage'
        ? { ...row, fields: { ...row.fields, image: 'exercise-images/1/a.png' } }
        : row,
    );

    await load(rows, { shouldReplaceExisting: true });
    await load(rows, { shouldReplaceExisting: true });
    expect(await fitgraph.sql('SELECT DISTINCT "image" FROM "exercise_image"')).toEqual([
      { image: 'exercise-images/1/a.png' },
    ]);
  });

  test('keeps only the newest of several active schedules of a user active', async () => {
    const rows = dump();

    for (const { model: name, fields } of rows) {
      if (name === 'manager.schedule') fields.is_active = true;
    }

    await load(rows, { shouldReplaceExisting: true });
    expect((await owner().get('/schedule/?is_active=True')).body.results).toMatchObject([
      { id: 32 },
    ]);
    // A later import adds a schedule to the existing ones.
    const next = { ...rows.find(({ model: name }) => name === 'manager.schedule')!, pk: 40 };

    await load([next]);
    expect((await owner().get('/schedule/?is_active=True')).body.results).toMatchObject([
      { id: 40 },
    ]);
  });

  test('keeps only the newest of several main images of an exercise as main image', async () => {
    const rows = dump().map((row) =>
      row.model === 'exercises.exerciseimage'
        ? { ...row, fields: { ...row.fields, exercise: 31, is_main: true, status: '2' } }
        : row,
    );

    await load(rows, { shouldReplaceExisting: true });
    expect(
      (await fitgraph.anonymous.get('/exerciseimage/?is_main=True')).body.results,
    ).toMatchObject([{ id: 32 }]);
  });

  test('keeps an accepted main image of an exercise beside newer pending ones', async () => {
    const rows = dump().map((row) => {
      if (row.model !== 'exercises.exerciseimage') return row;
      const status = row.pk === 31 ? '2' : '1';

      return { ...row, fields: { ...row.fields, exercise: 31, is_main: true, status } };
    });

    await load(rows, { shouldReplaceExisting: true });
    expect(
      (await fitgraph.anonymous.get('/exerciseimage/?is_main=True')).body.results,
    ).toMatchObject([{ id: 31 }]);
  });

  test('can be followed by an import of rows that refer to it', async () => {
    const more = {
      model: 'manager.workout',
      pk: 40,
      fields: { creation_date: '2021-01-01', comment: 'later', user: 31 },
    };
    const day = {
      model: 'manager.day',
      pk: 40,
      fields: { training: 40, description: 'later', day: [31] },
    };

    await load([day, more]);
    expect((await owner().get('/day/40/')).body).toMatchObject({
      training: 40,
      description: 'later',
    });
  });
});

describe('an invalid dump', () => {
  const cases: [string, () => unknown, RegExp][] = [
    ['an object instead of a list', () => ({}), /must contain a JSON array/],
    ['a row that is not an object', () => [3], /Row 1 is not of the form/],
    ['a row without fields', () => [{ model: 'core.language', pk: 1 }], /Row 1 is not of the form/],
    [
      'an unknown model',
      () => [...dump(), { model: 'gym.gym', pk: 1, fields: {} }],
      /unknown model "gym\.gym"/,
    ],
    [
      'an invalid primary key',
      () => dumpWithChange('core.language', (row) => (row.pk = 'x')),
      /core\.language.*"x" is not a primary key/,
    ],
    [
      'a primary key that is too large',
      () => dumpWithChange('core.language', (row) => (row.pk = 2 ** 31)),
      /2147483648 is not a primary key/,
    ],
    [
      'a duplicate primary key',
      () => [...dump(), model('core.language')[0]],
      /core\.language 31 occurs twice/,
    ],
    [
      'an unknown field',
      () => dumpWithChange('manager.workout', (row) => (row.fields.colour = 'red')),
      /manager\.workout 31: unknown field "colour"/,
    ],
    [
      'a missing value',
      () => dumpWithChange('manager.workout', (row) => delete row.fields.creation_date),
      /manager\.workout 31: creation_date is missing/,
    ],
    [
      'a missing reference',
      () => dumpWithChange('manager.workoutlog', (row) => delete row.fields.exercise),
      /manager\.workoutlog 31: exercise is missing/,
    ],
    [
      'a reference to a missing row',
      () => dumpWithChange('manager.workoutlog', (row) => (row.fields.exercise = 99)),
      /manager\.workoutlog 31: exercise refers to exercises\.exercise 99, which does not exist/,
    ],
    [
      'a link to a missing row',
      () => dumpWithChange('manager.day', (row) => (row.fields.day = [99])),
      /manager\.day 31: day refers to core\.daysofweek 99/,
    ],
    [
      'links that are not a list',
      () => dumpWithChange('manager.day', (row) => (row.fields.day = 31)),
      /manager\.day 31: day must be a list/,
    ],
    [
      'a user without a password',
      () => dumpWithChange('auth.user', (row) => delete row.fields.password),
      /auth\.user 31: password is missing/,
    ],
    [
      'an invalid date',
      () => dumpWithChange('manager.workout', (row) => (row.fields.creation_date = 'today')),
      /31: creation_date is not a valid date: "today"/,
    ],
    [
      'a nonexistent date',
      () => dumpWithChange('manager.workout', (row) => (row.fields.creation_date = '2021-02-30')),
      /manager\.workout 31: .*date/,
    ],
    [
      'an invalid number',
      () => dumpWithChange('weight.weightentry', (row) => (row.fields.weight = 'NaN')),
      /31: weight is not a valid decimal: "NaN"/,
    ],
    [
      'a text that is too long',
      () => dumpWithChange('manager.workout', (row) => (row.fields.comment = 'x'.repeat(101))),
      /manager\.workout 31: .*too long/,
    ],
    [
      'a number that is too large',
      () => dumpWithChange('weight.weightentry', (row) => (row.fields.weight = '12345.00')),
      /weight\.weightentry 31: /,
    ],
    [
      'a reference that is not a number',
      () => dumpWithChange('manager.day', (row) => (row.fields.training = 'first')),
      /manager\.day 31: training refers to .*"first"/,
    ],
    [
      'two users with the same name',
      () => dumpWithChange('auth.user', (row) => (row.fields.username = 'user32')),
      /auth\.user 32: .*username/,
    ],
    [
      'a token of a missing user',
      () => dumpWithChange(DJANGO_TOKEN_MODEL, (row) => (row.fields.user = 99)),
      /authtoken\.token 0123…: user refers to auth\.user 99/,
    ],
  ];

  test.each(cases)('is rejected without changes when it has %s', async (_what, rows, message) => {
    await load([
      { model: 'core.language', pk: 7, fields: { short_name: 'fr', full_name: 'Français' } },
    ]);
    const before = await readEverything();
    const error = await Promise.resolve()
      .then(() => load(rows()))
      .catch((caught: Error) => caught);

    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain(TOKEN);
    expect(await readEverything()).toEqual(before);
  });
});

test('rejects a row whose parents belong to different users', async () => {
  await load(dump());
  const before = await readEverything();
  const workout = {
    model: 'manager.workout',
    pk: 50,
    fields: { creation_date: '2021-01-01', comment: '', user: 32 },
  };
  const step = {
    model: 'manager.schedulestep',
    pk: 50,
    fields: { schedule: 31, workout: 50, duration: 4, order: 1 },
  };

  await expect(load([workout, step])).rejects.toThrow(
    /manager\.schedulestep 50: workout refers to a row of another user/,
  );
  expect(await readEverything()).toEqual(before);
});

describe('a dump of many thousands of rows', () => {
  const FROM = 1_000;
  const COUNT = 12_500;
  const workouts = () =>
    Array.from({ length: COUNT }, (_, index): DumpRow => {
      const fields = {
        creation_date: '2021-01-01',
        comment: `tab\t line\n \\N ${index}`,
        user: FIRST,
      };

      return { model: 'manager.workout', pk: FROM + index, fields };
    });

  test('is imported completely', async () => {
    await load(dump());
    await load(workouts());
    const stored = await fitgraph.sql(
      'SELECT "id", "comment", "user_id" FROM "workout" WHERE "id" >= $1 ORDER BY "id"',
      [FROM],
    );

    expect(stored).toEqual(
      workouts().map(({ pk, fields }) => ({ id: pk, comment: fields.comment, user_id: FIRST })),
    );
  });

  const bad: [string, Record<string, unknown>, RegExp][] = [
    ['an invalid date', { creation_date: '2021-02-30' }, /^manager\.workout 12234: .*date/],
    ['a missing owner', { user: 99 }, /^manager\.workout 12234: user refers to auth\.user 99/],
    [
      'a text that is too long',
      { comment: 'x'.repeat(101) },
      /^manager\.workout 12234: .*too long/,
    ],
  ];

  test.each(bad)(
    'is rejected without changes, naming the row that has %s',
    async (_how, fields, message) => {
      await load(dump());
      const before = await readEverything();
      const rows = workouts();

      Object.assign(rows[11_234]!.fields, fields);
      await expect(load(rows)).rejects.toThrow(message);
      expect(await readEverything()).toEqual(before);
      // The connection can still be used.
      await load(workouts().slice(0, 1));
    },
  );
});

test('gives body weights the unit in the profile of their owner, wherever it is in the file', async () => {
  const rows = dump();

  for (const { model: name, fields } of rows) {
    if (name === 'core.userprofile') fields.weight_unit = 'lb';
    if (name === 'weight.weightentry') delete fields.unit;
  }

  for (const order of [rows, rows.toReversed()]) {
    await load(order, { shouldReplaceExisting: true });
    expect(await fitgraph.sql('SELECT "unit" FROM "weight_entry"')).toEqual([
      { unit: 'lb' },
      { unit: 'lb' },
    ]);
  }
});

test('imports measurements, with a date or a time, for the owner of their category', async () => {
  const category = { user: FIRST, name: 'Waist', unit: 'cm' };
  const measurement = (pk: number, date: string) => ({
    model: 'measurements.measurement',
    pk,
    fields: { category: 7, date, value: '81.50', notes: '' },
  });

  await load([
    ...dump(),
    { model: 'measurements.category', pk: 7, fields: category },
    measurement(1, '2023-01-02'),
    measurement(2, '2024-01-02T07:30:00Z'),
  ]);
  expect(
    await fitgraph.sql(
      'SELECT "user_id" AS "user", "date"::date::text AS "date", "value" FROM "measurement" WHERE "category_id" = 7 ORDER BY "id"',
    ),
  ).toEqual([
    { user: FIRST, date: '2023-01-02', value: '81.500' },
    { user: FIRST, date: '2024-01-02', value: '81.500' },
  ]);
});
