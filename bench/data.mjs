// Data of the benchmarks, created with SQL in a new database: 10,000 exercises, 100,000
// ingredients, 200,000 weight entries of 500 users.
import { createHash } from 'node:crypto';

export const TOKEN = 'b'.repeat(40);
const digest = createHash('sha256').update(TOKEN).digest('hex');

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

const STATEMENTS = [
  `INSERT INTO variation SELECT FROM generate_series(1, 1000)`,
  `INSERT INTO exercise_base (uuid, status, category_id, license_id, license_author, variation_id)
   SELECT gen_random_uuid(), '2', (SELECT array_agg(id ORDER BY id) FROM exercise_category)[1 + i % 7], 2, 'Fitgraph',
     CASE WHEN i % 10 = 0 THEN (SELECT min(id) FROM variation) + i % 1000 END FROM generate_series(1, 10000) i`,
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
   FROM generate_series(1, 100000) i`,
  `INSERT INTO user_account (username, password) SELECT 'bench' || i, '!' FROM generate_series(1, 500) i`,
  `INSERT INTO user_profile (user_id) SELECT id FROM user_account u WHERE username LIKE 'bench%'`,
  `INSERT INTO weight_entry (user_id, date, weight) SELECT u.id, date '2025-01-01' + d, 60 + (u.id + d) % 400 / 10.0
   FROM user_account u, generate_series(0, 399) d WHERE username LIKE 'bench%'`,
  `INSERT INTO token (user_id, digest, sealed) SELECT id, decode('${digest}', 'hex'), '' FROM user_account WHERE username = 'bench250'`,
  // The token above has no sealed form, because authentication only looks up the digest.
  `VACUUM ANALYZE`,
];

export async function fill(client, say) {
  for (const [index, text] of STATEMENTS.entries()) {
    await client.query(text);
    say(`data: ${index + 1} of ${STATEMENTS.length}`);
  }
}
