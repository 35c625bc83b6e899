/**
 * Changes of the public catalogue: a client that applies them has exactly the rows that the server
 * returns.
 */
import { getNamedType, isLeafType, isNonNullType, type GraphQLObjectType } from 'graphql';
import type { PoolClient } from 'pg';
import type { Entity } from '../../../src/engine/declare/fields';
import { allEntities, resourceOf } from '../../../src/engine/declare/registry';
import { toSnakeCase } from '../../../src/shared/casing';
import { lowerFirst } from '../../../src/engine/declare/inflection';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { hasPages, isListed } from '../../setup/generic-lists';
import { randomFor, seeded } from '../../setup/random';

/** PUBLIC_URL makes both instances return the same links. */
const environment = { PUBLIC_URL: 'https://fit.example.com' };
const one = fitgraphForThisFile({ environment });
let two: Fitgraph;
let ann: Person;

beforeAll(async () => {
  two = await Fitgraph.start({ sameDatabaseAs: one, environment });
  ann = await one.user('ann');
});
afterAll(() => two.stop());

const CHANGES = `query ($since: String, $types: [RowType!], $first: Int) {
  changes(since: $since, types: $types, first: $first) { cursor hasMore changes { type rowId operation node { nodeId } } } }`;

interface Change {
  type: string;
  rowId: string;
  operation: string;
  node: object | null;
}

async function changesSince(
  cursor: string | null,
  types: string[] | undefined,
  person = one.anonymous,
): Promise<{ cursor: string; changes: Change[] }> {
  const all: Change[] = [];

  for (;;) {
    const { changes } = await person.ask(CHANGES, { since: cursor, types });

    all.push(...changes.changes);
    cursor = changes.cursor;
    if (!changes.hasMore) return { cursor: cursor!, changes: all };
  }
}

const summarize = (changes: Change[]) =>
  changes.map(({ type, rowId, operation }) => `${operation} ${type} ${rowId}`);
const FOODS = ['INGREDIENT', 'INGREDIENT_UNIT'];
const EXERCISES = ['EXERCISE', 'EXERCISE_TRANSLATION', 'EXERCISE_COMMENT'];

const addIngredient = (name: string, status = '2') =>
  one.sql(
    `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
     VALUES ($1, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, 2, $2) RETURNING "id"`,
    [name, status],
  );

test('returns a cursor that is not newer than rows of the same query from memory', async () => {
  const types = ['EXERCISE_CATEGORY'];
  const rename = (name: string) =>
    one.sql(
      `UPDATE "exercise_category" SET "name" = $1
      WHERE "id" = (SELECT "category_id" FROM "exercise_base" WHERE "id" = 1)`,
      [name],
    );
  const read = async () =>
    one.anonymous.ask(
      '{ changes(types: [EXERCISE_CATEGORY]) { cursor } exercise(id: 1) { category { name } } }',
    );
  const before = (await read()).exercise.category.name;

  // The instance receives no notifications until it reconnects, half a second later.
  await one.sql(`SELECT pg_terminate_backend("pid") FROM pg_stat_activity
    WHERE "application_name" LIKE 'fitgraph listener%' AND "datname" = current_database()`);
  await rename('Renamed');
  const { changes, exercise } = await read();

  expect(exercise.category.name).toBe('Renamed');
  expect((await changesSince(changes.cursor, types)).changes).toEqual([]);
  await rename(before);
});

test('lists changes of ingredients in order for an anonymous client', async () => {
  const { cursor } = await changesSince(null, FOODS);
  const [{ id }] = (await addIngredient('Quark')) as [{ id: number }];

  await one.sql(
    `INSERT INTO "ingredient_unit" ("ingredient_id", "unit_id", "gram") VALUES ($1, 1, 9)`,
    [id],
  );
  await one.sql('UPDATE "ingredient" SET "energy" = 5 WHERE "id" = $1', [id]);
  const read = await changesSince(cursor, FOODS);

  expect(summarize(read.changes)).toEqual([
    `CREATED INGREDIENT ${id}`,
    expect.stringMatching(/^CREATED INGREDIENT_UNIT/),
    `UPDATED INGREDIENT ${id}`,
  ]);
  expect(read.changes.every(({ node }) => node)).toBe(true);
  await one.sql('DELETE FROM "ingredient" WHERE "id" = $1', [id]);
  expect(summarize((await changesSince(read.cursor, FOODS)).changes).sort()).toEqual([
    `DELETED INGREDIENT ${id}`,
    expect.stringMatching(/^DELETED INGREDIENT_UNIT/),
  ]);
});

test('lists only owned rows without `types`, and owned and public rows in order with `types`', async () => {
  const [own, both] = [
    await changesSince(null, undefined, ann),
    await changesSince(null, ['WEIGHT_ENTRY', 'INGREDIENT'], ann),
  ];

  await one.sql('UPDATE "ingredient" SET "energy" = 6 WHERE "id" = 1');
  const entry = (await ann.post('/weightentry/', { date: '2020-01-01', weight: '80' })).body.id;

  await one.sql('UPDATE "ingredient" SET "energy" = 7 WHERE "id" = 2');
  expect(summarize((await changesSince(own.cursor, undefined, ann)).changes)).toEqual([
    `CREATED WEIGHT_ENTRY ${entry}`,
  ]);
  expect(
    summarize((await changesSince(both.cursor, ['WEIGHT_ENTRY', 'INGREDIENT'], ann)).changes),
  ).toEqual(['UPDATED INGREDIENT 1', `CREATED WEIGHT_ENTRY ${entry}`, 'UPDATED INGREDIENT 2']);
});

test('rejects an anonymous request for changes of owned rows', async () => {
  for (const types of [undefined, ['WORKOUT'], ['INGREDIENT', 'WORKOUT']]) {
    expect((await one.anonymous.query(CHANGES, { types })).code).toBe('UNAUTHENTICATED');
  }
});

test('hides the row of a pending ingredient until it is accepted', async () => {
  const { cursor } = await changesSince(null, FOODS);
  const [{ id }] = (await addIngredient('Secret sauce', '1')) as [{ id: number }];
  const pending = await changesSince(cursor, FOODS);

  expect(pending.changes).toEqual([
    { type: 'INGREDIENT', rowId: String(id), operation: 'CREATED', node: null },
  ]);
  await one.sql(`UPDATE "ingredient" SET "status" = '2' WHERE "id" = $1`, [id]);
  const accepted = await changesSince(pending.cursor, FOODS);

  expect(accepted.changes).toMatchObject([
    { operation: 'UPDATED', node: { nodeId: expect.anything() } },
  ]);
  await one.sql(`UPDATE "ingredient" SET "status" = '3' WHERE "id" = $1`, [id]);
  expect((await changesSince(accepted.cursor, FOODS)).changes).toMatchObject([
    { operation: 'UPDATED', node: null },
  ]);
});

test.each<[what: string, change: string, changedRows: string[]]>([
  [
    'a muscle added to an exercise',
    `INSERT INTO "exercise_base_muscle" VALUES (1, 3, false)`,
    ['EXERCISE 1', 'EXERCISE_TRANSLATION 1'],
  ],
  [
    'equipment removed from an exercise',
    `DELETE FROM "exercise_base_equipment" WHERE "exercise_base_id" = 1`,
    ['EXERCISE 1', 'EXERCISE_TRANSLATION 1'],
  ],
  [
    'a muscle moved to another exercise',
    `UPDATE "exercise_base_muscle" SET "exercise_base_id" = 3 WHERE "exercise_base_id" = 1 AND "muscle_id" = 2`,
    ['EXERCISE 1', 'EXERCISE 3', 'EXERCISE_TRANSLATION 1', 'EXERCISE_TRANSLATION 3'],
  ],
  [
    'the category of an exercise',
    `UPDATE "exercise_base" SET "category_id" = 3 WHERE "id" = 2`,
    ['EXERCISE 2', 'EXERCISE_TRANSLATION 2'],
  ],
  [
    'the variation group of an exercise',
    `UPDATE "exercise_base" SET "variation_id" = NULL WHERE "id" = 2`,
    [
      'EXERCISE 2',
      'EXERCISE_TRANSLATION 1',
      'EXERCISE_TRANSLATION 2',
      'EXERCISE_TRANSLATION 3',
      'EXERCISE_TRANSLATION 4',
    ],
  ],
  [
    'the language of a translation',
    `UPDATE "exercise" SET "language_id" = 1 WHERE "id" = 2`,
    ['EXERCISE 2', 'EXERCISE_TRANSLATION 2', 'EXERCISE_COMMENT 2'],
  ],
  [
    'the review status of a translation',
    `UPDATE "exercise" SET "status" = '3' WHERE "id" = 4`,
    [
      'EXERCISE 4',
      'EXERCISE_TRANSLATION 4',
      'EXERCISE_COMMENT 4',
      'EXERCISE_TRANSLATION 1',
      'EXERCISE_TRANSLATION 3',
    ],
  ],
  [
    'the name of an exercise',
    `UPDATE "exercise" SET "name" = 'Row' WHERE "id" = 3`,
    ['EXERCISE_TRANSLATION 3', 'EXERCISE 3'],
  ],
  ['an update of no row', `UPDATE "exercise" SET "name" = 'None' WHERE FALSE`, []],
])('reports all rows that show the changed data: %s', async (_what, change, changedRows) => {
  const { cursor } = await changesSince(null, EXERCISES);

  await one.sql(change);
  const { changes } = await changesSince(cursor, EXERCISES);

  expect(new Set(summarize(changes))).toEqual(new Set(changedRows.map((row) => `UPDATED ${row}`)));
});

test('reports the name of an exercise when concurrent transactions insert translations', async () => {
  const [{ id }] = (await one.sql(
    `INSERT INTO "exercise_base" ("uuid", "status", "category_id") VALUES (gen_random_uuid(), '2', 1) RETURNING "id"`,
  )) as [{ id: number }];
  const add = (client: PoolClient, name: string, language: number) =>
    client.query(
      `INSERT INTO "exercise" ("uuid", "name", "status", "description", "language_id", "exercise_base_id")
       VALUES (gen_random_uuid(), $1, '2', 'How it is done.', $2, $3)`,
      [name, language, id],
    );
  const FOLLOW = `query ($since: String!) { changes(since: $since, types: [EXERCISE]) { cursor hasMore changes { node { ... on Exercise { name } } } } }`;
  const names: string[] = [];
  let { cursor } = await changesSince(null, EXERCISES);

  const sync = async () => {
    const { changes } = await one.anonymous.ask(FOLLOW, { since: cursor });

    for (const { node } of changes.changes) names.push(node.name);
    cursor = changes.cursor;
    expect(changes.hasMore).toBe(false);
  };

  const [first, second] = [await one.database.pool.connect(), await one.database.pool.connect()];

  try {
    await first.query('BEGIN');
    await second.query('BEGIN');
    await add(first, 'Twin in German', 1);
    const later = add(second, 'Twin', 2);

    await first.query('COMMIT');
    await sync();
    await later;
    await second.query('COMMIT');
    await sync();
  } finally {
    first.release();
    second.release();
  }

  expect(names).toEqual(['Twin in German', 'Twin']);
  await one.sql('DELETE FROM "exercise_base" WHERE "id" = $1', [id]);
});

test('reads a page of changes with a constant number of statements', async () => {
  const statements = async (rows: number) => {
    const { cursor } = await changesSince(null, FOODS);

    await one.sql(
      `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "language_id", "status")
       SELECT 'Food ' || n, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 2, '2' FROM generate_series(1, $1) n`,
      [rows],
    );
    const answer = await one.anonymous.query(
      CHANGES.replace('nodeId }', 'nodeId ... on Ingredient { name energy } }'),
      {
        since: cursor,
        types: FOODS,
        first: 500,
      },
    );

    expect(answer.data.changes.changes).toHaveLength(rows);
    return answer.statements;
  };

  const few = await statements(1);

  expect([await statements(20), await statements(400)]).toEqual([few, few]);
  expect(few).toBeLessThanOrEqual(2);
});

test('deletes changes older than a month on startup', async () => {
  await one.sql(`UPDATE "change" SET "at" = now() - interval '32 days' WHERE "user_id" IS NULL`);
  const three = await Fitgraph.start({ sameDatabaseAs: one });

  expect(await one.sql(`SELECT FROM "change" WHERE "user_id" IS NULL`)).toEqual([]);
  await three.stop();
});

test('expires cursors when a table is truncated', async () => {
  const { cursor } = await changesSince(null, FOODS);

  await one.sql('TRUNCATE "exercise_comment"');
  expect((await one.anonymous.query(CHANGES, { since: cursor, types: FOODS })).code).toBe(
    'CURSOR_EXPIRED',
  );
});

describe('a client that applies catalogue changes', () => {
  const schema = buildGraphQLSchema();
  const types = allEntities().filter((entity) => {
    const { isOwned, isForCurators } = resourceOf(entity)!;

    return !isOwned && !isForCurators && isListed(entity);
  });
  const NAMES = types.map((entity) => toSnakeCase(lowerFirst(entity.name)).toUpperCase());
  const leafFields = (entity: Entity) =>
    Object.values((schema.getType(entity.name) as GraphQLObjectType).getFields())
      .filter(
        ({ type, args }) =>
          isLeafType(getNamedType(type)) && !args.some((argument) => isNonNullType(argument.type)),
      )
      .map(({ name }) => (name === 'nodeId' ? name : `${entity.name}_${name}: ${name}`))
      .join(' ');
  const FOLLOW = `query ($since: String!, $types: [RowType!]) { changes(since: $since, types: $types, first: 11) { cursor hasMore changes { operation rowNodeId node {
    nodeId ${types.map((entity) => `... on ${entity.name} { ${leafFields(entity)} }`).join(' ')} } } } }`;

  /** Reads all rows that are visible to the person, page by page. */
  async function readAllRows(person: Person, first: number): Promise<Map<string, object>> {
    const all = new Map<string, object>();

    for (const entity of types) {
      const { pluralName } = resourceOf(entity)!;

      if (!hasPages(entity)) {
        const { list } = await person.ask(`{ list: ${pluralName} { ${leafFields(entity)} } }`);

        for (const node of list) all.set(node.nodeId, node);
        continue;
      }

      for (let after: string | null = null, more = true; more;) {
        const { page } = await person.ask(
          `query ($after: String) { page: ${pluralName}(first: ${first}, after: $after, orderBy: [{ id: ASC }]) { nodes { ${leafFields(entity)} } pageInfo { hasNextPage endCursor } } }`,
          { after },
        );

        for (const node of page.nodes) all.set(node.nodeId, node);
        after = page.pageInfo.endCursor;
        more = page.pageInfo.hasNextPage;
      }
    }

    return all;
  }

  test.each([1, 2, 3])(
    seeded('has the same rows as the server after random writes (client %i)'),
    async (number) => {
      const random = randomFor(`changes of the catalogue ${number}`);
      const reader = randomFor(`readers of the catalogue ${number}`);
      const randomStatus = () => random.pick(['1', '2', '2', '3'] as const);
      const randomRowId = (table: string) =>
        `(SELECT "id" FROM "${table}" ORDER BY "id" OFFSET ${random.int(0, 3)} LIMIT 1)`;
      let names = 0;
      const name = (what: string) => `'${what} ${number}-${(names += 1)}'`;
      const writes: (() => string)[] = [
        () => `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "language_id", "status")
        VALUES (${name('Food')}, '2021-01-01', '2021-01-01', 1, 1, 1, 1, ${randomRowId('language')}, '${randomStatus()}')`,
        () =>
          `UPDATE "ingredient" SET "name" = ${name('Meal')}, "status" = '${randomStatus()}' WHERE "id" = ${randomRowId('ingredient')}`,
        () => `DELETE FROM "ingredient" WHERE "id" = (SELECT max("id") FROM "ingredient")`,
        () => `INSERT INTO "household_unit" ("language_id", "name") VALUES (2, ${name('Spoon')})`,
        () =>
          `INSERT INTO "ingredient_unit" ("ingredient_id", "unit_id", "gram") SELECT ${randomRowId('ingredient')}, ${randomRowId('household_unit')}, 3`,
        () => `DELETE FROM "household_unit" WHERE "id" = (SELECT max("id") FROM "household_unit")`,
        () => `UPDATE "ingredient_unit" SET "gram" = ${random.int(1, 99)}`,
        () =>
          `INSERT INTO "exercise_base" ("uuid", "status", "category_id", "variation_id") VALUES (gen_random_uuid(), '${randomStatus()}', ${randomRowId('exercise_category')}, 1)`,
        () => `INSERT INTO "exercise" ("uuid", "name", "status", "description", "language_id", "exercise_base_id")
        SELECT gen_random_uuid(), ${name('Lift')}, '${randomStatus()}', 'How it is done.', 2, "id" FROM "exercise_base" ORDER BY "id" DESC LIMIT 1`,
        () =>
          `UPDATE "exercise" SET "status" = '${randomStatus()}', "language_id" = ${randomRowId('language')} WHERE "id" = ${randomRowId('exercise')}`,
        () =>
          `UPDATE "exercise_base" SET "category_id" = ${randomRowId('exercise_category')}, "variation_id" = ${random.pick(['1', 'NULL'] as const)} WHERE "id" = ${randomRowId('exercise_base')}`,
        () =>
          `INSERT INTO "exercise_base_muscle" VALUES (${randomRowId('exercise_base')}, ${randomRowId('muscle')}, ${random.pick(['true', 'false'] as const)}) ON CONFLICT DO NOTHING`,
        () =>
          `DELETE FROM "exercise_base_muscle" WHERE "exercise_base_id" = ${randomRowId('exercise_base')}`,
        () =>
          `INSERT INTO "exercise_base_equipment" VALUES (${randomRowId('exercise_base')}, ${randomRowId('equipment')}) ON CONFLICT DO NOTHING`,
        () =>
          `INSERT INTO "exercise_comment" ("exercise_id", "comment") SELECT ${randomRowId('exercise')}, ${name('Mind')}`,
        () => `DELETE FROM "exercise" WHERE "id" = (SELECT max("id") FROM "exercise")`,
        () => `INSERT INTO "variation" DEFAULT VALUES`,
        () =>
          `UPDATE "exercise_image" SET "is_main" = NOT "is_main", "status" = '${randomStatus()}'`,
      ];

      const write = async () => {
        // Makes all random choices before the first `await`, so that they do not depend on the
        // interleaving of transactions.
        const instance = random.pick([one, two]);
        const statements = Array.from({ length: random.int(1, 3) }, () => random.pick(writes)());
        const end = random.chance(0.85) ? 'COMMIT' : 'ROLLBACK';
        const client = await instance.database.pool.connect();

        try {
          await client.query('BEGIN');
          for (const statement of statements) await client.query(statement);
          await client.query(end);
        } catch {
          // A deadlock occurred, or another transaction has deleted the parent.
          await client.query('ROLLBACK');
        } finally {
          client.release();
        }
      };

      const keep = new Map<string, object>();
      let cursor: string | null = null;

      const sync = async () => {
        for (let more = true; more;) {
          const { changes } = await reader
            .pick([one, two])
            .anonymous.ask(FOLLOW, { since: cursor, types: NAMES });

          for (const { rowNodeId, node } of changes.changes) {
            if (node) keep.set(rowNodeId, node);
            else keep.delete(rowNodeId);
          }

          cursor = changes.cursor;
          more = changes.hasMore;
        }
      };

      ({ cursor } = await changesSince(null, NAMES));
      const early = Array.from({ length: 10 }, write);

      for (const [nodeId, node] of await readAllRows(two.anonymous, 3)) keep.set(nodeId, node);
      await Promise.all(early);

      for (let round = 0; round < 10; round += 1) {
        const acts = Array.from({ length: 1 + random.int(0, 6) }, write);

        if (random.chance(0.5)) await sync();
        await Promise.all(acts);
      }

      await sync();

      const server = await readAllRows(one.anonymous, 500);

      // Rows that no write deletes, such as languages and units, are always left.
      expect(server.size).toBeGreaterThan(20);
      const sorted = (map: Map<string, object>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

      expect(sorted(keep)).toEqual(sorted(server));
    },
  );
});
