/**
 * Models match the migrations: tables that Sequelize creates from them equal the migrated tables in columns, types, nullability, defaults, keys and
 * indexes.
 */
import { Client } from 'pg';
import { fieldOf, fieldsOf, childFieldsSavedWithParent } from '../../../src/core/model/fields';
import { allEntities, resourceOf } from '../../../src/core/model/registry';
import { createDatabase } from '../../setup/databases';
import { describeModels, TABLES } from '../../setup/modelled';
import { describeTables, INDEXES, PLAIN, type ModelledTable } from '../../setup/tables';

let migrated: Client;
let drop: () => Promise<void>;
let modelled: Record<string, ModelledTable>;
beforeAll(async () => {
  const testDatabase = await createDatabase('tables');
  drop = testDatabase.drop;
  migrated = new Client(testDatabase.connection);
  await migrated.connect();
  modelled = await describeModels();
});
afterAll(() => migrated.end().then(drop));

test.each(TABLES)('the model of %s matches its migrated table', async (table) => {
  const { columns, constraints, indexes } = (await describeTables(migrated, [table]))[table]!;
  expect(Object.keys(columns).length).toBeGreaterThan(0);
  expect({ columns, constraints, indexes }).toEqual(modelled[table]);
});

/** Such indexes cover generated columns or expressions, have a condition, or include further columns. */
test('indexes that Sequelize cannot describe follow from the resources or are listed by name', async () => {
  const { rows } = await migrated.query(`${INDEXES} AND NOT (${PLAIN})`, [TABLES]);
  const searched = allEntities().flatMap((entity) =>
    fieldsOf(entity).flatMap((field) => {
      const name = `${resourceOf(entity)!.table}_${field.column}`;
      return field.indexedForSearch ? [`${name}_search`, `${name}_words`] : [];
    }),
  );
  const single = allEntities().flatMap((entity) => {
    const resource = resourceOf(entity)!;
    return resource.uniqueFlag
      ? [`${resource.table}_one_${fieldOf(entity, resource.uniqueFlag.flagFieldName).column}`]
      : [];
  });
  expect(searched.length).toBeGreaterThan(0);
  expect(single.length).toBeGreaterThan(0);
  expect(rows.map(({ name }) => name).sort()).toEqual(
    [
      ...searched,
      ...single,
      'ingredient_code',
      'ingredient_search_order',
      'user_account_iterations',
      'workout_log_volume',
    ].sort(),
  );
});

// Rows of a bulk update may exchange values. Constraints of other tables may be of either kind.
test('unique constraints are deferrable in tables with bulk writes', async () => {
  const { rows } = await migrated.query(
    `SELECT conrelid::regclass::text AS "table", condeferrable AS "deferrable" FROM pg_constraint
      WHERE contype = 'u' AND conrelid::regclass::text = ANY($1) AND pg_get_constraintdef(oid) NOT LIKE '%(user_id, id)%'`,
    [TABLES],
  );
  const unique = allEntities().filter((entity) => resourceOf(entity)!.uniqueFields?.length);
  expect(unique.length).toBeGreaterThan(2);
  expect(rows).toHaveLength(unique.length);
  const inBulk = unique
    .filter((entity) => resourceOf(entity)!.metadata.bulkCreateMutationName)
    .map((entity) => resourceOf(entity)!.table);
  expect(inBulk.length).toBeGreaterThan(1);
  expect(rows).toEqual(
    expect.arrayContaining(inBulk.map((table) => ({ table, deferrable: true }))),
  );
});

test('tables of parts have triggers that change the row version of the whole', async () => {
  const { rows } = await migrated.query<{ trigger: string }>(
    `SELECT pg_get_triggerdef(oid) AS "trigger" FROM pg_trigger WHERE tgfoid = 'fitgraph_part_changed'::regproc`,
  );
  const expected = allEntities().flatMap((entity) =>
    childFieldsSavedWithParent(entity).flatMap(
      ({ target, referenceFieldName: referenceFieldName }) => {
        const { table } = resourceOf(target())!;
        const call = `fitgraph_part_changed('${fieldOf(target(), referenceFieldName).column}', '${resourceOf(entity)!.table}')`;
        return ['INSERT', 'UPDATE', 'DELETE'].map(
          (operation) => `AFTER ${operation} ON public.${table} ${call}`,
        );
      },
    ),
  );
  expect(expected.length).toBeGreaterThanOrEqual(18);
  const found = rows.map(({ trigger }) =>
    trigger.replace(/^CREATE TRIGGER \w+ (AFTER \w+ ON \S+) .* EXECUTE FUNCTION (.*)$/, '$1 $2'),
  );
  expect(found.sort()).toEqual(expected.sort());
});
