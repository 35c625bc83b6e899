/**
 * Foods and exercises that users contribute: until a curator accepts them, only their contributor
 * sees them and refers to them. Curators retire rows, which then are visible in existing references
 * only, and merge them into others.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.4.0';

/** Tables that accept contributions, and the references of owned tables to them. */
const REFERENCES: Readonly<Record<string, { tables: string[]; columns: string[] }>> = {
  ingredient: { tables: ['meal_item', 'diary_entry'], columns: ['ingredient_id'] },
  exercise_base: {
    tables: ['setting', 'workout_log'],
    columns: ['exercise_base_id', 'exercise_id'],
  },
};
const CONTRIBUTED_TABLES = Object.keys(REFERENCES);

const contributorTableSql = (table: string) => `
CREATE TABLE IF NOT EXISTS "${table}_contributor" (
  "row_id" integer PRIMARY KEY REFERENCES "${table}" ("id") ON DELETE CASCADE,
  "user_id" integer NOT NULL REFERENCES "user_account" ("id") ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS "${table}_contributor_user" ON "${table}_contributor" ("user_id");
`;

/** Translations follow their exercise: they are accepted and retired with it. */
const acceptanceSql = (table: string, acceptTranslationsSql = '') => `
CREATE OR REPLACE FUNCTION "fitgraph_${table}_accepted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "${table}_contributor" WHERE "row_id" = NEW."id";
  ${acceptTranslationsSql}
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER "${table}_accepted" AFTER UPDATE OF "status" ON "${table}" FOR EACH ROW
  WHEN (NEW."status" = '2' AND OLD."status" <> '2') EXECUTE FUNCTION "fitgraph_${table}_accepted"();
`;

const ACCEPT_TRANSLATIONS_SQL = `IF FOUND THEN
    UPDATE "exercise" SET "status" = '2' WHERE "exercise_base_id" = NEW."id" AND "status" = '1';
  END IF;`;

/**
 * Translations are retired with their exercise. The exercise is locked first, so that a new
 * translation waits for a concurrent retirement.
 */
const RETIRED_TRANSLATIONS_SQL = `
CREATE OR REPLACE FUNCTION "fitgraph_exercise_retired"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "exercise" SET "is_retired" = NEW."is_retired" WHERE "exercise_base_id" = NEW."id";
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER "exercise_base_retired" AFTER UPDATE OF "is_retired" ON "exercise_base" FOR EACH ROW
  WHEN (NEW."is_retired" <> OLD."is_retired") EXECUTE FUNCTION "fitgraph_exercise_retired"();
`;
const RETIRED_WITH_EXERCISE_SQL = `
CREATE OR REPLACE FUNCTION "fitgraph_exercise_assigned"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."is_retired" := coalesce((SELECT "is_retired" FROM "exercise_base" WHERE "id" = NEW."exercise_base_id" FOR NO KEY UPDATE), false);
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER "exercise_assigned" BEFORE INSERT OR UPDATE OF "exercise_base_id" ON "exercise" FOR EACH ROW
  EXECUTE FUNCTION "fitgraph_exercise_assigned"();
`;

const UNRETIRED_FUNCTION_SQL = `
CREATE OR REPLACE FUNCTION "fitgraph_unretired"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."merged_into_id" := NULL;
  RETURN NEW;
END $$;
`;

/** A merged row that is no longer retired can be used again. */
const unretiredTriggerSql = (table: string) => `
CREATE OR REPLACE TRIGGER "${table}_unretired" BEFORE UPDATE OF "is_retired" ON "${table}" FOR EACH ROW
  WHEN (OLD."is_retired" AND NOT NEW."is_retired") EXECUTE FUNCTION "fitgraph_unretired"();
`;

/**
 * New references to contributions of others and to merged rows violate a constraint. The row is
 * locked first, so that the check waits for a concurrent merge.
 */
const referenceFunctionSql = (table: string, column: string) => `
CREATE OR REPLACE FUNCTION "fitgraph_${table}_reference"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "${table}" WHERE "id" = NEW."${column}" FOR KEY SHARE;
  IF EXISTS (SELECT FROM "${table}" t LEFT JOIN "${table}_contributor" c ON c."row_id" = t."id"
      WHERE t."id" = NEW."${column}" AND (t."merged_into_id" IS NOT NULL OR c."user_id" <> NEW."user_id")) THEN
    RAISE EXCEPTION 'row % of ${table} may not be used', NEW."${column}" USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NEW;
END $$;
`;

/** The name sorts after those of triggers that set the reference. */
const referenceTriggerSql = (table: string, referencedTable: string, columns: string[]) => `
CREATE OR REPLACE TRIGGER "${table}_reference" BEFORE INSERT OR UPDATE OF ${columns.map((name) => `"${name}"`).join(', ')}
  ON "${table}" FOR EACH ROW WHEN (current_setting('fitgraph.viewer', true) <> '')
  EXECUTE FUNCTION "fitgraph_${referencedTable}_reference"();
`;

const ACCOUNT_COLUMNS =
  '"id", "username", "password", "is_superuser", "is_active", "last_login", "is_curator"';
const HAS_CONTRIBUTIONS_SQL = CONTRIBUTED_TABLES.map(
  (table) => `EXISTS (SELECT FROM "${table}_contributor" c WHERE c."user_id" = a."id")`,
).join(' OR ');

const SEARCH_ORDER_SQL = '"ingredient" ("status", "language_id", "name", "id") INCLUDE';

export const up: OnlineMigration = async (change) => {
  for (const table of [...CONTRIBUTED_TABLES, 'exercise']) {
    await change.addColumn(table, 'is_retired', 'boolean NOT NULL DEFAULT false');
  }

  // Replaces "ingredient_search_order" by an index that has all columns of the search again.
  await change.createIndex(
    'ingredient_search_names',
    `${SEARCH_ORDER_SQL} ("name_folded", "is_retired")`,
  );
  await change.dropIndex('ingredient_search_order');
  await change.run(UNRETIRED_FUNCTION_SQL);

  for (const table of CONTRIBUTED_TABLES) {
    await change.addColumn(table, 'merged_into_id', 'integer');
    await change.addColumn(table, 'refusal_reason', 'varchar(500) COLLATE "C"');
    await change.run(unretiredTriggerSql(table));
    await change.run(contributorTableSql(table));
    await change.run(
      acceptanceSql(table, table === 'exercise_base' ? ACCEPT_TRANSLATIONS_SQL : ''),
    );
    const { tables, columns } = REFERENCES[table]!;

    await change.run(referenceFunctionSql(table, columns[0]!));

    for (const owned of tables) await change.run(referenceTriggerSql(owned, table, columns));
  }

  await change.run(RETIRED_TRANSLATIONS_SQL);
  await change.run(RETIRED_WITH_EXERCISE_SQL);
  await change.run(
    `CREATE OR REPLACE VIEW "account" AS SELECT ${ACCOUNT_COLUMNS}, ${HAS_CONTRIBUTIONS_SQL} AS "has_contributions" FROM "user_account" a`,
  );
};

export const down: OnlineMigration = async (change) => {
  await change.createIndex('ingredient_search_order', `${SEARCH_ORDER_SQL} ("name_folded")`);
  await change.run(
    `DROP VIEW "account"; CREATE VIEW "account" AS SELECT ${ACCOUNT_COLUMNS} FROM "user_account"`,
  );

  for (const name of ['exercise_retired', 'exercise_assigned', 'unretired']) {
    await change.run(`DROP FUNCTION IF EXISTS "fitgraph_${name}"() CASCADE`);
  }

  for (const table of CONTRIBUTED_TABLES) {
    await change.run(`DROP FUNCTION IF EXISTS "fitgraph_${table}_reference"() CASCADE`);
    await change.run(`DROP FUNCTION IF EXISTS "fitgraph_${table}_accepted"() CASCADE`);
    await change.run(`DROP TABLE IF EXISTS "${table}_contributor"`);
    await change.alterTable(table, 'DROP COLUMN IF EXISTS "refusal_reason"');
    await change.alterTable(table, 'DROP COLUMN IF EXISTS "merged_into_id"');
  }

  for (const table of [...CONTRIBUTED_TABLES, 'exercise']) {
    await change.alterTable(table, 'DROP COLUMN IF EXISTS "is_retired"');
  }
};
