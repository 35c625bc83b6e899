// Data of the benchmarks, created with SQL in a new database: exercises, ingredients, 200,000 weight
// entries and the workout logs of 500 users. The reader has a workout, a nutrition plan with a
// diary, 900 weight entries and up to 100,000 of the logs. The writer has workouts whose planned
// sets are changed.
import { createHash } from 'node:crypto';

export const READER_TOKEN = 'b'.repeat(40);
export const WRITER_TOKEN = 'c'.repeat(40);

/** Number of workouts of the writer, each with one planned set. */
const WRITABLE_WORKOUTS = 500;

const digestOf = (token) => createHash('sha256').update(token).digest('hex');
const READER = `(SELECT id FROM user_account WHERE username = 'bench250')`;
const WRITER = `(SELECT id FROM user_account WHERE username = 'bench251')`;

// Words for the names of ingredients, frequent and rare ones. Each name ends with four hexadecimal
// digits.
const KINDS =
  'Organic,Fresh,Dried,Smoked,Roasted,Light,Classic,Premium,Wild,Sweet,Salted,Raw,Bio'.split(',');
const FOODS =
  'chicken,beef,salmon,oat,milk,cheese,yogurt,apple,banana,bread,rice,pasta,chocolate,almond,peanut,tomato,potato,egg,tofu,quinoa,zucchini,raspberry,pumpkin,walnut,cream,kiwi,jackfruit,lentil,leek'.split(
    ',',
  );
const FORMS =
  'bar,spread,soup,salad,drink,flakes,steak,filet,cake,cookies,mix,sauce,juice,powder,butter,wrap,stew'.split(
    ',',
  );
const sqlLiterals = (words) => words.map((word) => `'${word}'`).join(', ');

const catalogueSql = ({ exercises, ingredients }) => [
  `INSERT INTO variation SELECT FROM generate_series(1, 1000)`,
  `INSERT INTO exercise_base (uuid, status, category_id, license_id, license_author, variation_id)
   SELECT gen_random_uuid(), '2', (SELECT array_agg(id ORDER BY id) FROM exercise_category)[1 + i % 7], 2, 'Fitgraph',
     CASE WHEN i % 10 = 0 THEN (SELECT min(id) FROM variation) + i % 1000 END FROM generate_series(1, ${exercises}) i`,
  `INSERT INTO exercise (uuid, name, status, description, creation_date, language_id, license_id, license_author, name_original, exercise_base_id)
   SELECT gen_random_uuid(), 'Bench exercise ' || lpad(b.id::text, 6, '0'), '2', '<p>' || repeat('Lift it and lower it with care. ', 8) || '</p>',
     '2026-01-01', 2, 2, 'Fitgraph', '', b.id FROM exercise_base b WHERE b.license_author = 'Fitgraph' AND NOT EXISTS (SELECT 1 FROM exercise e WHERE e.exercise_base_id = b.id)`,
  `INSERT INTO exercise_base_muscle (exercise_base_id, muscle_id, is_secondary)
   SELECT b.id, 1 + (b.id + k) % 15, k > 1 FROM exercise_base b, generate_series(0, 3) k ON CONFLICT DO NOTHING`,
  `INSERT INTO exercise_base_equipment (exercise_base_id, equipment_id)
   SELECT b.id, q.id FROM exercise_base b, LATERAL (SELECT id FROM equipment ORDER BY (id + b.id) % 10 LIMIT 2) q ON CONFLICT DO NOTHING`,
  `INSERT INTO exercise_image (uuid, exercise_base_id, image, is_main, status, license_id)
   SELECT gen_random_uuid(), b.id, 'exercise-images/' || b.id || '/' || k || '.jpg', k = 1, '2', 2 FROM exercise_base b, generate_series(1, 2) k
   WHERE NOT EXISTS (SELECT 1 FROM exercise_image i WHERE i.exercise_base_id = b.id)`,
  `INSERT INTO exercise_comment (exercise_id, comment) SELECT e.id, 'Hint ' || k FROM exercise e, generate_series(1, 2) k`,
  `INSERT INTO ingredient (name, creation_date, update_date, energy, protein, carbohydrates, carbohydrates_sugar, fat, fat_saturated, fibres, sodium, license_id, license_author, language_id, status)
   SELECT (ARRAY[${sqlLiterals(KINDS)}])[1 + i % ${KINDS.length}] || ' ' || (ARRAY[${sqlLiterals(FOODS)}])[1 + i * 7 % ${FOODS.length}] || ' ' ||
     (ARRAY[${sqlLiterals(FORMS)}])[1 + i * 11 % ${FORMS.length}] || ' ' || substr(md5(i::text), 1, 4), '2026-01-01', '2026-01-01', 100 + i % 400, i % 30, i % 60, i % 20, i % 10, i % 5, i % 7, 0.1, 2, 'Fitgraph', 2, '2'
   FROM generate_series(1, ${ingredients}) i`,
];

const tokenSql = (user, token) =>
  `INSERT INTO token (user_id, digest, sealed) SELECT ${user}, decode('${digestOf(token)}', 'hex'), ''`;

// The tokens have no sealed form, because authentication only looks up the digest.
const USERS = [
  `INSERT INTO user_account (username, password) SELECT 'bench' || i, '!' FROM generate_series(1, 500) i`,
  `INSERT INTO user_profile (user_id) SELECT id FROM user_account u WHERE username LIKE 'bench%'`,
  tokenSql(READER, READER_TOKEN),
  tokenSql(WRITER, WRITER_TOKEN),
  `INSERT INTO workout (user_id, creation_date, comment) SELECT u.id, date '2026-01-01', 'Strength'
   FROM user_account u, generate_series(1, ${WRITABLE_WORKOUTS}) i WHERE username LIKE 'bench%' AND (i = 1 OR u.id = ${WRITER})`,
];

const PLANS = [
  `INSERT INTO training_day (user_id, workout_id, description) SELECT w.user_id, w.id, 'Day ' || i
   FROM workout w, generate_series(1, 3) i WHERE w.user_id = ${READER} OR w.user_id = ${WRITER} AND i = 1`,
  `INSERT INTO training_day_weekday (user_id, training_day_id, day_of_week_id) SELECT user_id, id, 1 + id % 7 FROM training_day WHERE user_id IN (${READER}, ${WRITER})`,
  `INSERT INTO workout_set (user_id, training_day_id, sets, "order") SELECT d.user_id, d.id, 3, i
   FROM training_day d, generate_series(1, 6) i WHERE d.user_id = ${READER} OR d.user_id = ${WRITER} AND i = 1`,
  `INSERT INTO setting (user_id, set_id, exercise_id, reps, weight, "order")
   SELECT s.user_id, s.id, (SELECT min(id) FROM exercise) + (s.id + i) % 50, 8, 40 + i, i
   FROM workout_set s, generate_series(1, 2) i WHERE s.user_id = ${READER} OR s.user_id = ${WRITER} AND i = 1`,
  `INSERT INTO nutrition_plan (user_id, creation_date, description, language_id) SELECT ${READER}, date '2026-01-01', 'Cut', 2`,
  `INSERT INTO meal (user_id, plan_id, "order", time) SELECT user_id, id, i, time '06:00' + i * interval '3 hours'
   FROM nutrition_plan, generate_series(1, 5) i WHERE user_id = ${READER}`,
  `INSERT INTO meal_item (user_id, meal_id, ingredient_id, "order", amount)
   SELECT user_id, m.id, (SELECT min(id) FROM ingredient) + m.id * 4 + i, i, 100 + i
   FROM meal m, generate_series(1, 4) i WHERE user_id = ${READER}`,
  `INSERT INTO diary_entry (user_id, plan_id, ingredient_id, datetime, amount)
   SELECT user_id, id, (SELECT min(id) FROM ingredient) + i % 40, timestamptz '2026-01-02 08:00Z' + i * interval '5 hours', 50 + i
   FROM nutrition_plan, generate_series(1, 300) i WHERE user_id = ${READER}`,
];

/**
 * Weight entries, and logs of five years in the order of their dates, as in real use, so that those
 * of one user are spread over the table. Inserted without triggers, because their change log is not
 * measured.
 */
const historySql = (logs, logsOfReader) => [
  `SET session_replication_role = replica`,
  `INSERT INTO weight_entry (user_id, date, weight, unit) SELECT u.id, date '2024-01-01' + d, 60 + (u.id + d) % 400 / 10.0, 'kg'
   FROM user_account u, generate_series(0, 899) d WHERE username LIKE 'bench%' AND u.id <> ${WRITER} AND (d < 400 OR u.id = ${READER})`,
  `INSERT INTO workout_log (user_id, workout_id, reps, weight, date, rir, weight_unit_id, mass_unit, exercise_id, exercise_base_id)
   SELECT w.user_id, w.id, 3 + n * 7 % 12, 20 + n % 100, date '2021-06-01' + (n::bigint * 1825 / c.logs)::int, CASE n % 3 WHEN 0 THEN '2' END, 1, 'kg', e.id, e.exercise_base_id
   FROM workout w, LATERAL (SELECT CASE WHEN w.user_id = ${READER} THEN ${logsOfReader} ELSE ${Math.floor((logs - logsOfReader) / 498)} END AS logs) c,
     generate_series(0, c.logs - 1) n, (SELECT array_agg(id ORDER BY id) AS ids FROM exercise) s,
     LATERAL (SELECT id, exercise_base_id FROM exercise WHERE id = s.ids[1 + (w.user_id + n * 13) % 40]) e
   WHERE w.user_id <> ${WRITER} ORDER BY 5, n, w.id`,
  `SET session_replication_role = origin`,
];

/** Drops the indexes of the large tables, because creating them afterwards takes less time. */
const DROP_INDEXES = [
  `CREATE TEMP TABLE dropped_index AS SELECT indexname, indexdef FROM pg_indexes
   WHERE tablename IN ('ingredient', 'workout_log') AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
  `DO $$ DECLARE i record; BEGIN FOR i IN SELECT * FROM dropped_index LOOP EXECUTE format('DROP INDEX %I', i.indexname); END LOOP; END $$`,
];
const CREATE_INDEXES = [
  `SET maintenance_work_mem = '256MB'`,
  `DO $$ DECLARE i record; BEGIN FOR i IN SELECT * FROM dropped_index LOOP EXECUTE i.indexdef; END LOOP; END $$`,
];

const DEFAULT_SIZES = { exercises: 10_000, ingredients: 100_000, logs: 0 };

/** Fills the database. `sizes` has the numbers of rows, see `DEFAULT_SIZES`. */
export async function fill(client, say, sizes = DEFAULT_SIZES) {
  const statements = [
    ...DROP_INDEXES,
    ...catalogueSql(sizes),
    ...USERS,
    ...PLANS,
    ...historySql(sizes.logs, Math.min(100_000, sizes.logs / 2)),
    ...CREATE_INDEXES,
    `VACUUM ANALYZE`,
  ];

  for (const [index, text] of statements.entries()) {
    await client.query(text);
    say(`data: ${index + 1} of ${statements.length}`);
  }
}
