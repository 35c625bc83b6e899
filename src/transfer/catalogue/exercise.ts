/** An exercise as its source describes it. The lines of an export have this form, too. */
import { hasFields, isListOf, isName, isOptional, isText, isUuid, type Checked } from './checks';
import { isLicense } from './licenses';

/** Source of rows that were not imported from another one. */
export const OWN_SOURCE = 'Fitgraph';

const isTranslation = hasFields({
  uuid: isOptional(isUuid),

  /** Code of the language. */
  language: isText(2),
  name: isText(200),

  /** HTML. */
  description: isText(2_000),
  aliases: isListOf(isText(200)),
  comments: isListOf(isText(10_000)),

  /** Of an export; otherwise those of the exercise. */
  license: isOptional(isLicense),
  author: isOptional(isText(200)),
});

export type SourceTranslation = Checked<typeof isTranslation>;

export const isExercise = hasFields({
  source: isText(200),
  sourceId: isText(200),
  uuid: isOptional(isUuid),
  category: isName(100),
  muscles: isListOf(isName(50)),
  secondaryMuscles: isListOf(isName(50)),
  equipment: isListOf(isName(50)),
  license: isLicense,
  author: isOptional(isText(200)),

  /** Exercises with the same text are variations of each other. */
  variation: isOptional(isText(200)),
  translations: isListOf(isTranslation),

  /** URLs, the main image first. */
  images: isListOf(isText(Infinity)),
});

export type SourceExercise = Checked<typeof isExercise>;

/** SQL: the licence of a row, as a `SourceLicense`. */
export const licenseSql = (alias: string) =>
  `(SELECT json_build_object('shortName', l."short_name", 'fullName', l."full_name", 'url', l."url") FROM "license" l WHERE l."id" = ${alias}."license_id")`;
export const languageSql = (alias: string) =>
  `(SELECT l."short_name" FROM "language" l WHERE l."id" = ${alias}."language_id")`;

const namesSql = (table: string, link: string, column: string, condition = 'true') =>
  `ARRAY(SELECT n."name" FROM "${link}" k JOIN "${table}" n ON n."id" = k."${column}" WHERE k."exercise_base_id" = b."id" AND ${condition} ORDER BY n."name" COLLATE "C")`;

/** SQL: exercise `b` as a `SourceExercise` without images, with the translations `e` that are included. */
export const exerciseSql = (isIncludedSql: string) => `
  json_strip_nulls(json_build_object(
    'source', coalesce(b."source_name", '${OWN_SOURCE}'), 'sourceId', coalesce(b."source_id", b."uuid"::text), 'uuid', b."uuid",
    'category', (SELECT c."name" FROM "exercise_category" c WHERE c."id" = b."category_id"),
    'muscles', ${namesSql('muscle', 'exercise_base_muscle', 'muscle_id', 'NOT k."is_secondary"')},
    'secondaryMuscles', ${namesSql('muscle', 'exercise_base_muscle', 'muscle_id', 'k."is_secondary"')},
    'equipment', ${namesSql('equipment', 'exercise_base_equipment', 'equipment_id')},
    'license', ${licenseSql('b')}, 'author', b."license_author", 'variation', b."variation_id"::text,
    'translations', coalesce((SELECT json_agg(json_build_object('uuid', e."uuid", 'language', ${languageSql('e')}, 'name', e."name", 'description', e."description",
        'aliases', array_remove(string_to_array(e."aliases", E'\\n'), ''), 'license', ${licenseSql('e')}, 'author', e."license_author",
        'comments', ARRAY(SELECT c."comment" FROM "exercise_comment" c WHERE c."exercise_id" = e."id" ORDER BY c."id")) ORDER BY e."id")
      FROM "exercise" e WHERE e."exercise_base_id" = b."id" AND ${isIncludedSql}), '[]')))`;
