/** Statements that write a batch of foods: only what is new, and what has changed at its source. */
import type { Client } from 'pg';
import { inTransaction } from '../../database/transaction';
import type { RefusalReason } from '../../fitness/catalogue/refused-food';
import { ACCEPTED_STATUS } from '../../fitness/catalogue/review-status';
import { NUTRIENT_REST_KEYS, NUTRIENTS } from '../../fitness/nutrition/values';
import type { SourceFood } from './food';
import { CREATE_LICENSES_SQL, licenseIdSql } from './licenses';

/** What becomes of a food. One that is kept has been edited here, and differs from the source. */
export type FoodOutcome = 'created' | 'updated' | 'unchanged' | 'kept' | RefusalReason;

export interface BatchFood {
  /** Of the record in the file. */
  number: number;
  food: SourceFood;

  /** Why the food is refused. */
  reason?: RefusalReason;
}

/** Columns of foods, with SQL of their values for the food `f` of a JSON array. */
const VALUES: Readonly<Record<string, string>> = {
  source_name: 'f."sourceName"',
  source_id: 'f."sourceId"',
  code: 'f."code"::varchar(200)',
  name: 'f."name"::varchar(200)',
  common_name: 'f."commonName"::varchar(200)',
  brand: 'f."brand"::varchar(200)',
  category: 'f."category"::varchar(100)',
  ...Object.fromEntries(
    NUTRIENTS.map((nutrient) => [NUTRIENT_REST_KEYS[nutrient], `f."${nutrient}"`]),
  ),
  energy: 'round(f."energy")',
  language_id: 'l."id"',
  license_id: 'NULL',
  license_author: 'f."author"::varchar(50)',
  source_url: 'f."url"::varchar(200)',
};
const names = Object.keys(VALUES).map((name) => `"${name}"`);

/** Tables of the session: a batch of foods, its portions, and the ids of all foods that the import has seen. */
export const BATCH_TABLES_SQL = `
CREATE TEMPORARY TABLE "given_food" ON COMMIT DELETE ROWS AS
  SELECT 0 AS "number", '' AS "outcome", '' AS "license", NULL::json AS "portions", NULL::json AS "parts", ${names.join(', ')} FROM "ingredient" WITH NO DATA;
CREATE TEMPORARY TABLE "given_portion" ON COMMIT DELETE ROWS AS
  SELECT k."ingredient_id", u."name" AS "unit", u."language_id", k."amount", k."gram", k."portions" FROM "ingredient_unit" k, "household_unit" u WITH NO DATA;
CREATE TEMPORARY TABLE "seen_food" ("source_name" text COLLATE "C", "source_id" text COLLATE "C", PRIMARY KEY ("source_id", "source_name"));
`;

/** SQL: one language for each code. */
const LANGUAGES_SQL = '(SELECT "short_name", min("id") AS "id" FROM "language" GROUP BY 1)';

/** The languages of an export may be others than those of the catalogue. */
const GIVE_SQL = `
INSERT INTO "given_food" ("number", "outcome", "license", "portions", "parts", ${names.join(', ')})
  SELECT f."number", coalesce(f."outcome", CASE WHEN l."id" IS NULL THEN 'nameless' END), f."licenseName", f."portions", f."parts", ${Object.values(VALUES).join(', ')}
    FROM json_to_recordset($1) AS f("number" integer, "outcome" text, "licenseName" text, "portions" json, "parts" json, "sourceName" text, "sourceId" text,
        "code" text, "name" text, "commonName" text, "brand" text, "category" text, "language" text, "author" text, "url" text,
        ${NUTRIENTS.map((nutrient) => `"${nutrient}" numeric`).join(', ')})
      LEFT JOIN ${LANGUAGES_SQL} l ON l."short_name" = f."language"`;
const REFUSE_DUPLICATES_SQL = `
WITH fresh AS (
  INSERT INTO "seen_food" SELECT DISTINCT "source_name", "source_id" FROM "given_food" ON CONFLICT DO NOTHING RETURNING "source_name", "source_id"
), numbered AS (
  SELECT ctid AS "place", "source_name", "source_id", "gtin"("code") AS "gtin",
    row_number() OVER (PARTITION BY "source_name", "source_id" ORDER BY "number") AS "of_id",
    row_number() OVER (PARTITION BY "gtin"("code") ORDER BY "number") AS "of_gtin" FROM "given_food" WHERE "outcome" IS NULL
)
UPDATE "given_food" g SET "outcome" = 'duplicate' FROM numbered n WHERE g.ctid = n."place" AND (
  n."of_id" > 1 OR (n."source_name", n."source_id") NOT IN (SELECT "source_name", "source_id" FROM fresh) OR n."gtin" IS NOT NULL AND (n."of_gtin" > 1 OR EXISTS (
    SELECT FROM "ingredient" i WHERE i."source_id" IS NOT NULL AND "gtin"(i."code") = n."gtin"
      AND (i."source_name", i."source_id") <> (n."source_name", n."source_id"))))`;

/** Foods without an id of a source, such as those of a dump, become foods of the source by barcode. */
const adoptSql = (condition: string) => `
UPDATE "ingredient" i SET "source_name" = a."source_name", "source_id" = a."source_id" FROM (
  SELECT DISTINCT ON (g."source_name", g."source_id") g."source_name", g."source_id", o."id" FROM "given_food" g
    JOIN "ingredient" o ON ${condition} AND o."source_id" IS NULL AND o."status" = '${ACCEPTED_STATUS}' AND NOT o."is_retired"
    WHERE g."outcome" IS NULL
      AND NOT EXISTS (SELECT FROM "ingredient" k WHERE k."source_name" = g."source_name" AND k."source_id" = g."source_id")
    ORDER BY g."source_name", g."source_id", o."id") a
  WHERE i."id" = a."id"`;
const ADOPT_BY_BARCODE_SQL = adoptSql('"gtin"(o."code") = "gtin"(g."code")');

/** Foods of an export that the catalogue has, too, such as those with which both began. */
const ADOPT_BY_NAME_SQL = adoptSql(
  `o."name_folded" = search_fold(g."name") AND o."language_id" = g."language_id" AND o."energy" = g."energy"
    AND o."protein" = g."protein" AND coalesce(o."code", '') = coalesce(g."code", '')`,
);

const SAME_FOOD_SQL = 'i."source_name" = g."source_name" AND i."source_id" = g."source_id"';
const changingNames = names.slice(2);
const rowSql = (alias: string) => changingNames.map((name) => `${alias}.${name}`).join(', ');

const nutrientsSql = (alias: string) =>
  NUTRIENTS.map((nutrient) => `${alias}"${NUTRIENT_REST_KEYS[nutrient]}"`).join(', ');

/** Values of recipes follow from their parts here. */
const KEEP_RECIPE_VALUES_SQL = `
UPDATE "given_food" g SET (${nutrientsSql('')}) = ROW(${nutrientsSql('i.')}) FROM "ingredient" i
  WHERE ${SAME_FOOD_SQL} AND EXISTS (SELECT FROM "recipe_part" q WHERE q."recipe_id" = i."id")`;

/** The portions of the foods that nobody has edited. */
const GIVE_PORTIONS_SQL = `
INSERT INTO "given_portion" SELECT i."id" AS "ingredient_id", p."unit", coalesce(l."id", g."language_id") AS "language_id", coalesce(p."amount", 1) AS "amount", round(p."grams")::integer AS "gram",
    CASE WHEN EXISTS (SELECT FROM "recipe_part" q WHERE q."recipe_id" = i."id") THEN nullif(round(p."portions"), 0)::integer END AS "portions"
  FROM "given_food" g JOIN "ingredient" i ON ${SAME_FOOD_SQL} CROSS JOIN LATERAL
    ROWS FROM (json_to_recordset(g."portions") AS ("unit" text, "language" text, "amount" numeric(5, 2), "grams" numeric, "portions" numeric))
      WITH ORDINALITY p("unit", "language", "amount", "grams", "portions", "place") LEFT JOIN ${LANGUAGES_SQL} l ON l."short_name" = p."language"
  WHERE g."outcome" IN ('created', 'updated', 'unchanged') AND i."edited_at" IS NULL AND (p."language" IS NULL OR l."id" IS NOT NULL)
  ORDER BY i."id", p."place"`;
const UNITS_SQL = `
SELECT DISTINCT ON ("ingredient_id", "unit_id", "amount") p."ingredient_id", p."amount", p."gram", p."portions",
    (SELECT min(u."id") FROM "household_unit" u WHERE lower(u."name") = lower(p."unit") AND u."language_id" = p."language_id") AS "unit_id"
  FROM "given_portion" p ORDER BY "ingredient_id", "unit_id", "amount", p.ctid`;
const SAME_UNIT_SQL =
  'k."ingredient_id" = p."ingredient_id" AND k."unit_id" = p."unit_id" AND k."amount" = p."amount"';

/** Writes units, and gives foods with nothing else to write another version. */
const touchFoodsSql = (writeUnitsSql: string) => `
WITH written AS (${writeUnitsSql})
UPDATE "ingredient" i SET "last_imported" = now() FROM "given_food" g
  WHERE ${SAME_FOOD_SQL} AND g."outcome" = 'unchanged' AND i."id" IN (SELECT "ingredient_id" FROM written)`;

/** The parts of new recipes whose foods are all in the catalogue; others become plain foods. */
const PARTS_SQL = `
SELECT i."id" AS "recipe_id", f."id" AS "ingredient_id", p."grams", count(f."id") OVER r = count(*) OVER r AS "isComplete", p."place"
  FROM "given_food" g JOIN "ingredient" i ON ${SAME_FOOD_SQL} CROSS JOIN LATERAL
    ROWS FROM (json_to_recordset(g."parts") AS ("sourceName" text, "sourceId" text, "grams" numeric)) WITH ORDINALITY p("sourceName", "sourceId", "grams", "place")
    LEFT JOIN "ingredient" f ON f."source_name" = p."sourceName" AND f."source_id" = p."sourceId" AND f."status" = '${ACCEPTED_STATUS}'
      AND NOT f."is_retired" AND f."merged_into_id" IS NULL AND round(p."grams", 2) > 0 AND NOT EXISTS (SELECT FROM "recipe_part" q WHERE q."recipe_id" = f."id")
      AND NOT EXISTS (SELECT FROM "given_food" o WHERE o."source_name" = p."sourceName" AND o."source_id" = p."sourceId" AND o."parts" IS NOT NULL)
  WHERE g."outcome" = 'created' WINDOW r AS (PARTITION BY i."id")`;

const WRITE_SQL = [
  `UPDATE "given_food" g SET "license_id" = ${licenseIdSql('g."license"')}`,
  `UPDATE "given_food" g SET "outcome" = CASE WHEN (${rowSql('i')}) IS NOT DISTINCT FROM (${rowSql('g')}) THEN 'unchanged' WHEN i."edited_at" IS NOT NULL THEN 'kept' ELSE 'updated' END
    FROM "ingredient" i WHERE ${SAME_FOOD_SQL} AND g."outcome" IS NULL`,
  `UPDATE "given_food" SET "outcome" = 'created' WHERE "outcome" IS NULL`,
  `INSERT INTO "ingredient" AS i (${names.join(', ')}, "status", "creation_date", "update_date", "last_imported")
    SELECT ${names.join(', ')}, '${ACCEPTED_STATUS}', current_date, current_date, now() FROM "given_food" WHERE "outcome" IN ('created', 'updated')
    ON CONFLICT ("source_name", "source_id") WHERE "source_id" IS NOT NULL DO UPDATE
      SET ${[...changingNames, '"update_date"', '"last_imported"'].map((name) => `${name} = excluded.${name}`).join(', ')} WHERE i."edited_at" IS NULL`,
  `INSERT INTO "recipe_part" ("recipe_id", "ingredient_id", "grams")
    SELECT p."recipe_id", p."ingredient_id", p."grams" FROM (${PARTS_SQL}) p WHERE p."isComplete" ORDER BY p."recipe_id", p."place"`,
  GIVE_PORTIONS_SQL,
  `INSERT INTO "household_unit" ("name", "language_id") SELECT DISTINCT p."unit", p."language_id" FROM "given_portion" p
    WHERE NOT EXISTS (SELECT FROM "household_unit" u WHERE lower(u."name") = lower(p."unit") AND u."language_id" = p."language_id")`,
  touchFoodsSql(
    `UPDATE "ingredient_unit" k SET "gram" = p."gram" FROM (${UNITS_SQL}) p WHERE ${SAME_UNIT_SQL} AND k."gram" <> p."gram" RETURNING k."ingredient_id"`,
  ),
  touchFoodsSql(`INSERT INTO "ingredient_unit" ("ingredient_id", "unit_id", "amount", "gram", "portions")
    SELECT p."ingredient_id", p."unit_id", p."amount", p."gram", p."portions"
    FROM (${UNITS_SQL}) p WHERE NOT EXISTS (SELECT FROM "ingredient_unit" k WHERE ${SAME_UNIT_SQL}) RETURNING "ingredient_id"`),
  `DELETE FROM "refused_food" r USING "given_food" i WHERE r."source_name" = i."source_name" AND r."source_id" = i."source_id"
    AND i."outcome" IN ('created', 'updated', 'unchanged', 'kept')`,
  `INSERT INTO "refused_food" ("source_name", "source_id", "gtin", "name", "reason", "refused_at")
    SELECT DISTINCT ON ("source_name", "source_id") "source_name", "source_id", "gtin"("code"), "name", "outcome", now() FROM "given_food"
      WHERE "outcome" NOT IN ('created', 'updated', 'unchanged', 'kept', 'duplicate') ORDER BY "source_name", "source_id", "number"
    ON CONFLICT ("source_name", "source_id") DO UPDATE SET "gtin" = excluded."gtin", "name" = excluded."name", "reason" = excluded."reason",
      "refused_at" = excluded."refused_at"
      WHERE ("refused_food"."gtin", "refused_food"."name", "refused_food"."reason") IS DISTINCT FROM (excluded."gtin", excluded."name", excluded."reason")`,
];

/**
 * Writes foods in a transaction, of which a dry run keeps only the tables of a batch, which the
 * session must have. Returns what becomes of the foods by their numbers.
 */
export const writeFoods = (
  client: Client,
  foods: readonly BatchFood[],
  { isExport, isDryRun }: { isExport?: boolean; isDryRun: boolean },
): Promise<Map<number, FoodOutcome>> =>
  inTransaction(client, async () => {
    const licenses = [...new Set(foods.map(({ food }) => food.license))];
    // Nutrients of foods that are refused may not fit into the columns.
    const rows = foods.map(({ number, food, reason }) => ({
      ...(!reason && food.nutrients),
      number,
      outcome: reason,
      sourceName: food.sourceName,
      sourceId: food.sourceId,
      code: food.code,
      name: food.name,
      commonName: food.commonName,
      brand: food.brand,
      category: food.category,
      language: food.language,
      licenseName: food.license.shortName,
      author: food.author,
      url: food.url,
      portions: food.portions,
      parts: food.parts,
    }));

    // Autovacuum leaves a locked table alone. During an import it would take a third of the time,
    // and the import itself ends with VACUUM. Reads and other writes do not wait for this lock.
    await client.query('LOCK TABLE "ingredient" IN SHARE UPDATE EXCLUSIVE MODE');
    await client.query("SET LOCAL fitgraph.catalogue_import = 'on'");
    await client.query(GIVE_SQL, [JSON.stringify(rows)]);
    await client.query(REFUSE_DUPLICATES_SQL);
    await client.query('SAVEPOINT "written"');
    await client.query(CREATE_LICENSES_SQL, [JSON.stringify(licenses)]);
    await client.query(ADOPT_BY_BARCODE_SQL);

    if (isExport) {
      await client.query(ADOPT_BY_NAME_SQL);
      await client.query(KEEP_RECIPE_VALUES_SQL);
    }

    for (const sql of WRITE_SQL) await client.query(sql);
    const outcomes = await client.query('SELECT "number", "outcome" FROM "given_food"');

    if (isDryRun) await client.query('ROLLBACK TO SAVEPOINT "written"');

    return new Map(outcomes.rows.map(({ number, outcome }) => [number, outcome]));
  });
