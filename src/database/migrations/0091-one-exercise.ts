/**
 * Logs and planned sets refer to the exercise (table `exercise_base`) as well as to the translation
 * (table `exercise`) in which they were written. A write that sets one of the two gets the other
 * from a trigger. An exercise has the name of its accepted translation into English, or else of
 * the oldest accepted one.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

const TABLES_OF_SETS = ['setting', 'workout_log'];
const TRANSLATION_KEY = 'exercise_of_base';
const FOREIGN_KEY_SUFFIX = 'exercise_of_translation';

const ENGLISH_LANGUAGE_ID = 2;

/** SQL: the preference of translation `e`, lowest first. */
const preferenceSql = (preferredLanguageSql = '') =>
  `e."status" <> '2', ${preferredLanguageSql}e."language_id" <> ${ENGLISH_LANGUAGE_ID}, e."id"`;

const nameSql = (exerciseIdSql: string) =>
  `coalesce((SELECT e."name" FROM "exercise" e WHERE e."exercise_base_id" = ${exerciseIdSql}
    AND e."status" = '2' ORDER BY ${preferenceSql()} LIMIT 1), '')`;

const NAME_FUNCTION_SQL = `
CREATE OR REPLACE FUNCTION "fitgraph_exercises_named"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "bases" integer[] := ARRAY(SELECT DISTINCT "exercise_base_id" FROM changed);
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "bases" := "bases" || ARRAY(SELECT DISTINCT "exercise_base_id" FROM former);
  END IF;
  -- Of two transactions that cannot see each other's translations, the later one waits here.
  PERFORM FROM "exercise_base" WHERE "id" = ANY("bases") ORDER BY "id" FOR NO KEY UPDATE;
  UPDATE "exercise_base" b SET "name" = n."name"
    FROM (SELECT o."id", ${nameSql('o."id"')} AS "name" FROM "exercise_base" o WHERE o."id" = ANY("bases")) n
    WHERE b."id" = n."id" AND b."name" <> n."name";
  RETURN NULL;
END $$;
`;

const TRANSITION_TABLES = {
  insert: 'NEW TABLE AS changed',
  update: 'OLD TABLE AS former NEW TABLE AS changed',
  delete: 'OLD TABLE AS changed',
};

const nameTriggerSql = ([operation, tables]: [string, string]) => `
CREATE OR REPLACE TRIGGER "exercise_${operation}_named" AFTER ${operation.toUpperCase()} ON "exercise"
  REFERENCING ${tables} FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_exercises_named"();
`;

/**
 * If an update changes only one of the two references, the other one follows. The new translation
 * is, if possible, in the language of the former one.
 */
const REFERENCE_FUNCTION_SQL = `
CREATE OR REPLACE FUNCTION "fitgraph_exercise_of_set"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "language" integer;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW."exercise_id" <> OLD."exercise_id" AND NEW."exercise_base_id" = OLD."exercise_base_id" THEN
      NEW."exercise_base_id" := NULL;
    ELSIF NEW."exercise_id" = OLD."exercise_id" AND NEW."exercise_base_id" <> OLD."exercise_base_id"
        AND NOT EXISTS (SELECT FROM "exercise" e WHERE e."id" = NEW."exercise_id" AND e."exercise_base_id" = NEW."exercise_base_id") THEN
      NEW."exercise_id" := NULL;
      SELECT e."language_id" INTO "language" FROM "exercise" e WHERE e."id" = OLD."exercise_id";
    END IF;
  END IF;
  IF NEW."exercise_id" IS NULL THEN
    SELECT e."id" INTO NEW."exercise_id" FROM "exercise" e WHERE e."exercise_base_id" = NEW."exercise_base_id"
      ORDER BY ${preferenceSql('e."language_id" IS DISTINCT FROM "language", ')} LIMIT 1;
  ELSIF NEW."exercise_base_id" IS NULL THEN
    SELECT e."exercise_base_id" INTO NEW."exercise_base_id" FROM "exercise" e WHERE e."id" = NEW."exercise_id";
  END IF;
  IF NEW."exercise_id" IS NULL OR NEW."exercise_base_id" IS NULL THEN
    RAISE EXCEPTION 'the exercise does not exist or has no translation' USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NEW;
END $$;
`;

/** The index from which formulas read the masses of logs, without the table. */
const massIndexSql = (exerciseColumns: string) =>
  `"workout_log" ("user_id", "date") INCLUDE (${exerciseColumns}, "reps", "weight", "rir", "repetition_unit_id", "weight_unit_id", "mass_unit")`;

export const up: OnlineMigration = async (change) => {
  await change.addColumn('exercise_base', 'name', `varchar(200) COLLATE "C" NOT NULL DEFAULT ''`);
  await change.run(
    NAME_FUNCTION_SQL + Object.entries(TRANSITION_TABLES).map(nameTriggerSql).join(''),
  );
  const currentNameSql = nameSql('"exercise_base"."id"');

  await change.updateRows(
    'exercise_base',
    `"name" = ${currentNameSql}`,
    `"name" <> ${currentNameSql}`,
  );
  await change.createIndex(
    'exercise_base_name_reader',
    '"exercise_base" ("name" COLLATE "reader", "id")',
  );

  await change.createIndex(TRANSLATION_KEY, '"exercise" ("id", "exercise_base_id")', {
    unique: true,
  });

  for (const table of TABLES_OF_SETS) {
    await change.addColumn(table, 'exercise_base_id', 'integer');
  }

  await change.run(REFERENCE_FUNCTION_SQL);

  for (const table of TABLES_OF_SETS) {
    await change.run(`
CREATE OR REPLACE TRIGGER "${table}_exercise" BEFORE INSERT OR UPDATE OF "exercise_id", "exercise_base_id" ON "${table}" FOR EACH ROW
  EXECUTE FUNCTION "fitgraph_exercise_of_set"();
`);
    await change.updateRows(
      table,
      `"exercise_base_id" = (SELECT e."exercise_base_id" FROM "exercise" e WHERE e."id" = "${table}"."exercise_id")`,
      '"exercise_base_id" IS NULL',
    );
    await change.setNotNull(table, 'exercise_base_id');
    await change.addConstraint(
      table,
      `${table}_exercise_base_id_fkey`,
      'FOREIGN KEY ("exercise_base_id") REFERENCES "exercise_base" ("id") ON DELETE CASCADE',
    );
    await change.addConstraint(
      table,
      `${table}_${FOREIGN_KEY_SUFFIX}`,
      'FOREIGN KEY ("exercise_id", "exercise_base_id") REFERENCES "exercise" ("id", "exercise_base_id") ON UPDATE CASCADE ON DELETE CASCADE',
    );
    await change.createIndex(
      `${table}_exercise_base`,
      `"${table}" ("exercise_base_id", "user_id")`,
    );
  }

  await change.createIndex('workout_log_lifts', massIndexSql('"exercise_base_id"'));
  await change.dropIndex('workout_log_masses');
};

export const down: OnlineMigration = async (change) => {
  await change.createIndex('workout_log_masses', massIndexSql('"exercise_id"'));
  await change.dropIndex('workout_log_lifts');

  for (const table of TABLES_OF_SETS) {
    await change.run(`DROP TRIGGER IF EXISTS "${table}_exercise" ON "${table}"`);
    await change.alterTable(table, 'DROP COLUMN IF EXISTS "exercise_base_id" CASCADE');
  }

  await change.run('DROP FUNCTION IF EXISTS "fitgraph_exercise_of_set"()');
  await change.dropIndex(TRANSLATION_KEY);
  await change.run('DROP FUNCTION IF EXISTS "fitgraph_exercises_named"() CASCADE');
  await change.alterTable('exercise_base', 'DROP COLUMN IF EXISTS "name"');
};
