/**
 * What changed: a log of the changes of owned rows, and of the transactions that changed public tables. Triggers write it, so that
 * whatever writes a row, an instance, a command or a cascade, is in it. A change names its transaction: together with a snapshot that
 * tells exactly what somebody has not seen yet, in whatever order transactions end.
 */
import type { Migration } from '../migrate';

/** Tables of owned rows, with the column of the owner. */
const OWNED: Record<string, string> = {
  user_account: 'id',
  user_profile: 'user_id',
  workout: 'user_id',
  training_day: 'user_id',
  workout_set: 'user_id',
  setting: 'user_id',
  workout_session: 'user_id',
  workout_log: 'user_id',
  schedule: 'user_id',
  schedule_step: 'user_id',
  nutrition_plan: 'user_id',
  meal: 'user_id',
  meal_item: 'user_id',
  diary_entry: 'user_id',
  weight_entry: 'user_id',
};

/** A link is part of the row whose id is in this column. */
const OWNED_LINKS = [{ table: 'training_day_weekday', row: 'training_day_id', of: 'training_day' }];

const PUBLIC = [
  ...['language', 'day_of_week', 'license', 'repetition_unit', 'weight_unit', 'equipment', 'exercise_category', 'muscle', 'variation'],
  ...['exercise_base', 'exercise_base_muscle', 'exercise_base_equipment', 'exercise', 'exercise_image', 'exercise_comment'],
  ...['household_unit', 'ingredient', 'ingredient_unit'],
];

const OPERATIONS = { INSERT: 'NEW', UPDATE: 'NEW', DELETE: 'OLD' };

const rowTriggers = (table: string, call: string) =>
  Object.entries(OPERATIONS)
    .map(
      ([operation, rows]) => `
CREATE TRIGGER "${table}_${operation.toLowerCase()}_logged" AFTER ${operation} ON "${table}"
  REFERENCING ${rows} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${call};`,
    )
    .join('');

export const up: Migration = async (query) => {
  await query(`
CREATE TABLE "change" (
  "id" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "user_id" integer NOT NULL,
  "table" text COLLATE "C" NOT NULL,
  "row_id" integer NOT NULL,
  "operation" text COLLATE "C" NOT NULL,
  "transaction" xid8 NOT NULL DEFAULT pg_current_xact_id(),
  "at" timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON "change" ("user_id", "transaction", "id");
CREATE INDEX ON "change" USING brin ("at");

CREATE TABLE "table_change" (
  "table" text COLLATE "C" NOT NULL,
  "transaction" xid8 NOT NULL DEFAULT pg_current_xact_id(),
  "at" timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY ("transaction", "table")
);

-- The log that is kept now: another one after tables were emptied whole, or in a copy of the database, whose transactions have other numbers.
CREATE TABLE "change_log" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "place" text NOT NULL DEFAULT ''
);
INSERT INTO "change_log" DEFAULT VALUES;

CREATE FUNCTION "fitgraph_rows_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO "change" ("user_id", "table", "row_id", "operation") SELECT %I, %L, "id", %L FROM changed ORDER BY "id"',
    TG_ARGV[0], TG_TABLE_NAME, TG_OP);
  EXECUTE format('SELECT pg_notify(''fitgraph_change'', owner::text) FROM (SELECT DISTINCT %I AS owner FROM changed) owners', TG_ARGV[0]);
  RETURN NULL;
END $$;

-- The links of a row that goes itself are not worth a word.
CREATE FUNCTION "fitgraph_links_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO "change" ("user_id", "table", "row_id", "operation")
    SELECT DISTINCT r."user_id", %2$L, r."id", ''UPDATE'' FROM changed c JOIN %2$I r ON r."id" = c.%1$I', TG_ARGV[0], TG_ARGV[1]);
  PERFORM pg_notify('fitgraph_change', "user_id"::text) FROM changed GROUP BY "user_id";
  RETURN NULL;
END $$;

CREATE FUNCTION "fitgraph_table_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "table_change" ("table") VALUES (TG_TABLE_NAME) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE FUNCTION "fitgraph_log_broken"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "change_log" SET "id" = gen_random_uuid();
  INSERT INTO "table_change" ("table") VALUES (TG_TABLE_NAME) ON CONFLICT DO NOTHING;
  PERFORM pg_notify('fitgraph_change', '');
  RETURN NULL;
END $$;
${Object.entries(OWNED)
  .map(([table, owner]) => rowTriggers(table, `"fitgraph_rows_changed"('${owner}')`))
  .join('')}
${OWNED_LINKS.map(({ table, row, of }) => rowTriggers(table, `"fitgraph_links_changed"('${row}', '${of}')`)).join('')}
${[...Object.keys(OWNED), ...OWNED_LINKS.map(({ table }) => table)]
  .map(
    (table) =>
      `CREATE TRIGGER "${table}_truncate_logged" AFTER TRUNCATE ON "${table}" FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_log_broken"();`,
  )
  .join('\n')}
${PUBLIC.map(
  (table) => `CREATE TRIGGER "${table}_logged" AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON "${table}"
  FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_table_changed"();`,
).join('\n')}
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP FUNCTION "fitgraph_rows_changed"() CASCADE;
DROP FUNCTION "fitgraph_links_changed"() CASCADE;
DROP FUNCTION "fitgraph_table_changed"() CASCADE;
DROP FUNCTION "fitgraph_log_broken"() CASCADE;
DROP TABLE "change_log", "table_change", "change";
`);
};
