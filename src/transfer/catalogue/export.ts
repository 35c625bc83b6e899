/**
 * Writes the accepted foods and exercises as JSON Lines, `{"food": …}` and `{"exercise": …}`, in
 * the form of `SourceFood` and `SourceExercise`.
 */
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import type { Database } from '../../database/connection';
import { rowsOfCursor } from '../../database/cursor';
import { inTransaction } from '../../database/transaction';
import { ACCEPTED_STATUS } from '../../fitness/catalogue/review-status';
import { NUTRIENT_REST_KEYS, NUTRIENTS } from '../../fitness/nutrition/values';
import { exerciseSql, languageSql, licenseSql, OWN_SOURCE } from './exercise';

const isAcceptedSql = (alias: string) => `${alias}."status" = '${ACCEPTED_STATUS}'`;

/** SQL: keys of a food. One without an id of a source is identified by its id and name here. */
const keysSql = (alias: string) => `
    'sourceName', CASE WHEN ${alias}."source_id" IS NULL THEN '${OWN_SOURCE}' ELSE ${alias}."source_name" END,
    'sourceId', coalesce(${alias}."source_id", md5(concat_ws('|', ${alias}."id", ${alias}."name", ${alias}."creation_date")))`;

/** SQL: the parts of recipe `i`; null if one of them is not exported. */
const PARTS_SQL = `
  (SELECT CASE WHEN bool_and(NOT f."is_retired") THEN json_agg(json_build_object(${keysSql('f')}, 'grams', p."grams") ORDER BY p."id") END
    FROM "recipe_part" p JOIN "ingredient" f ON f."id" = p."ingredient_id" WHERE p."recipe_id" = i."id")`;

/** Recipes follow the foods of which they consist. */
const FOODS_SQL = `
SELECT json_strip_nulls(json_build_object(${keysSql('i')},
    'code', nullif(i."code", ''), 'name', i."name", 'commonName', nullif(i."common_name", ''), 'brand', nullif(i."brand", ''),
    'category', nullif(i."category", ''), 'language', ${languageSql('i')}, 'license', ${licenseSql('i')}, 'author', i."license_author",
    'url', nullif(i."source_url", ''),
    'nutrients', json_build_object(${NUTRIENTS.map((nutrient) => `'${nutrient}', i."${NUTRIENT_REST_KEYS[nutrient]}"`).join(', ')}),
    'portions', coalesce((SELECT json_agg(json_build_object('unit', u."name", 'language', ${languageSql('u')}, 'amount', p."amount", 'grams', p."gram", 'portions', p."portions")
        ORDER BY p."id") FROM "ingredient_unit" p JOIN "household_unit" u ON u."id" = p."unit_id" WHERE p."ingredient_id" = i."id"), '[]'),
    'parts', ${PARTS_SQL}
  )) AS "food" FROM "ingredient" i WHERE ${isAcceptedSql('i')} AND NOT i."is_retired"
  ORDER BY EXISTS (SELECT FROM "recipe_part" p WHERE p."recipe_id" = i."id"), i."id"`;

const EXERCISES_SQL = `
SELECT ${exerciseSql(isAcceptedSql('e'))} AS "exercise",
    ARRAY(SELECT m."image" FROM "exercise_image" m WHERE m."exercise_base_id" = b."id" AND ${isAcceptedSql('m')} ORDER BY m."is_main" DESC, m."id") AS "images"
  FROM "exercise_base" b WHERE ${isAcceptedSql('b')} AND NOT b."is_retired"
    AND EXISTS (SELECT FROM "exercise" e WHERE e."exercise_base_id" = b."id" AND ${isAcceptedSql('e')})
  ORDER BY b."id"`;

export interface ExportOptions {
  /** Returns an image as a `data:` URL; undefined if the file is missing. */
  readImage(path: string): Promise<string | undefined>;
  output: Writable;
}

/** Exports one state of the catalogue. Returns the number of rows. */
export async function exportCatalogue(
  database: Database,
  { readImage, output }: ExportOptions,
): Promise<{ foods: number; exercises: number }> {
  const written = { foods: 0, exercises: 0 };

  async function* linesOf(client: ClientBase): AsyncGenerator<string> {
    for await (const { exercise, images } of rowsOfCursor(client, EXERCISES_SQL)) {
      const urls = await Promise.all((images as string[]).map(readImage));
      const found = urls.filter((url) => url !== undefined);

      yield `${JSON.stringify({ exercise: { ...exercise, images: found } })}\n`;
      written.exercises += 1;
    }

    for await (const row of rowsOfCursor(client, FOODS_SQL)) {
      yield `${JSON.stringify(row)}\n`;
      written.foods += 1;
    }
  }

  await database.withoutTimeouts((client) =>
    inTransaction(
      client,
      () => pipeline(linesOf(client), output, { end: output !== process.stdout }),
      'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    ),
  );

  return written;
}
