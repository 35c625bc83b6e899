/**
 * Rows with which short requests have long answers: exercises that refer to each other, and users
 * with as many child rows per parent as are possible. Triggers run, so that the log of changes
 * contains the rows.
 */
import { Client } from 'pg';
import { openEmbeddedDatabase } from '../../../../src/database/embedded';
import type { Siege } from '../../availability/server-under-attack';

/** Size of a group of variations, each of which refers to all of them. */
const GROUP_SIZE = 8;
const TRAINING_DAYS = 490;
const SET_GROUPS_PER_DAY = 4;
const LOGS_PER_DAY = 500;
const LOGGED_DAYS = 20;
const MEALS = 100;
const ITEMS_PER_MEAL = 20;
const DIARY_ENTRIES = 6_000;
const SCHEDULE_STEPS = 60;
const WEIGHT_ENTRIES = 1_000;

const EXERCISES = `
  WITH bases AS (
    SELECT DISTINCT "exercise_base_id" AS "id" FROM "exercise" WHERE "language_id" = 2 AND "status" = '2' ORDER BY 1 LIMIT ${GROUP_SIZE}
  ), variation AS (
    INSERT INTO "variation" DEFAULT VALUES RETURNING "id"
  ), images AS (
    INSERT INTO "exercise_image" ("uuid", "exercise_base_id", "image", "status")
    SELECT gen_random_uuid(), "id", 'exercise-images/' || "id" || '/' || n || '.png', '2' FROM bases, generate_series(1, 30) n
  ), translations AS (
    INSERT INTO "exercise" ("uuid", "name", "status", "description", "creation_date", "language_id", "exercise_base_id")
    SELECT gen_random_uuid(), 'Translation ' || n, '2', repeat('A long description. ', 50), current_date, 2, "id" FROM bases, generate_series(1, 6) n
    RETURNING "id"
  ), comments AS (
    INSERT INTO "exercise_comment" ("exercise_id", "comment") SELECT "id", repeat('Comment ', 20) FROM translations, generate_series(1, 20)
  )
  UPDATE "exercise_base" SET "variation_id" = (SELECT "id" FROM variation) WHERE "id" IN (SELECT "id" FROM bases)`;

/** Statements for the user $1. `grouped` are the exercises that refer to each other. */
const OWNED_ROWS = [
  `INSERT INTO "workout" ("creation_date", "comment", "user_id") SELECT current_date - n, 'Workout ' || n, $1 FROM generate_series(0, 40) n`,
  `INSERT INTO "training_day" ("workout_id", "description", "user_id")
   SELECT (SELECT max("id") FROM "workout" WHERE "user_id" = $1), 'Day ' || n, $1 FROM generate_series(1, ${TRAINING_DAYS}) n`,
  `INSERT INTO "training_day_weekday" SELECT $1, d."id", w."id" FROM "training_day" d, "day_of_week" w WHERE "user_id" = $1`,
  `INSERT INTO "workout_set" ("training_day_id", "sets", "order", "user_id")
   SELECT "id", 10, n, $1 FROM "training_day", generate_series(1, ${SET_GROUPS_PER_DAY}) n WHERE "user_id" = $1`,
  `WITH exercises AS (
     SELECT array_agg(e."id" ORDER BY e."id") AS "ids" FROM "exercise" e JOIN "exercise_base" b ON b."id" = "exercise_base_id" WHERE "variation_id" = (SELECT max("id") FROM "variation")
   )
   INSERT INTO "setting" ("set_id", "exercise_id", "reps", "weight", "order", "comment", "user_id")
   SELECT s."id", "ids"[1 + (s."id" + n) % cardinality("ids")], 8, 50, n, repeat('Note ', 15), $1
   FROM exercises, "workout_set" s, generate_series(1, 3) n WHERE "user_id" = $1`,
  `INSERT INTO "workout_session" ("user_id", "workout_id", "date", "notes")
   SELECT $1, (SELECT max("id") FROM "workout" WHERE "user_id" = $1), current_date - n, repeat('A long note. ', 100) FROM generate_series(0, ${LOGGED_DAYS}) n`,
  `WITH exercises AS (
     SELECT array_agg(e."id" ORDER BY e."id") AS "ids" FROM "exercise" e JOIN "exercise_base" b ON b."id" = "exercise_base_id" WHERE "variation_id" = (SELECT max("id") FROM "variation")
   )
   INSERT INTO "workout_log" ("reps", "weight", "date", "rir", "exercise_id", "workout_id", "user_id")
   SELECT 1 + n % 12, 20 + n % 80, current_date - day, '1', "ids"[1 + n % cardinality("ids")],
     (SELECT max("id") FROM "workout" WHERE "user_id" = $1), $1
   FROM exercises, generate_series(1, ${LOGS_PER_DAY}) n, generate_series(0, ${LOGGED_DAYS - 1}) day`,
  `WITH created AS (
     INSERT INTO "schedule" ("name", "start_date", "is_active", "is_loop", "user_id") VALUES ('Long', current_date - 100, false, true, $1) RETURNING "id"
   )
   INSERT INTO "schedule_step" ("schedule_id", "workout_id", "duration", "order", "user_id")
   SELECT created."id", (SELECT max("id") FROM "workout" WHERE "user_id" = $1), 4, n, $1 FROM created, generate_series(1, ${SCHEDULE_STEPS}) n`,
  `UPDATE "schedule" SET "is_active" = "name" = 'Long' WHERE "user_id" = $1`,
  `INSERT INTO "nutrition_plan" ("creation_date", "description", "language_id", "user_id")
   SELECT current_date - n, 'Plan ' || n, 2, $1 FROM generate_series(0, 10) n`,
  `INSERT INTO "meal" ("plan_id", "order", "user_id")
   SELECT (SELECT max("id") FROM "nutrition_plan" WHERE "user_id" = $1), n, $1 FROM generate_series(1, ${MEALS}) n`,
  `WITH foods AS (SELECT array_agg("id" ORDER BY "id") AS "ids" FROM "ingredient")
   INSERT INTO "meal_item" ("meal_id", "ingredient_id", "order", "amount", "user_id")
   SELECT m."id", "ids"[1 + (m."id" + n) % cardinality("ids")], n, 100, $1 FROM foods, "meal" m, generate_series(1, ${ITEMS_PER_MEAL}) n WHERE "user_id" = $1`,
  `WITH foods AS (SELECT array_agg("id" ORDER BY "id") AS "ids" FROM "ingredient")
   INSERT INTO "diary_entry" ("plan_id", "ingredient_id", "datetime", "comment", "amount", "user_id")
   SELECT (SELECT max("id") FROM "nutrition_plan" WHERE "user_id" = $1), "ids"[1 + n % cardinality("ids")], now() - n * interval '10 minutes',
     repeat('A long comment. ', 30), 100, $1
   FROM foods, generate_series(1, ${DIARY_ENTRIES}) n`,
  `INSERT INTO "weight_entry" ("date", "weight", "user_id") SELECT current_date - n, 80, $1 FROM generate_series(1, ${WEIGHT_ENTRIES}) n`,
];

/**
 * Tables of the rows whose ids requests use, by GraphQL type. Owned rows are those of the user with
 * the heaviest parents.
 */
const TABLES: readonly (readonly [type: string, table: string, isOwned: boolean])[] = [
  ['ExerciseTranslation', 'exercise', false],
  ['Exercise', 'exercise_base', false],
  ['Ingredient', 'ingredient', false],
  ['Muscle', 'muscle', false],
  ['Language', 'language', false],
  ['Variation', 'variation', false],
  ['ExerciseImage', 'exercise_image', false],
  ['ExerciseComment', 'exercise_comment', false],
  ['Workout', 'workout', true],
  ['TrainingDay', 'training_day', true],
  ['SetGroup', 'workout_set', true],
  ['PlannedSet', 'setting', true],
  ['WorkoutSession', 'workout_session', true],
  ['WorkoutLog', 'workout_log', true],
  ['Schedule', 'schedule', true],
  ['ScheduleStep', 'schedule_step', true],
  ['NutritionPlan', 'nutrition_plan', true],
  ['Meal', 'meal', true],
  ['MealItem', 'meal_item', true],
  ['DiaryEntry', 'diary_entry', true],
  ['WeightEntry', 'weight_entry', true],
];

/** Ids of rows by GraphQL type. */
export type RowIds = ReadonlyMap<string, readonly string[]>;

export interface OpenDatabase {
  client: Client;
  close(this: void): Promise<void>;
}

/** Opens the database of the server. */
export async function openDatabase(siege: Siege): Promise<OpenDatabase> {
  const { connection, release } = await openEmbeddedDatabase({ dataDir: siege.dataDir });
  const client = new Client(connection);

  const close = async () => {
    await client.end();
    await release();
  };

  await client.connect();
  return { client, close };
}

/**
 * Inserts the rows and returns ids of rows of each user: the newest, which have the most child
 * rows, and the exercises that refer to each other.
 */
export async function insertMultiplyingRows(
  client: Client,
  userNames: readonly string[],
): Promise<RowIds[]> {
  await client.query(EXERCISES);

  const idsByUser: RowIds[] = [];

  for (const name of userNames) {
    const { rows } = await client.query<{ id: number }>(
      'SELECT "id" FROM "user_account" WHERE "username" = $1',
      [name],
    );
    const { id } = rows[0]!;

    for (const statement of OWNED_ROWS) await client.query(statement.replaceAll('$1', String(id)));
    idsByUser.push(await findIds(client, id));
  }

  await client.query('ANALYZE');
  return idsByUser;
}

async function findIds(client: Client, userId: number): Promise<RowIds> {
  const ids = new Map<string, string[]>();

  for (const [type, table, isOwned] of TABLES) {
    const condition = isOwned ? `WHERE "user_id" = ${userId}` : '';
    const { rows } = await client.query<{ id: number }>(
      `SELECT "id" FROM "${table}" ${condition} ORDER BY "id" DESC LIMIT 5`,
    );

    ids.set(
      type,
      rows.map(({ id }) => String(id)),
    );
  }

  ids.set('ExerciseTranslation', await findGroupedIds(client, 'e."id"'));
  ids.set('Exercise', await findGroupedIds(client, 'b."id"'));
  return ids;
}

/** Returns ids of translations that refer to each other, or of their exercises. */
async function findGroupedIds(client: Client, column: string): Promise<string[]> {
  const { rows } = await client.query<{ id: number }>(
    `SELECT DISTINCT ${column} FROM "exercise" e JOIN "exercise_base" b ON b."id" = "exercise_base_id"
     WHERE "variation_id" = (SELECT max("id") FROM "variation") ORDER BY 1 LIMIT ${GROUP_SIZE}`,
  );

  return rows.map(({ id }) => String(id));
}
