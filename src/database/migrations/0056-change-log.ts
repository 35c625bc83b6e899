/**
 * The change log, which subscriptions and synchronizing clients read. Creates its tables, the
 * functions that begin a new log after the database was restored or copied, and the triggers of
 * public tables. Because triggers write the log, it contains every change, whether made by an
 * instance, a command or a cascade. Each change has the id of its transaction. A comparison with a
 * snapshot shows exactly which changes a client has not seen yet, in whatever order the
 * transactions commit.
 */
import type { Migration } from '../migrate';

const PUBLIC_TABLES = [
  ...[
    'language',
    'day_of_week',
    'license',
    'repetition_unit',
    'weight_unit',
    'equipment',
    'exercise_category',
    'muscle',
    'variation',
  ],
  ...[
    'exercise_base',
    'exercise',
    'exercise_image',
    'exercise_comment',
    'household_unit',
    'ingredient',
    'ingredient_unit',
  ],
];

/**
 * Link tables. Each of their rows belongs to an exercise (table `exercise_base`), so a change of
 * such a row is a change of that exercise.
 */
const LINK_TABLES = ['exercise_base_muscle', 'exercise_base_equipment'];

const TRANSITION_TABLES = {
  INSERT: 'NEW TABLE AS changed',
  UPDATE: 'OLD TABLE AS former NEW TABLE AS changed',
  DELETE: 'OLD TABLE AS changed',
};

const rowTriggersSql = (table: string, suffix: string, call: string) =>
  Object.entries(TRANSITION_TABLES)
    .map(
      ([operation, rows]) => `
CREATE TRIGGER "${table}_${operation.toLowerCase()}_${suffix}" AFTER ${operation} ON "${table}"
  REFERENCING ${rows} FOR EACH STATEMENT EXECUTE FUNCTION ${call}();`,
    )
    .join('');

const CHANGE_LOG_TABLES_SQL = `
-- Changes of rows. "user_id" is the owner of the row, and NULL for public tables.
CREATE TABLE "change" (
  "id" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "user_id" integer,
  "table" text COLLATE "C" NOT NULL,
  "row_id" integer NOT NULL,
  "operation" text COLLATE "C" NOT NULL,
  "transaction" xid8 NOT NULL DEFAULT pg_current_xact_id(),
  "at" timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON "change" ("user_id", "transaction", "id");
CREATE INDEX ON "change" ("id") WHERE "user_id" IS NULL;
CREATE INDEX ON "change" USING brin ("at");

-- Transactions that changed a public table.
CREATE TABLE "table_change" (
  "table" text COLLATE "C" NOT NULL,
  "transaction" xid8 NOT NULL DEFAULT pg_current_xact_id(),
  "at" timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY ("transaction", "table")
);

-- A single row: the id of the current log, and the database ("place") and the start time of PostgreSQL ("server") for which it was begun.
CREATE TABLE "change_log" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "place" text NOT NULL DEFAULT '',
  "server" text NOT NULL DEFAULT ''
);
INSERT INTO "change_log" DEFAULT VALUES;

-- Earlier logs that the current one continues: their changes are valid up to the transaction "ended".
CREATE TABLE "former_change_log" (
  "id" uuid PRIMARY KEY,
  "ended" xid8 NOT NULL,
  "at" timestamptz NOT NULL DEFAULT now()
);

-- TRUNCATE does not report which rows it deletes. It therefore begins a new log that does not continue the previous one.
CREATE FUNCTION "fitgraph_log_broken"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "former_change_log";
  UPDATE "change_log" SET "id" = gen_random_uuid();
  INSERT INTO "table_change" ("table") VALUES (TG_TABLE_NAME) ON CONFLICT DO NOTHING;
  PERFORM pg_notify('fitgraph_change', '');
  RETURN NULL;
END $$;
`;

const NEW_LOG_FUNCTIONS_SQL = `
-- A database that was restored from a file-level backup, or a promoted standby, lacks transactions that clients have seen, and assigns their ids again. Each
-- start of PostgreSQL therefore begins a new log. It continues the previous one only up to the first transaction whose id this server may have assigned.
-- A client with a later cursor has seen changes that no longer exist.
CREATE FUNCTION "fitgraph_server"() RETURNS text LANGUAGE sql STABLE AS $$ SELECT extract(epoch FROM pg_postmaster_start_time())::text $$;

-- The first transaction whose id this server may have assigned. All earlier ones are the same on every server that continues this database.
CREATE FUNCTION "fitgraph_first_transaction"() RETURNS xid8 LANGUAGE plpgsql AS $$
DECLARE
  "counted" text;
BEGIN
  SELECT (split_part("next_xid", ':', 1)::numeric * 4294967296 + split_part("next_xid", ':', 2)::numeric)::text
    INTO "counted" FROM pg_control_checkpoint();
  RETURN least("counted"::xid8, pg_snapshot_xmax(pg_current_snapshot()));
EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_function THEN
  RETURN pg_snapshot_xmin(pg_current_snapshot());
END $$;

-- Begins a new log if necessary. In a copy of the database, such as a restored dump, all transactions have different ids, so its log continues no other.
CREATE FUNCTION "fitgraph_take_place"() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "here" text;
  "log" "change_log";
BEGIN
  SELECT format('%s/%s/%s', c."system_identifier", d."oid", 'change_log'::regclass::oid) INTO "here"
    FROM pg_control_system() c, pg_database d WHERE d."datname" = current_database();
  SELECT * INTO "log" FROM "change_log" FOR UPDATE;
  IF "log"."place" <> "here" THEN
    DELETE FROM "former_change_log";
    DELETE FROM "change";
    DELETE FROM "table_change";
    UPDATE "change_log" SET "id" = gen_random_uuid(), "place" = "here", "server" = "fitgraph_server"();
  ELSIF "log"."server" = '' THEN
    UPDATE "change_log" SET "server" = "fitgraph_server"();
  ELSIF "log"."server" <> "fitgraph_server"() THEN
    INSERT INTO "former_change_log" ("id", "ended") VALUES ("log"."id", "fitgraph_first_transaction"());
    UPDATE "change_log" SET "id" = gen_random_uuid(), "server" = "fitgraph_server"();
  END IF;
END $$;
`;

const PUBLIC_TABLE_FUNCTIONS_SQL = `
CREATE FUNCTION "fitgraph_table_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "table_change" ("table") VALUES (TG_TABLE_NAME) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE FUNCTION "fitgraph_public_rows_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "change" ("table", "row_id", "operation") SELECT TG_TABLE_NAME, "id", TG_OP FROM changed ORDER BY "id";
  IF FOUND THEN
    PERFORM pg_notify('fitgraph_change', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;
`;

const EXERCISE_FUNCTIONS_SQL = `
-- Logs a change of all exercises of the bases and variation groups, because they contain fields of these. The bases and groups are locked, so that of two
-- transactions that cannot see each other's rows, the later one waits and logs the changes of both.
CREATE FUNCTION "fitgraph_exercises_touched"("bases" integer[], "groups" integer[], "told" integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "exercise_base" WHERE "id" = ANY("bases") ORDER BY "id" FOR NO KEY UPDATE;
  PERFORM FROM "variation" WHERE "id" = ANY("groups") ORDER BY "id" FOR NO KEY UPDATE;
  INSERT INTO "change" ("table", "row_id", "operation")
    SELECT 'exercise', e."id", 'UPDATE' FROM "exercise_base" b JOIN "exercise" e ON e."exercise_base_id" = b."id"
      WHERE (b."id" = ANY("bases") OR b."variation_id" = ANY("groups")) AND e."id" <> ALL("told") ORDER BY e."id";
  IF FOUND THEN
    PERFORM pg_notify('fitgraph_change', 'exercise');
  END IF;
END $$;

-- If the base itself is deleted, the deletion of its links is not logged.
CREATE FUNCTION "fitgraph_base_links_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "bases" integer[] := ARRAY(SELECT DISTINCT "exercise_base_id" FROM changed);
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "bases" := "bases" || ARRAY(SELECT DISTINCT "exercise_base_id" FROM former);
  END IF;
  INSERT INTO "change" ("table", "row_id", "operation")
    SELECT 'exercise_base', b."id", 'UPDATE' FROM "exercise_base" b WHERE b."id" = ANY("bases") ORDER BY b."id";
  IF FOUND THEN
    PERFORM pg_notify('fitgraph_change', 'exercise_base');
    PERFORM "fitgraph_exercises_touched"("bases", '{}', '{}');
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION "fitgraph_bases_shown"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "bases" integer[] := '{}';
  "groups" integer[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "bases" := ARRAY(SELECT c."id" FROM changed c);
    "groups" := ARRAY(SELECT unnest(ARRAY[f."variation_id", c."variation_id"]) FROM former f JOIN changed c USING ("id")
      WHERE f."variation_id" IS DISTINCT FROM c."variation_id");
  ELSE
    "groups" := ARRAY(SELECT DISTINCT c."variation_id" FROM changed c);
  END IF;
  PERFORM "fitgraph_exercises_touched"("bases", array_remove("groups", NULL), '{}');
  RETURN NULL;
END $$;

-- Also logs a change of the exercise's comments if its language or review status changes, because these determine who sees the comments.
CREATE FUNCTION "fitgraph_exercises_shown"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "bases" integer[];
  "groups" integer[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "bases" := ARRAY(SELECT unnest(ARRAY[f."exercise_base_id", c."exercise_base_id"]) FROM former f JOIN changed c USING ("id")
      WHERE (f."exercise_base_id", f."language_id", f."status") IS DISTINCT FROM (c."exercise_base_id", c."language_id", c."status"));
    INSERT INTO "change" ("table", "row_id", "operation")
      SELECT 'exercise_comment', m."id", 'UPDATE' FROM former f JOIN changed c USING ("id") JOIN "exercise_comment" m ON m."exercise_id" = c."id"
        WHERE f."language_id" <> c."language_id" OR f."status" <> c."status" ORDER BY m."id";
    IF FOUND THEN
      PERFORM pg_notify('fitgraph_change', 'exercise_comment');
    END IF;
  ELSE
    "bases" := ARRAY(SELECT DISTINCT c."exercise_base_id" FROM changed c);
  END IF;
  IF "bases" <> '{}' THEN
    PERFORM FROM "exercise_base" WHERE "id" = ANY("bases") ORDER BY "id" FOR NO KEY UPDATE;
    "groups" := ARRAY(SELECT DISTINCT b."variation_id" FROM "exercise_base" b WHERE b."id" = ANY("bases") AND b."variation_id" IS NOT NULL);
    PERFORM "fitgraph_exercises_touched"('{}', "groups", ARRAY(SELECT c."id" FROM changed c));
  END IF;
  RETURN NULL;
END $$;
`;

const tableChangeTriggersSql = (table: string) => `
CREATE TRIGGER "${table}_logged" AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON "${table}"
  FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_table_changed"();
CREATE TRIGGER "${table}_truncate_logged" AFTER TRUNCATE ON "${table}" FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_log_broken"();`;

export const up: Migration = async (query) => {
  await query(
    [
      CHANGE_LOG_TABLES_SQL,
      NEW_LOG_FUNCTIONS_SQL,
      PUBLIC_TABLE_FUNCTIONS_SQL,
      EXERCISE_FUNCTIONS_SQL,
    ].join(''),
  );
  await query(
    [
      ...[...PUBLIC_TABLES, ...LINK_TABLES].map(tableChangeTriggersSql),
      ...PUBLIC_TABLES.map((table) =>
        rowTriggersSql(table, 'row_logged', '"fitgraph_public_rows_changed"'),
      ),
      ...LINK_TABLES.map((table) =>
        rowTriggersSql(table, 'link_logged', '"fitgraph_base_links_changed"'),
      ),
      rowTriggersSql('exercise_base', 'shown_logged', '"fitgraph_bases_shown"'),
      rowTriggersSql('exercise', 'shown_logged', '"fitgraph_exercises_shown"'),
    ].join(''),
  );
};

export const down: Migration = async (query) => {
  await query(`
DROP FUNCTION "fitgraph_exercises_shown"() CASCADE;
DROP FUNCTION "fitgraph_bases_shown"() CASCADE;
DROP FUNCTION "fitgraph_base_links_changed"() CASCADE;
DROP FUNCTION "fitgraph_exercises_touched"(integer[], integer[], integer[]);
DROP FUNCTION "fitgraph_public_rows_changed"() CASCADE;
DROP FUNCTION "fitgraph_table_changed"() CASCADE;
DROP FUNCTION "fitgraph_log_broken"() CASCADE;
DROP FUNCTION "fitgraph_take_place"();
DROP FUNCTION "fitgraph_first_transaction"();
DROP FUNCTION "fitgraph_server"();
DROP TABLE "former_change_log", "change_log", "table_change", "change";
`);
};
