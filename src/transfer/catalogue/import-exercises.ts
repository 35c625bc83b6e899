/**
 * Imports exercises in one transaction: what is new is created, what has changed at its source is
 * updated, and what the catalogue has from elsewhere is completed.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from 'pg';
import type { Database } from '../../database/connection';
import { inTransaction } from '../../database/transaction';
import { ACCEPTED_STATUS } from '../../fitness/catalogue/review-status';
import { failImport } from '../dump';
import { importExclusively } from './exclusive';
import { exerciseSql, OWN_SOURCE, type SourceExercise, type SourceTranslation } from './exercise';
import { CREATE_LICENSES_SQL, licenseIdSql } from './licenses';
import { createTerms, matchTerms, translatorOf, type Match } from './vocabulary';

/** From this similarity (pg_trgm) on, two names in one language mean the same exercise. */
const MIN_SIMILARITY = 0.85;

/** How an exercise is found in the catalogue. */
type FoundBy = 'source' | 'uuid' | 'name' | 'likeness';

/** The surest ways first. */
const FOUND_BY: readonly (readonly FoundBy[])[] = [['source'], ['uuid'], ['name', 'likeness']];

export interface ExerciseImportPlan {
  terms: Match[];
  exercises: {
    exercise: SourceExercise;
    id?: number;
    foundBy?: FoundBy;
    nameInCatalogue?: string;
  }[];
}

export interface ImportedExercise {
  exercise: SourceExercise;

  /** In the catalogue. */
  id: number;
}

/** SQL: the exercises of a JSON array (`$1`) of `rowOf`. */
const GIVEN_SQL = `json_to_recordset($1) AS g("id" integer, "isOwn" boolean, "uuid" uuid, "source" text, "sourceId" text, "category" text, "muscles" text[],
  "secondaryMuscles" text[], "equipment" text[], "license" json, "author" text, "variation" text, "translations" json)`;
const TRANSLATIONS_SQL = `json_to_recordset(g."translations") AS t("uuid" uuid, "language" text, "name" text, "description" text,
  "aliases" text[], "comments" text[], "license" json, "author" text)`;

/** Exercises that one source keeps apart are not the same, however similar their names are. */
const FIND_SQL = `
SELECT g."uuid", f."id", f."foundBy", b."name" AS "nameInCatalogue" FROM ${GIVEN_SQL} CROSS JOIN LATERAL (
  SELECT "id", 'source' AS "foundBy", 1 AS "rank", 1::real AS "likeness" FROM "exercise_base" WHERE "source_name" = g."source" AND "source_id" = g."sourceId"
  UNION ALL SELECT "id", 'uuid', 2, 1 FROM "exercise_base" WHERE "uuid" = g."uuid"
  UNION ALL SELECT e."exercise_base_id", 'uuid', 2, 1 FROM ${TRANSLATIONS_SQL} JOIN "exercise" e ON e."uuid" = t."uuid"
  UNION ALL SELECT e."exercise_base_id", CASE WHEN e."name_folded" = n."folded" THEN 'name' ELSE 'likeness' END, 3, search_likeness(e."name_folded", n."folded")
    FROM (SELECT search_fold(t."name") AS "folded", t."language" FROM ${TRANSLATIONS_SQL} OFFSET 0) n
      JOIN "language" l ON l."short_name" = n."language" JOIN "exercise" e ON e."language_id" = l."id"
      JOIN "exercise_base" o ON o."id" = e."exercise_base_id" AND o."status" = '${ACCEPTED_STATUS}' AND o."merged_into_id" IS NULL
        AND (o."source_name" IS DISTINCT FROM g."source" OR g."source" = '${OWN_SOURCE}')
    WHERE search_likeness(e."name_folded", n."folded") >= ${MIN_SIMILARITY}
  ORDER BY "rank", "likeness" DESC, "id" LIMIT 1
) f JOIN "exercise_base" b ON b."id" = f."id"`;

/** The exercises are locked first, so that the states are those after concurrent edits. */
const LOCK_SQL = `SELECT FROM "exercise_base" WHERE "id" = ANY($1) ORDER BY "id" FOR NO KEY UPDATE`;
const STATES_SQL = `
SELECT b."id", b."edited_at" IS NOT NULL AS "isEdited", ${exerciseSql('true')} AS "stored"
  FROM "exercise_base" b WHERE b."id" = ANY($1)`;

const TRANSLATION_ROWS_SQL = `(
  SELECT g."id" AS "exerciseId", g."isOwn", t."uuid", t."name", t."description", array_to_string(t."aliases", E'\\n') AS "aliases", t."comments", t."author",
      ${licenseIdSql(`t."license" ->> 'shortName'`)} AS "licenseId", (SELECT min(l."id") FROM "language" l WHERE l."short_name" = t."language") AS "languageId"
    FROM ${GIVEN_SQL}, ${TRANSLATIONS_SQL}) t`;
const TRANSLATION_COLUMNS =
  '"name", "description", "aliases", "language_id", "license_id", "license_author"';
const TRANSLATION_VALUES =
  't."name", t."description", t."aliases", t."languageId", t."licenseId", t."author"';
const SAME_TRANSLATION_SQL = 'e."exercise_base_id" = t."exerciseId" AND e."uuid" = t."uuid"';

/**
 * Statements that write the exercises of a JSON array (`$1`). Of exercises from elsewhere, they write
 * new translations, and the descriptions and aliases of others.
 */
const WRITE_SQL = [
  `INSERT INTO "exercise_base" ("id", "uuid", "source_name", "source_id", "category_id", "license_id", "license_author", "variation_id", "status")
    SELECT g."id", g."uuid", g."source", g."sourceId", (SELECT min(c."id") FROM "exercise_category" c WHERE c."name" = g."category"),
        ${licenseIdSql(`g."license" ->> 'shortName'`)}, g."author", g."variation"::integer, '${ACCEPTED_STATUS}' FROM ${GIVEN_SQL} WHERE g."isOwn"
    ON CONFLICT ("id") DO UPDATE SET ("category_id", "license_id", "license_author", "variation_id")
      = ROW(excluded."category_id", excluded."license_id", excluded."license_author", excluded."variation_id")`,
  `DELETE FROM "exercise_base_muscle" k USING ${GIVEN_SQL} WHERE k."exercise_base_id" = g."id" AND g."isOwn"`,
  `INSERT INTO "exercise_base_muscle" ("exercise_base_id", "muscle_id", "is_secondary")
    SELECT g."id", (SELECT min(m."id") FROM "muscle" m WHERE m."name" = n."name"), n."isSecondary" FROM ${GIVEN_SQL} CROSS JOIN LATERAL (
      SELECT unnest(g."muscles"), false UNION ALL SELECT unnest(g."secondaryMuscles"), true) n("name", "isSecondary") WHERE g."isOwn"`,
  `DELETE FROM "exercise_base_equipment" k USING ${GIVEN_SQL} WHERE k."exercise_base_id" = g."id" AND g."isOwn"`,
  `INSERT INTO "exercise_base_equipment" ("exercise_base_id", "equipment_id")
    SELECT g."id", (SELECT min(q."id") FROM "equipment" q WHERE q."name" = n) FROM ${GIVEN_SQL}, unnest(g."equipment") n WHERE g."isOwn"`,
  `UPDATE "exercise" e SET (${TRANSLATION_COLUMNS}) = ROW(${TRANSLATION_VALUES}) FROM ${TRANSLATION_ROWS_SQL}
    WHERE ${SAME_TRANSLATION_SQL} AND t."isOwn" AND (${TRANSLATION_VALUES}) IS DISTINCT FROM (e."name", e."description", e."aliases", e."language_id", e."license_id", e."license_author")`,
  `UPDATE "exercise" e SET "description" = t."description", "aliases" = t."aliases" FROM ${TRANSLATION_ROWS_SQL}
    WHERE ${SAME_TRANSLATION_SQL} AND NOT t."isOwn" AND (t."description", t."aliases") IS DISTINCT FROM (e."description", e."aliases")`,
  `INSERT INTO "exercise" ("exercise_base_id", "uuid", "name_original", "creation_date", "status", ${TRANSLATION_COLUMNS})
    SELECT t."exerciseId", t."uuid", t."name", current_date, '${ACCEPTED_STATUS}', ${TRANSLATION_VALUES} FROM ${TRANSLATION_ROWS_SQL}
      WHERE NOT EXISTS (SELECT FROM "exercise" e WHERE ${SAME_TRANSLATION_SQL})`,
  `DELETE FROM "exercise_comment" c USING ${TRANSLATION_ROWS_SQL} JOIN "exercise" e ON ${SAME_TRANSLATION_SQL}
    WHERE c."exercise_id" = e."id" AND t."isOwn" AND t."comments" <> ARRAY(SELECT k."comment"::text FROM "exercise_comment" k WHERE k."exercise_id" = e."id" ORDER BY k."id")`,
  `INSERT INTO "exercise_comment" ("exercise_id", "comment")
    SELECT e."id", n."comment" FROM ${TRANSLATION_ROWS_SQL} JOIN "exercise" e ON ${SAME_TRANSLATION_SQL}
        CROSS JOIN LATERAL unnest(t."comments") WITH ORDINALITY n("comment", "place")
      WHERE NOT EXISTS (SELECT FROM "exercise_comment" k WHERE k."exercise_id" = e."id") ORDER BY e."id", n."place"`,
];

/** What is compared and written of an exercise: all but images, and texts of licences. */
const ROW_KEYS = [
  ...[
    'id',
    'isOwn',
    'uuid',
    'source',
    'sourceId',
    'category',
    'muscles',
    'secondaryMuscles',
    'equipment',
  ],
  ...['license', 'shortName', 'author', 'variation', 'translations'],
  ...['language', 'name', 'description', 'aliases', 'comments'],
];

const rowOf = (exercise: SourceExercise): object => JSON.parse(JSON.stringify(exercise, ROW_KEYS));

const MAX_ALIASES_CHARACTERS = 1_000;
const MAX_AUTHOR_CHARACTERS = 50;
const MAX_COMMENT_CHARACTERS = 200;

/** Aliases that fit into their column, which has one a line. */
function fittingAliases(aliases: readonly string[]): string[] {
  let text = '';

  for (const alias of aliases.join('\n').split('\n')) {
    const longer = text ? `${text}\n${alias}` : alias;

    if (longer.length <= MAX_ALIASES_CHARACTERS) text = longer;
  }

  return text.split('\n').filter(Boolean);
}

const truncate = (text: string | undefined, length: number): string | undefined =>
  text && [...text].slice(0, length).join('');

/** The exercise with the names of the catalogue, and with texts that fit. */
function storable(
  exercise: SourceExercise,
  translate: ReturnType<typeof translatorOf>,
): SourceExercise {
  const author = truncate(exercise.author, MAX_AUTHOR_CHARACTERS);
  const muscles = translate('muscle', exercise.muscles);

  return {
    source: exercise.source,
    sourceId: exercise.sourceId,
    license: exercise.license,
    variation: exercise.variation,
    images: exercise.images,
    uuid: exercise.uuid ?? randomUUID(),
    category: translate('category', [exercise.category])[0]!,
    muscles,
    secondaryMuscles: translate('muscle', exercise.secondaryMuscles).filter(
      (name) => !muscles.includes(name),
    ),
    equipment: translate('equipment', exercise.equipment),
    author,
    translations: exercise.translations.map((translation) => ({
      language: translation.language,
      name: translation.name,
      description: translation.description,
      license: translation.license ?? exercise.license,
      uuid: translation.uuid ?? randomUUID(),
      author: truncate(translation.author, MAX_AUTHOR_CHARACTERS) ?? author,
      aliases: fittingAliases(translation.aliases),
      comments: translation.comments
        .filter(Boolean)
        .map((comment) => truncate(comment, MAX_COMMENT_CHARACTERS)!),
    })),
  };
}

/** Finds out what an import would do, without writing. */
async function planImport(
  client: Client,
  given: readonly SourceExercise[],
  mapping: readonly string[],
): Promise<ExerciseImportPlan> {
  const { rows: languages } = await client.query('SELECT "short_name" AS "code" FROM "language"');
  const codes = new Set(languages.map(({ code }) => code as string));

  if (!codes.size) {
    failImport('The database has no languages. An empty one gets them by `fitgraph seed`.');
  }

  const named = given
    .map((exercise) => ({
      ...exercise,
      translations: exercise.translations.filter(
        ({ language, name }) => codes.has(language) && name.trim() !== '',
      ),
    }))
    .filter(({ translations }) => translations.length);
  const terms = await matchTerms(client, named, mapping);
  const translate = translatorOf(terms);
  const exercises = named.map((exercise) => storable(exercise, translate));
  const { rows } = await client.query(FIND_SQL, [JSON.stringify(exercises.map(rowOf))]);
  const found = new Map(rows.map(({ uuid, ...row }) => [uuid as string, row]));
  // An exercise of the catalogue is completed by at most one of the source.
  const owners = new Map<number, SourceExercise>();

  for (const ways of FOUND_BY) {
    for (const exercise of exercises) {
      const row = found.get(exercise.uuid!);

      if (row && ways.includes(row.foundBy) && !owners.has(row.id)) owners.set(row.id, exercise);
    }
  }

  const plan = (exercise: SourceExercise) => {
    const row = found.get(exercise.uuid!);

    return row && owners.get(row.id) === exercise ? { exercise, ...row } : { exercise };
  };

  return { terms, exercises: exercises.map(plan) };
}

/** Updates a translation of this source; completes one from elsewhere, with its name as an alias. */
function mergeTranslation(
  stored: SourceTranslation,
  given: SourceTranslation,
  isOwn: boolean,
): SourceTranslation {
  if (isOwn) return { ...given, uuid: stored.uuid };
  const known = [stored.name, ...stored.aliases].map((name) => name.toLowerCase());
  const others = [given.name, ...given.aliases].filter(
    (name) => !known.includes(name.toLowerCase()),
  );

  return {
    ...stored,
    description: stored.description || given.description,
    aliases: fittingAliases([...stored.aliases, ...others]),
  };
}

/** Updates an exercise of this source; completes one from elsewhere with translations. */
function merge(stored: SourceExercise, given: SourceExercise, isOwn: boolean): SourceExercise {
  const uuids = given.translations.map(({ uuid }) => uuid);
  const translations = [...stored.translations];

  for (const translation of given.translations) {
    const same =
      translations.find(({ uuid }) => uuid === translation.uuid) ??
      translations.find(
        ({ uuid, language }) => language === translation.language && !uuids.includes(uuid),
      );

    if (!same) translations.push(translation);
    else {
      translations[translations.indexOf(same)] = mergeTranslation(same, translation, isOwn);
    }
  }

  return { ...(isOwn ? given : stored), uuid: stored.uuid, translations };
}

async function writeExercises(client: Client, { terms, exercises }: ExerciseImportPlan) {
  const report = {
    created: 0,
    updated: 0,
    unchanged: 0,
    imported: [] as ImportedExercise[],

    /** Names of exercises that a person has edited here and that differ from the source. */
    kept: [] as string[],
  };
  const written: (SourceExercise & { id: number; isOwn: boolean })[] = [];
  const newId = async (sql: string): Promise<number> => (await client.query(sql)).rows[0].id;

  await client.query("SET LOCAL fitgraph.catalogue_import = 'on'");
  const ids = exercises.flatMap(({ id }) => id ?? []);

  await client.query(LOCK_SQL, [ids]);
  const { rows } = await client.query(STATES_SQL, [ids]);
  const states = new Map(
    (rows as { id: number; isEdited: boolean; stored: SourceExercise }[]).map((state) => [
      state.id,
      state,
    ]),
  );

  /** Groups of variations by their names at the source. */
  const groups = new Map<string | undefined, string>();

  // New variations of an exercise join its group.
  for (const { exercise, id } of exercises) {
    const group = states.get(id!)?.stored.variation;

    if (exercise.variation !== undefined && group !== undefined) {
      groups.set(exercise.variation, group);
    }
  }

  for (const { exercise, id, foundBy } of exercises) {
    const { isEdited = false, stored } = states.get(id!) ?? {};
    const isOwn = !stored || foundBy === 'source';
    const { variation } = exercise;

    if (isOwn && !isEdited && variation !== undefined && !groups.has(variation)) {
      groups.set(
        variation,
        String(await newId('INSERT INTO "variation" DEFAULT VALUES RETURNING "id"')),
      );
    }

    const given = { ...exercise, variation: groups.get(variation) };
    const merged = stored ? merge(stored, given, isOwn) : given;
    const exerciseId =
      id ??
      (await newId(`SELECT nextval(pg_get_serial_sequence('exercise_base', 'id'))::int AS "id"`));

    report.imported.push({ exercise, id: exerciseId });

    if (stored && isDeepStrictEqual(rowOf(merged), rowOf(stored))) report.unchanged += 1;
    else if (isOwn && isEdited) report.kept.push(exercise.translations[0]!.name);
    else {
      report[stored ? 'updated' : 'created'] += 1;
      written.push({ ...merged, id: exerciseId, isOwn });
    }
  }

  await createTerms(client, terms);
  await client.query(CREATE_LICENSES_SQL, [
    JSON.stringify(
      written.flatMap(({ license, translations }) => [
        license,
        ...translations.map((translation) => translation.license),
      ]),
    ),
  ]);
  const json = JSON.stringify(written.map(rowOf));

  for (const sql of WRITE_SQL) await client.query(sql, [json]);

  return report;
}

/**
 * Imports exercises, all or none. `mapping` names rows of the catalogue for names of the source, as
 * `neck=Trapezius`. `confirm` is shown what the import would do; unless it returns true, nothing is
 * written, and the result is undefined.
 */
export const importExercises = (
  exercises: readonly SourceExercise[],
  database: Database,
  mapping: readonly string[],
  confirm: (plan: ExerciseImportPlan) => Promise<boolean>,
) =>
  importExclusively(database, async (client) => {
    const plan = await planImport(client, exercises, mapping);

    if (!(await confirm(plan))) return undefined;

    return inTransaction(client, () => writeExercises(client, plan));
  });
