/**
 * Writes the accepted foods and exercises as JSON Lines, `{"food": …}` and `{"exercise": …}`, in
 * the form of `SourceFood` and `SourceExercise`, and reads such lines.
 */
import type { ClientBase } from 'pg';
import { MAX_INTEGER } from '../../shared/bounds';
import type { Database } from '../../database/connection';
import { inTransaction } from '../../database/transaction';
import { ACCEPTED_STATUS } from '../../fitness/catalogue/review-status';
import { NUTRIENT_REST_KEYS, NUTRIENTS } from '../../fitness/nutrition/values';
import {
  hasFields,
  isInteger,
  isListOf,
  isName,
  isNumber,
  isOptional,
  isText,
  isUuid,
} from './checks';
import type { SourceExercise } from './exercise';
import { MAX_PORTION_AMOUNT, type SourceFood } from './food';
import { isLicense } from './licenses';

/** Source of rows that were not imported from another one. */
export const OWN_SOURCE = 'Fitgraph';

const ROWS_PER_FETCH = 1_000;

const publishedSql = (alias: string) =>
  `${alias}."status" = '${ACCEPTED_STATUS}' AND NOT ${alias}."is_retired"`;
const licenseSql = (alias: string) =>
  `(SELECT json_build_object('shortName', l."short_name", 'fullName', l."full_name", 'url', l."url") FROM "license" l WHERE l."id" = ${alias}."license_id")`;
const languageSql = (alias: string) =>
  `(SELECT l."short_name" FROM "language" l WHERE l."id" = ${alias}."language_id")`;

/** A food without an id of a source is identified by its id and name here. */
const FOODS_SQL = `
SELECT json_strip_nulls(json_build_object('food', json_build_object(
    'sourceName', CASE WHEN i."source_id" IS NULL THEN '${OWN_SOURCE}' ELSE i."source_name" END,
    'sourceId', coalesce(i."source_id", md5(concat_ws('|', i."id", i."name", i."creation_date"))),
    'code', nullif(i."code", ''), 'name', i."name", 'commonName', nullif(i."common_name", ''), 'brand', nullif(i."brand", ''),
    'category', nullif(i."category", ''), 'language', ${languageSql('i')}, 'license', ${licenseSql('i')}, 'author', i."license_author",
    'url', nullif(i."source_url", ''),
    'nutrients', json_build_object(${NUTRIENTS.map((nutrient) => `'${nutrient}', i."${NUTRIENT_REST_KEYS[nutrient]}"`).join(', ')}),
    'portions', coalesce((SELECT json_agg(json_build_object('unit', u."name", 'language', ${languageSql('u')}, 'amount', p."amount", 'grams', p."gram")
        ORDER BY p."id") FROM "ingredient_unit" p JOIN "household_unit" u ON u."id" = p."unit_id" WHERE p."ingredient_id" = i."id"), '[]')
  )))::text AS "line" FROM "ingredient" i WHERE ${publishedSql('i')} ORDER BY i."id"`;

const namesSql = (table: string, link: string, column: string, condition = 'true') =>
  `ARRAY(SELECT n."name" FROM "${link}" k JOIN "${table}" n ON n."id" = k."${column}" WHERE k."exercise_base_id" = b."id" AND ${condition} ORDER BY n."id")`;

const EXERCISES_SQL = `
SELECT json_strip_nulls(json_build_object('exercise', json_build_object(
    'source', coalesce(b."source_name", '${OWN_SOURCE}'), 'sourceId', coalesce(b."source_id", b."uuid"::text), 'uuid', b."uuid",
    'category', (SELECT c."name" FROM "exercise_category" c WHERE c."id" = b."category_id"),
    'muscles', ${namesSql('muscle', 'exercise_base_muscle', 'muscle_id', 'NOT k."is_secondary"')},
    'secondaryMuscles', ${namesSql('muscle', 'exercise_base_muscle', 'muscle_id', 'k."is_secondary"')},
    'equipment', ${namesSql('equipment', 'exercise_base_equipment', 'equipment_id')},
    'license', ${licenseSql('b')}, 'author', b."license_author", 'variation', b."variation_id"::text,
    'translations', (SELECT json_agg(json_build_object('uuid', e."uuid", 'language', ${languageSql('e')}, 'name', e."name", 'description', e."description",
        'aliases', array_remove(string_to_array(e."aliases", E'\\n'), ''), 'license', ${licenseSql('e')}, 'author', e."license_author",
        'comments', ARRAY(SELECT c."comment" FROM "exercise_comment" c WHERE c."exercise_id" = e."id" ORDER BY c."id")) ORDER BY e."id")
      FROM "exercise" e WHERE e."exercise_base_id" = b."id" AND e."status" = '${ACCEPTED_STATUS}'),
    'images', ARRAY(SELECT m."image" FROM "exercise_image" m WHERE m."exercise_base_id" = b."id" AND m."status" = '${ACCEPTED_STATUS}'
      ORDER BY m."is_main" DESC, m."id")
  )))::text AS "line" FROM "exercise_base" b
  WHERE ${publishedSql('b')} AND EXISTS (SELECT FROM "exercise" e WHERE e."exercise_base_id" = b."id" AND e."status" = '${ACCEPTED_STATUS}')
  ORDER BY b."id"`;

async function* linesOfQuery(client: ClientBase, sql: string): AsyncGenerator<string> {
  await client.query(`DECLARE "export" NO SCROLL CURSOR FOR ${sql}`);

  for (;;) {
    const { rows } = await client.query(`FETCH ${ROWS_PER_FETCH} FROM "export"`);

    if (!rows.length) break;
    for (const { line } of rows) yield line;
  }

  await client.query('CLOSE "export"');
}

export interface ExportOptions {
  /** Returns an image as a `data:` URL; undefined if the file is missing. */
  readImage(path: string): Promise<string | undefined>;
  write(line: string): Promise<void>;
}

/** Exports one state of the catalogue. Returns the number of rows. */
export const exportCatalogue = (
  database: Database,
  { readImage, write }: ExportOptions,
): Promise<{ foods: number; exercises: number }> =>
  database.withoutTimeouts((client) =>
    inTransaction(
      client,
      async () => {
        const written = { foods: 0, exercises: 0 };

        for await (const line of linesOfQuery(client, EXERCISES_SQL)) {
          const { exercise } = JSON.parse(line) as { exercise: SourceExercise };
          const images = await Promise.all(exercise.images.map(readImage));

          await write(
            JSON.stringify({
              exercise: { ...exercise, images: images.filter((image) => image !== undefined) },
            }),
          );
          written.exercises += 1;
        }

        for await (const line of linesOfQuery(client, FOODS_SQL)) {
          await write(line);
          written.foods += 1;
        }

        return written;
      },
      'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    ),
  );

const isExportedFood = hasFields({
  sourceName: isText(200),
  sourceId: isText(200),
  code: isOptional(isText(200)),
  name: isText(200),
  commonName: isOptional(isText(200)),
  brand: isOptional(isText(200)),
  category: isOptional(isText(100)),
  language: isText(2),
  license: isLicense,
  author: isOptional(isText(50)),
  url: isOptional(isText(200)),
  nutrients: hasFields({
    ...Object.fromEntries(NUTRIENTS.map((nutrient) => [nutrient, isOptional(isNumber(999))])),
    energy: isNumber(99_999),
    protein: isNumber(999),
    carbohydrates: isNumber(999),
    fat: isNumber(999),
  }),
  portions: isListOf(
    hasFields({
      unit: isName(200),
      language: isText(2),
      amount: isNumber(MAX_PORTION_AMOUNT),
      grams: isInteger(MAX_INTEGER),
    }),
  ),
});

const isExportedExercise = hasFields({
  source: isText(200),
  sourceId: isText(200),
  uuid: isUuid,
  category: isName(100),
  muscles: isListOf(isName(50)),
  secondaryMuscles: isListOf(isName(50)),
  equipment: isListOf(isName(50)),
  license: isLicense,
  author: isOptional(isText(50)),
  variation: isOptional(isText(200)),
  translations: isListOf(
    hasFields({
      uuid: isUuid,
      language: isText(2),
      name: isText(200),
      description: isText(2_000),
      aliases: isListOf(isText(200)),
      license: isLicense,
      author: isOptional(isText(50)),
      comments: isListOf(isText(200)),
    }),
  ),
  images: isListOf((value) => typeof value === 'string'),
});

/** The food of a line of an export; undefined if it is none. */
export const exportedFood = (line: Record<string, unknown>): SourceFood | undefined =>
  isExportedFood(line.food) ? (line.food as SourceFood) : undefined;

/** The exercise of a line of an export; undefined if it is none. */
export const exportedExercise = (line: Record<string, unknown>): SourceExercise | undefined =>
  isExportedExercise(line.exercise) ? (line.exercise as SourceExercise) : undefined;
