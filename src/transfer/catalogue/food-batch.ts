/** Statements that write a batch of foods: only what is new, and what has changed at its source. */
import type { Client } from 'pg';
import type { RefusalReason } from '../../fitness/catalogue/refused-food';
import { ACCEPTED_STATUS } from '../../fitness/catalogue/review-status';
import { NUTRIENT_REST_KEYS, NUTRIENTS } from '../../fitness/nutrition/values';
import type { SourceFood } from './food';
import { findOrCreateLicense, type SourceLicense } from './licenses';

/** What foods have that do not say otherwise. */
export interface FoodDefaults {
  sourceName: string;
  author?: string;
  license: SourceLicense;
  languageIds: ReadonlyMap<string, number>;
}

/** A food with the number of its record in the file. */
export type NumberedFood = SourceFood & { number: number };

export interface Refusal {
  number: number;
  reason: RefusalReason;
  food?: SourceFood;
}

export interface BatchResult {
  created: number;
  updated: number;
  unchanged: number;

  /** Ids of foods that a person has edited here and that differ from the source. */
  kept: string[];

  /** Foods that the import has seen before, or whose barcode another food has. */
  duplicates: NumberedFood[];
}

/** The defaults, with the ids of the licences of a batch by their short names. */
type BatchDefaults = FoodDefaults & { licenseIds: ReadonlyMap<string, number> };

const MAX_CHARACTERS = { name: 200, category: 100, author: 50, url: 200 };

export const truncate = (text: string | undefined, length: number): string | undefined =>
  text && [...text].slice(0, length).join('');

const identityOf = ({ sourceName, sourceId }: SourceFood, defaults: FoodDefaults) => ({
  source_name: sourceName ?? defaults.sourceName,
  source_id: sourceId,
});

const foodRow = (food: NumberedFood, defaults: BatchDefaults) => ({
  number: food.number,
  ...identityOf(food, defaults),
  code: food.code,
  name: truncate(food.name, MAX_CHARACTERS.name),
  common_name: truncate(food.commonName, MAX_CHARACTERS.name),
  brand: truncate(food.brand, MAX_CHARACTERS.name),
  category: truncate(food.category, MAX_CHARACTERS.category),
  ...Object.fromEntries(
    NUTRIENTS.map((nutrient) => [NUTRIENT_REST_KEYS[nutrient], food.nutrients[nutrient]]),
  ),
  energy: Math.round(food.nutrients.energy!),
  language_id: defaults.languageIds.get(food.language),
  license_id: defaults.licenseIds.get((food.license ?? defaults.license).shortName),
  license_author: truncate(food.author ?? defaults.author, MAX_CHARACTERS.author),
  source_url: truncate(food.url, MAX_CHARACTERS.url),
});

const portionRows = (food: SourceFood, defaults: FoodDefaults) =>
  food.portions.map(({ unit, language, amount, grams }) => ({
    ...identityOf(food, defaults),
    unit,
    language_id: defaults.languageIds.get(language ?? food.language),
    amount,
    gram: grams,
  }));

const names = [
  ...['source_name', 'source_id', 'code', 'name', 'common_name', 'brand', 'category'],
  ...Object.values(NUTRIENT_REST_KEYS),
  ...['language_id', 'license_id', 'license_author', 'source_url'],
].map((name) => `"${name}"`);

const createTableSql = (table: string, selection: string) =>
  `CREATE TEMPORARY TABLE "${table}" ON COMMIT DELETE ROWS AS SELECT ${selection} WITH NO DATA;`;

/** Tables of the session: a batch, and the ids of all foods that the import has seen. */
export const BATCH_TABLES_SQL = `
${createTableSql('given_food', `0 AS "number", ${names.join(', ')} FROM "ingredient"`)}
${createTableSql('given_portion', 'i."source_name", i."source_id", u."name" AS "unit", u."language_id", k."amount", k."gram" FROM "ingredient" i, "household_unit" u, "ingredient_unit" k')}
${createTableSql('given_refusal', '"source_name", "source_id", "gtin" AS "code", "name", "reason" FROM "refused_food"')}
CREATE TEMPORARY TABLE "seen_food" ("source_name" text COLLATE "C", "source_id" text COLLATE "C", PRIMARY KEY ("source_id", "source_name"));
`;

const changingNames = names.slice(2);
const rowSql = (alias: string) => `(${changingNames.map((name) => `${alias}.${name}`).join(', ')})`;

const DELETE_DUPLICATES_SQL = `
WITH fresh AS (
  INSERT INTO "seen_food" SELECT DISTINCT "source_name", "source_id" FROM "given_food" ON CONFLICT DO NOTHING RETURNING "source_name", "source_id"
), numbered AS (
  SELECT ctid AS "place", "source_name", "source_id", "gtin"("code") AS "gtin",
    row_number() OVER (PARTITION BY "source_name", "source_id" ORDER BY "number") AS "of_id",
    row_number() OVER (PARTITION BY "gtin"("code") ORDER BY "number") AS "of_gtin" FROM "given_food"
)
DELETE FROM "given_food" g USING numbered n WHERE g.ctid = n."place" AND (
  n."of_id" > 1 OR (n."source_name", n."source_id") NOT IN (SELECT "source_name", "source_id" FROM fresh) OR n."gtin" IS NOT NULL AND (n."of_gtin" > 1 OR EXISTS (
    SELECT FROM "ingredient" i WHERE i."source_id" IS NOT NULL AND "gtin"(i."code") = n."gtin"
      AND (i."source_name", i."source_id") <> (n."source_name", n."source_id"))))
RETURNING g."number" AS "id"`;

/** Foods without an id of a source, such as those of a dump, become foods of the source by barcode. */
const adoptSql = (condition: string) => `
UPDATE "ingredient" i SET "source_name" = a."source_name", "source_id" = a."source_id" FROM (
  SELECT DISTINCT ON (g."source_name", g."source_id") g."source_name", g."source_id", o."id" FROM "given_food" g
    JOIN "ingredient" o ON ${condition} AND o."source_id" IS NULL AND o."status" = '${ACCEPTED_STATUS}' AND NOT o."is_retired"
    WHERE NOT EXISTS (SELECT FROM "ingredient" k WHERE k."source_name" = g."source_name" AND k."source_id" = g."source_id")
    ORDER BY g."source_name", g."source_id", o."id") a
  WHERE i."id" = a."id"`;
const ADOPT_BY_BARCODE_SQL = adoptSql('"gtin"(o."code") = "gtin"(g."code")');

/** Foods of an export that the catalogue has, too, such as those with which both began. */
const ADOPT_BY_NAME_SQL = adoptSql(
  `o."name_folded" = search_fold(g."name") AND o."language_id" = g."language_id" AND o."energy" = g."energy"
    AND o."protein" = g."protein" AND coalesce(o."code", '') = coalesce(g."code", '')`,
);

const FORGET_REFUSALS_SQL = `
DELETE FROM "refused_food" r USING "given_food" g WHERE r."source_name" = g."source_name" AND r."source_id" = g."source_id"`;

const SAME_FOOD_SQL = `i."source_name" = g."source_name" AND i."source_id" = g."source_id"`;
const DELETE_UNCHANGED_SQL = `
DELETE FROM "given_food" g USING "ingredient" i WHERE ${SAME_FOOD_SQL} AND ${rowSql('i')} IS NOT DISTINCT FROM ${rowSql('g')}`;
const DELETE_EDITED_SQL = `
DELETE FROM "given_food" g USING "ingredient" i WHERE ${SAME_FOOD_SQL} AND i."edited_at" IS NOT NULL RETURNING g."source_id" AS "id"`;

const WRITE_SQL = `
WITH written AS (
  INSERT INTO "ingredient" (${names.join(', ')}, "status", "creation_date", "update_date", "last_imported")
    SELECT ${names.join(', ')}, '${ACCEPTED_STATUS}', current_date, current_date, now() FROM "given_food"
    ON CONFLICT ("source_name", "source_id") WHERE "source_id" IS NOT NULL DO UPDATE
      SET ${[...changingNames, '"update_date"', '"last_imported"'].map((name) => `${name} = excluded.${name}`).join(', ')}
    RETURNING xmax = 0 AS "isNew"
)
SELECT count(*) FILTER (WHERE "isNew")::int AS "created", count(*) FILTER (WHERE NOT "isNew")::int AS "updated" FROM written`;

const INSERT_UNITS_SQL = `
INSERT INTO "household_unit" ("name", "language_id") SELECT DISTINCT p."unit", p."language_id" FROM "given_portion" p
  WHERE NOT EXISTS (SELECT FROM "household_unit" u WHERE lower(u."name") = lower(p."unit") AND u."language_id" = p."language_id")`;

/** The portions with the ids of their ingredients and units. */
const PORTIONS_SQL = `
SELECT DISTINCT ON ("ingredient_id", "unit_id", "amount") i."id" AS "ingredient_id", i."edited_at",
    (SELECT min(u."id") FROM "household_unit" u WHERE lower(u."name") = lower(p."unit") AND u."language_id" = p."language_id") AS "unit_id", p."amount", p."gram"
  FROM "given_portion" p JOIN "ingredient" i ON i."source_name" = p."source_name" AND i."source_id" = p."source_id"
  ORDER BY "ingredient_id", "unit_id", "amount", p.ctid`;
const SAME_PORTION_SQL =
  'k."ingredient_id" = p."ingredient_id" AND k."unit_id" = p."unit_id" AND k."amount" = p."amount"';
const UPDATE_PORTIONS_SQL = `
UPDATE "ingredient_unit" k SET "gram" = p."gram" FROM (${PORTIONS_SQL}) p
  WHERE ${SAME_PORTION_SQL} AND k."gram" <> p."gram" AND p."edited_at" IS NULL`;
const INSERT_PORTIONS_SQL = `
INSERT INTO "ingredient_unit" ("ingredient_id", "unit_id", "amount", "gram") SELECT p."ingredient_id", p."unit_id", p."amount", p."gram"
  FROM (${PORTIONS_SQL}) p WHERE p."edited_at" IS NULL AND NOT EXISTS (SELECT FROM "ingredient_unit" k WHERE ${SAME_PORTION_SQL})`;

const RECORD_REFUSALS_SQL = `
WITH seen AS (INSERT INTO "seen_food" SELECT DISTINCT "source_name", "source_id" FROM "given_refusal" ON CONFLICT DO NOTHING)
INSERT INTO "refused_food" ("source_name", "source_id", "gtin", "name", "reason", "refused_at")
  SELECT DISTINCT ON ("source_name", "source_id") "source_name", "source_id", "gtin"("code"), "name", "reason", now() FROM "given_refusal"
    ORDER BY "source_name", "source_id", ctid
  ON CONFLICT ("source_name", "source_id") DO UPDATE SET "gtin" = excluded."gtin", "name" = excluded."name", "reason" = excluded."reason",
    "refused_at" = excluded."refused_at"
    WHERE ("refused_food"."gtin", "refused_food"."name", "refused_food"."reason") IS DISTINCT FROM (excluded."gtin", excluded."name", excluded."reason")`;

const give = (client: Client, table: string, rows: readonly object[]) =>
  client.query(
    `INSERT INTO "${table}" SELECT * FROM json_populate_recordset(NULL::"${table}", $1) ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  );

/** Repeats what a dry run has rolled back, so that it finds duplicates and what is gone. */
export const markAsSeen = (
  client: Client,
  foods: readonly SourceFood[],
  defaults: FoodDefaults,
): Promise<unknown> =>
  give(
    client,
    'seen_food',
    foods.map((food) => identityOf(food, defaults)),
  );

async function findOrCreateLicenses(
  client: Client,
  licenses: readonly SourceLicense[],
): Promise<Map<string, number>> {
  const ids = new Map<string, number>();

  const query = async (text: string, values: unknown[]) => (await client.query(text, values)).rows;

  for (const license of licenses) {
    if (!ids.has(license.shortName)) {
      ids.set(license.shortName, await findOrCreateLicense(query, license));
    }
  }

  return ids;
}

/** Writes foods in the current transaction. The session must have the tables of a batch. */
export async function writeFoods(
  client: Client,
  foods: readonly NumberedFood[],
  refusals: readonly Refusal[],
  commonDefaults: FoodDefaults,
): Promise<BatchResult> {
  const licenses = [commonDefaults.license, ...foods.flatMap(({ license }) => license ?? [])];
  const defaults = { ...commonDefaults, licenseIds: await findOrCreateLicenses(client, licenses) };
  const idsOf = async <T>(text: string) => (await client.query(text)).rows.map(({ id }) => id as T);

  // Autovacuum leaves a locked table alone. During an import it would take a third of the time, and
  // the import itself ends with VACUUM. Reads and other writes do not wait for this lock.
  await client.query('LOCK TABLE "ingredient" IN SHARE UPDATE EXCLUSIVE MODE');
  await client.query("SET LOCAL fitgraph.catalogue_import = 'on'");
  await give(
    client,
    'given_food',
    foods.map((food) => foodRow(food, defaults)),
  );
  const duplicateNumbers = new Set(await idsOf<number>(DELETE_DUPLICATES_SQL));
  const portions = foods
    .filter(({ number }) => !duplicateNumbers.has(number))
    .flatMap((food) => portionRows(food, defaults));

  await client.query(FORGET_REFUSALS_SQL);
  await client.query(ADOPT_BY_BARCODE_SQL);

  if (foods.some(({ sourceName }) => sourceName !== undefined)) {
    await client.query(ADOPT_BY_NAME_SQL);
  }

  const unchanged = (await client.query(DELETE_UNCHANGED_SQL)).rowCount!;
  const kept = await idsOf<string>(DELETE_EDITED_SQL);
  const { rows } = await client.query(WRITE_SQL);

  if (portions.length) {
    await give(client, 'given_portion', portions);
    await client.query(INSERT_UNITS_SQL);
    await client.query(UPDATE_PORTIONS_SQL);
    await client.query(INSERT_PORTIONS_SQL);
  }

  const refused = refusals.flatMap(({ food, reason }) => {
    if (!food) return [];
    const name = truncate(food.name, MAX_CHARACTERS.name);

    return [{ ...identityOf(food, defaults), code: food.code, name, reason }];
  });

  if (refused.length) {
    await give(client, 'given_refusal', refused);
    await client.query(RECORD_REFUSALS_SQL);
  }

  return {
    ...(rows[0] as { created: number; updated: number }),
    unchanged,
    kept,
    duplicates: foods.filter(({ number }) => duplicateNumbers.has(number)),
  };
}
