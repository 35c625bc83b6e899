/**
 * Models match the database: every stored field has a column, and every column has a field unless
 * the database fills it.
 */
import { contributorTableOf } from '../../src/engine/access/access';
import {
  partFields,
  fieldOf,
  fieldsOf,
  type Entity,
  type EntityField,
} from '../../src/engine/declare/fields';
import { allEntities, resourceOf } from '../../src/engine/declare/registry';
import { VERSION_FIELD } from '../../src/engine/declare/audit-fields';
import '../../src/graphql/schema';
import { INDEXES, PLAIN } from '../setup/database-tables';
import { indexesOf } from '../setup/declared-indexes';
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile({ content: 'tables' });

interface Column {
  column: string;
  type: string;
  nullable: boolean;
  length: number | null;
  digits: number | null;
  places: number | null;
}

async function columnsOf(table: string): Promise<Column[]> {
  const rows = await fitgraph.sql(
    `SELECT column_name AS "column", udt_name AS "type", is_nullable = 'YES' AS "nullable", character_maximum_length AS "length",
            CASE udt_name WHEN 'numeric' THEN numeric_precision END AS "digits", CASE udt_name WHEN 'numeric' THEN numeric_scale END AS "places"
       FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER' ORDER BY 1`,
    [table],
  );

  return rows as Column[];
}

const TYPES: Partial<Record<EntityField['kind'], string>> = {
  integer: 'int4',
  relation: 'int4',
  boolean: 'bool',
  decimal: 'numeric',
  date: 'date',
  time: 'time',
  datetime: 'timestamptz',
  uuid: 'uuid',
};

const textType = (field: EntityField) =>
  field.kind === 'choice' || field.maxLength ? 'varchar' : 'text';

/** Columns that no field declares, and those of version 0.4.0. */
const HIDDEN_COLUMNS: Partial<Record<string, readonly string[]>> = {
  CatalogueChange: ['after', 'before', 'user_id'],
  Exercise: ['edited_at', 'merged_into_id', 'name_folded', 'names', 'source_id', 'source_name'],
  ExerciseTranslation: ['name_words'],
  Ingredient: ['edited_at', 'merged_into_id', 'name_words', 'source_id'],
  User: ['email_verified', 'password'],
};

const entities = allEntities().map((entity): [string, Entity] => [entity.name, entity]);

test.each(entities)('the fields of %s match the columns of its table', async (_name, entity) => {
  const { table, isOwned } = resourceOf(entity)!;
  const hidden = [...(HIDDEN_COLUMNS[entity.name] ?? []), ...(isOwned ? [VERSION_FIELD] : [])];
  const columns = (await columnsOf(table)).filter(({ column }) => !hidden.includes(column));
  const stored = fieldsOf(entity)
    .filter((field) => field.isColumn)
    .sort((a, b) => (a.column! < b.column! ? -1 : 1));
  const described = stored.map((field) => ({
    column: field.column,
    type: TYPES[field.kind] ?? textType(field),
    nullable: field.allowNull,
    length: field.maxLength ?? null,
    digits: field.maxDigits ?? null,
    places: field.decimalPlaces ?? null,
  }));
  // Only the column limits the length of a choice.
  const choices = new Set(
    stored.filter(({ kind }) => kind === 'choice').map(({ column }) => column),
  );
  const found = columns.map((column) =>
    choices.has(column.column) ? { ...column, length: null } : column,
  );

  expect(found).toEqual(described);
});

test('link tables have exactly the expected columns', async () => {
  for (const entity of allEntities()) {
    for (const { link } of fieldsOf(entity)) {
      if (!link) continue;
      const owner = resourceOf(entity)!.isOwned ? ['user_id'] : [];
      const expected = [
        link.ownColumn,
        link.otherColumn,
        ...Object.keys(link.discriminators ?? {}),
        ...owner,
      ].sort();

      expect((await columnsOf(link.table)).map(({ column }) => column)).toEqual(expected);
    }
  }
});

/** Internal tables of the service. */
const INTERNAL_TABLES = [
  'migration',
  'token',
  'access_token',
  'security_event',
  'login_attempt',
  'session',
  'password_link',
  'account',
  'idempotency_key',
  'idempotency_usage',
  'change',
  'table_change',
  'change_log',
  'former_change_log',
  'restored',
  'removed_file',
  'budget',
  'search_word',
  'catalogue_word',
  'refused_food',
  'identity',
  'preference',
  'secret_key_fingerprint',
];

test('every table belongs to a model or is listed as internal', async () => {
  const rows = await fitgraph.sql(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const links = allEntities().flatMap((entity) =>
    fieldsOf(entity).flatMap(({ link }) => (link ? [link.table] : [])),
  );
  const contributorTables = allEntities().flatMap((entity) => contributorTableOf(entity) ?? []);
  const known = [
    ...allEntities().map((entity) => resourceOf(entity)!.table),
    ...links,
    ...contributorTables,
    ...INTERNAL_TABLES,
  ];

  expect(rows.map(({ name }) => name).sort()).toEqual([...new Set(known)].sort());
});

test('every owned table has an index and foreign keys that start with the owner', async () => {
  const owned = allEntities().filter(
    (entity) => resourceOf(entity)!.isOwned && resourceOf(entity)!.table !== 'user_account',
  );
  const tables = owned.map((entity) => resourceOf(entity)!.table);

  for (const entity of owned) {
    const { table } = resourceOf(entity)!;
    const indexes = await fitgraph.sql(`SELECT indexdef FROM pg_indexes WHERE tablename = $1`, [
      table,
    ]);

    expect(indexes.filter(({ indexdef }) => /\(user_id/.test(indexdef)).length).toBeGreaterThan(0);
    // Composite keys, so that a row can only reference rows of the same owner.
    const keys = await fitgraph.sql(
      `SELECT (SELECT array_agg(attname::text ORDER BY place) FROM unnest(conkey) WITH ORDINALITY AS k(number, place)
                 JOIN pg_attribute ON attrelid = conrelid AND attnum = k.number) AS "columns"
         FROM pg_constraint WHERE contype = 'f' AND conrelid = $1::regclass AND confrelid = ANY($2::text[]::regclass[])`,
      [table, tables],
    );
    const parents = fieldsOf(entity)
      .filter(({ relation, isColumn }) => isColumn && relation?.isOwned)
      .map(({ column }) => ['user_id', column])
      .filter(([, column]) => column !== 'user_id');

    expect([table, keys.map(({ columns }) => columns).sort()]).toEqual([table, parents.sort()]);
  }
});

test('triggers record changes of all rows and of public tables', async () => {
  const triggers = await fitgraph.sql(
    `SELECT c.relname AS "table", p.proname AS "function", array_agg(DISTINCT event) AS "events"
       FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid,
       LATERAL (VALUES (4, 'INSERT'), (8, 'DELETE'), (16, 'UPDATE'), (32, 'TRUNCATE')) AS e(bit, event)
      WHERE NOT t.tgisinternal AND t.tgtype & e.bit > 0 GROUP BY 1, 2`,
  );
  const eventsOf = (table: string, name: string): string[] =>
    triggers.find(
      (trigger) => trigger.table === table && trigger.function === `fitgraph_${name}_changed`,
    )?.events ?? [];

  // The history of the catalogue is itself a log of changes.
  for (const entity of allEntities().filter((one) => !resourceOf(one)!.isForCurators)) {
    const { table, isOwned } = resourceOf(entity)!;
    const links = fieldsOf(entity).flatMap(({ link }) =>
      link && link.table !== table ? [link.table] : [],
    );

    if (isOwned) {
      expect([table, eventsOf(table, 'rows')]).toEqual([table, ['DELETE', 'INSERT', 'UPDATE']]);

      for (const link of links) {
        expect([link, eventsOf(link, 'links')]).toEqual([link, ['DELETE', 'INSERT', 'UPDATE']]);
      }
    } else {
      for (const name of [table, ...links]) {
        expect([name, eventsOf(name, 'table')]).toEqual([
          name,
          ['DELETE', 'INSERT', 'TRUNCATE', 'UPDATE'],
        ]);
      }

      expect([table, eventsOf(table, 'public_rows')]).toEqual([
        table,
        ['DELETE', 'INSERT', 'UPDATE'],
      ]);

      for (const link of links) {
        expect([link, eventsOf(link, 'base_links')]).toEqual([
          link,
          ['DELETE', 'INSERT', 'UPDATE'],
        ]);
      }
    }
  }
});

test('every owned table records creation, update and version of its rows', async () => {
  const owned = allEntities().filter((entity) => resourceOf(entity)!.isOwned);

  expect(owned.length).toBeGreaterThanOrEqual(15);

  for (const entity of owned) {
    const { table } = resourceOf(entity)!;
    const columns = await fitgraph.sql(
      `SELECT column_name AS "name", udt_name AS "type", is_nullable AS "null", column_default AS "default", datetime_precision AS "digits"
         FROM information_schema.columns WHERE table_name = $1 AND column_name IN ('created_at', 'updated_at', 'version') ORDER BY 1`,
      [table],
    );
    const moment = { type: 'timestamptz', null: 'NO', default: 'now()', digits: 6 };

    expect([table, columns]).toEqual([
      table,
      [
        { name: 'created_at', ...moment },
        { name: 'updated_at', ...moment },
        {
          name: VERSION_FIELD,
          type: 'uuid',
          null: 'NO',
          default: 'gen_random_uuid()',
          digits: null,
        },
      ],
    ]);
    const triggers = await fitgraph.sql(
      `SELECT pg_get_triggerdef(t.oid) AS "definition" FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE t.tgrelid = $1::regclass AND p.proname = 'fitgraph_stamped'`,
      [table],
    );

    expect(triggers.map(({ definition }) => definition)).toEqual([
      expect.stringMatching(/BEFORE UPDATE ON .* FOR EACH ROW/),
    ]);
  }
});

/**
 * Tables with a user but without row-level security, because they are read before authentication or
 * written without a user, or belong to the catalogue.
 */
const WITHOUT_POLICY = [
  'access_token',
  'catalogue_change',
  'exercise_base_contributor',
  'exercise_image_contributor',
  'ingredient_contributor',
  'password_link',
  'security_event',
  'session',
  'token',
];

test('every table of owned rows has a policy that compares the owner with the viewer', async () => {
  const policies = await fitgraph.sql(
    `SELECT c.relname AS "table", p.polcmd AS "command", pg_get_expr(p.polqual, p.polrelid) AS "using", pg_get_expr(p.polwithcheck, p.polrelid) AS "check"
       FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid WHERE c.relrowsecurity AND p.polpermissive AND c.relname <> 'change' ORDER BY 1`,
  );
  const owned = allEntities().filter((entity) => resourceOf(entity)!.isOwned);
  const expected = new Map(
    owned.map((entity) => [resourceOf(entity)!.table, resourceOf(entity)!.ownerColumn]),
  );

  for (const entity of owned) {
    for (const { link } of fieldsOf(entity)) if (link) expected.set(link.table, 'user_id');
  }

  for (const table of ['idempotency_key', 'idempotency_usage', 'identity']) {
    expected.set(table, 'user_id');
  }

  const policyWithOwner = (owner: string) =>
    expect.stringMatching(
      new RegExp(`^\\(${owner} = \\( SELECT .*current_setting\\('fitgraph.viewer'`),
    );

  expect(policies).toEqual(
    [...expected].sort().map(([table, owner]) => ({
      table,
      command: '*',
      using: policyWithOwner(owner),
      check: policyWithOwner(owner),
    })),
  );
});

test('every table with a user id has a policy or is listed as an exception', async () => {
  const rows = await fitgraph.sql(
    `SELECT c.relname AS "name" FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attname = 'user_id' AND NOT c.relrowsecurity ORDER BY 1`,
  );

  expect(rows.map(({ name }) => name)).toEqual(WITHOUT_POLICY);
});

const TABLES = allEntities()
  .map((entity) => resourceOf(entity)!.table)
  .sort();

/** Indexes for search by name (migration 0093). */
const SEARCH_INDEXES = allEntities().flatMap((entity) =>
  fieldsOf(entity).flatMap(({ column, indexedForSearch }) =>
    indexedForSearch
      ? ['search', 'vector', 'prefix'].map((end) => `${resourceOf(entity)!.table}_${column}_${end}`)
      : [],
  ),
);

test.each(entities)('the indexes of %s follow from its declaration', async (_name, entity) => {
  const { table } = resourceOf(entity)!;
  const indexes = await fitgraph.sql(`${INDEXES} AND ${PLAIN}`, [[table]]);

  const declared = indexes.filter(({ name }) => !SEARCH_INDEXES.includes(name));

  expect(declared.map(({ definition }) => definition.replaceAll('"', '')).sort()).toEqual(
    indexesOf(entity),
  );
});

/**
 * Such indexes cover generated columns or expressions, have a condition, or include further
 * columns.
 */
test('further indexes follow from the resources or are listed by name', async () => {
  const rows = await fitgraph.sql(
    `SELECT * FROM (${INDEXES}) i WHERE "name" = ANY($2) UNION ${INDEXES} AND NOT (${PLAIN})`,
    [TABLES, SEARCH_INDEXES],
  );
  const single = allEntities().flatMap((entity) => {
    const resource = resourceOf(entity)!;

    return resource.uniqueFlag
      ? [`${resource.table}_one_${fieldOf(entity, resource.uniqueFlag.flagFieldName).column}`]
      : [];
  });

  expect(SEARCH_INDEXES.length).toBeGreaterThan(0);
  expect(single.length).toBeGreaterThan(0);
  expect(rows.map(({ name }) => name).sort()).toEqual(
    [
      ...SEARCH_INDEXES,
      ...single,
      'catalogue_change_creation',
      'catalogue_change_row',
      'exercise_base_source',
      'ingredient_code',
      'ingredient_imported_gtin',
      'ingredient_other_gtin',
      'ingredient_search_names',
      'ingredient_source',
      'user_account_email',
      'user_account_iterations',
      'workout_log_lifts',
    ].sort(),
  );
});

// Rows of a bulk update may exchange values. Constraints of other tables may be of either kind.
test('unique constraints are deferrable in tables with bulk writes', async () => {
  const rows = await fitgraph.sql(
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
  const rows = await fitgraph.sql(
    `SELECT pg_get_triggerdef(oid) AS "trigger" FROM pg_trigger WHERE tgfoid = 'fitgraph_part_changed'::regproc`,
  );
  // Versions of public rows do not include their parts.
  const owned = allEntities().filter((entity) => resourceOf(entity)!.isOwned);
  const expected = owned.flatMap((entity) =>
    partFields(entity).flatMap(({ target, referenceFieldName: referenceFieldName }) => {
      const { table } = resourceOf(target())!;
      const call = `fitgraph_part_changed('${fieldOf(target(), referenceFieldName).column}', '${resourceOf(entity)!.table}')`;

      return ['INSERT', 'UPDATE', 'DELETE'].map(
        (operation) => `AFTER ${operation} ON public.${table} ${call}`,
      );
    }),
  );

  expect(expected.length).toBeGreaterThanOrEqual(18);
  const found = rows.map(({ trigger }) =>
    (trigger as string).replace(
      /^CREATE TRIGGER \w+ (AFTER \w+ ON \S+) .* EXECUTE FUNCTION (.*)$/,
      '$1 $2',
    ),
  );

  expect(found.sort()).toEqual(expected.sort());
});
