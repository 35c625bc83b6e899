/**
 * Models say what the migrations made: the tables that Sequelize would make of them are the tables that there are, with their columns, types,
 * nulls, defaults, keys and indexes.
 */
import { Client } from 'pg';
import { getOptions } from 'sequelize-typescript';
import { fieldOf, fieldsOf } from '../../src/core/model/fields';
import { entities, resourceOf } from '../../src/core/model/registry';
import { models } from '../../src/graphql/schema';
import { createDatabase, open } from '../setup/databases';

interface Table {
  columns: Record<string, string>;
  constraints: string[];
  indexes: string[];
}
type Tables = Record<string, Table>;

const tables = models.map((model) => getOptions(model.prototype)!.tableName!).sort();

const COLUMNS = `SELECT c.relname AS "table", a.attname AS "name",
    concat_ws(' ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' END,
      CASE WHEN a.attidentity <> '' THEN 'IDENTITY' END, 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)) AS "definition"
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE c.relname = ANY($1) AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''`;

/** Not those that are there for an index alone. */
const CONSTRAINTS = `SELECT conrelid::regclass::text AS "table", pg_get_constraintdef(oid) AS "definition" FROM pg_constraint
  WHERE conrelid::regclass::text = ANY($1) AND contype IN ('p', 'f', 'c')`;

/** Those over columns, which have no condition and hold nothing else. */
const PLAIN = `i.indexprs IS NULL AND i.indpred IS NULL AND i.indnatts = i.indnkeyatts AND NOT EXISTS (
  SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey::int2[]) AND a.attgenerated <> '')`;

const indexes = (which: string) => `SELECT c.relname AS "table", x.relname AS "name",
    concat(CASE WHEN i.indisunique THEN 'UNIQUE ' END, substring(pg_get_indexdef(x.oid) FROM 'USING .*')) AS "definition"
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
  WHERE c.relname = ANY($1) AND NOT i.indisprimary AND ${which}`;

async function described(client: Client): Promise<Tables> {
  const found: Tables = Object.fromEntries(tables.map((table) => [table, { columns: {}, constraints: [], indexes: [] }]));
  for (const { table, name, definition } of (await client.query(COLUMNS, [tables])).rows) found[table]!.columns[name] = definition;
  for (const { table, definition } of (await client.query(CONSTRAINTS, [tables])).rows) found[table]!.constraints.push(definition);
  for (const { table, definition } of (await client.query(indexes(PLAIN), [tables])).rows) found[table]!.indexes.push(definition);
  for (const { constraints, indexes } of Object.values(found)) {
    constraints.sort();
    indexes.sort();
  }
  return found;
}

let migrated: Client;
let ofModels: Tables;
const ends: (() => Promise<unknown>)[] = [];

async function connected(content: 'nothing' | 'tables') {
  const { connection, drop } = await createDatabase(content);
  const client = new Client(connection);
  await client.connect();
  ends.push(() => client.end().then(drop));
  return { connection, client };
}

beforeAll(async () => {
  ({ client: migrated } = await connected('tables'));
  const { connection, client } = await connected('nothing');
  await client.query('CREATE COLLATION "reader" FROM "C"');
  const database = open(connection);
  await database.sequelize.sync();
  await database.close();
  ofModels = await described(client);
});
afterAll(async () => {
  for (const end of ends) await end();
});

/** Sequelize knows keys of one column. Where a row and the one that it names belong to a user, both keys have the owner before it. */
function withOwner(table: string, constraint: string): string {
  const target = /REFERENCES (\w+)\(id\)/.exec(constraint)?.[1];
  const isOwned = (name: string | undefined) =>
    entities().some((entity) => resourceOf(entity)!.table === name && resourceOf(entity)!.owned);
  const belongs = isOwned(table) || 'user_id' in ofModels[table]!.columns;
  if (!belongs || !isOwned(target) || target === 'user_account') return constraint;
  return constraint.replace('KEY (', 'KEY (user_id, ').replace(`${target}(id)`, `${target}(user_id, id)`);
}

test.each(tables)('%s', async (table) => {
  const found = (await described(migrated))[table]!;
  const { columns, constraints, indexes } = ofModels[table]!;
  expect(Object.keys(columns).length).toBeGreaterThan(0);
  expect(found).toEqual({ columns, constraints: constraints.map((one) => withOwner(table, one)).sort(), indexes });
});

/** Over worked out columns or expressions, with a condition, or with columns that are only carried along. */
test('what Sequelize cannot say of indexes is one for each fact, and two by name', async () => {
  const { rows } = await migrated.query(indexes(`NOT (${PLAIN})`), [tables]);
  const searched = entities().flatMap((entity) =>
    fieldsOf(entity).flatMap((field) => {
      const name = `${resourceOf(entity)!.table}_${field.column}`;
      return field.searched ? [`${name}_search`, `${name}_words`] : [];
    }),
  );
  const single = entities().flatMap((entity) => {
    const resource = resourceOf(entity)!;
    return resource.single ? [`${resource.table}_one_${fieldOf(entity, resource.single.flag).column}`] : [];
  });
  expect(searched.length).toBeGreaterThan(0);
  expect(single.length).toBeGreaterThan(0);
  expect(rows.map(({ name }) => name).sort()).toEqual(
    [...searched, ...single, 'ingredient_search_order', 'user_account_iterations'].sort(),
  );
});

test('what is unique in tables of which many rows are written together is so when a statement ends', async () => {
  const { rows } = await migrated.query(
    `SELECT conrelid::regclass::text AS "table", condeferrable AS "deferrable" FROM pg_constraint
      WHERE contype = 'u' AND conrelid::regclass::text = ANY($1) AND pg_get_constraintdef(oid) NOT LIKE '%(user_id, id)%'`,
    [tables],
  );
  const unique = entities().filter((entity) => resourceOf(entity)!.unique?.length);
  expect(unique.length).toBeGreaterThan(2);
  const expected = unique.map((entity) => ({ table: resourceOf(entity)!.table, deferrable: Boolean(resourceOf(entity)!.fact.createMany) }));
  expect(rows).toHaveLength(expected.length);
  expect(rows).toEqual(expect.arrayContaining(expected));
});
