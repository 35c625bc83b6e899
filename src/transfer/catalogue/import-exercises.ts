/**
 * Imports exercises in one transaction: what is new is created, what has changed at its source is
 * updated, and what the catalogue has from elsewhere is completed.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { Database } from '../../database/connection';
import { inTransaction } from '../../database/transaction';
import { ACCEPTED_STATUS } from '../../fitness/catalogue/review-status';
import { importExclusively } from './exclusive';
import type { SourceExercise, SourceTranslation } from './exercise';
import { truncate } from './food-batch';
import { findOrCreateLicense } from './licenses';
import { createTerms, matchTerms, type Match, type Term } from './vocabulary';

/** From this similarity (pg_trgm) on, two names in one language mean the same exercise. */
const MIN_SIMILARITY = 0.85;

/** How an exercise is found in the catalogue. */
export type FoundBy = 'source' | 'uuid' | 'name' | 'likeness';

export interface PlannedExercise {
  exercise: SourceExercise;
  id?: number;
  foundBy?: FoundBy;
  nameInCatalogue?: string;
  isEdited: boolean;
}

export interface ExerciseImportPlan {
  terms: Match[];
  exercises: PlannedExercise[];
}

export interface ImportedExercise {
  exercise: SourceExercise;

  /** In the catalogue. */
  id: number;
}

export interface ExerciseImportReport {
  created: number;
  updated: number;
  unchanged: number;

  imported: ImportedExercise[];

  /** Names of exercises that a person has edited here and that differ from the source. */
  kept: string[];
}

const FIND_SQL = `
SELECT b."id", f."foundBy", b."name" AS "nameInCatalogue", b."edited_at" IS NOT NULL AS "isEdited" FROM (
  SELECT "id", 'source' AS "foundBy", 1 AS "rank", 1::real AS "likeness" FROM "exercise_base" WHERE "source_name" = $1 AND "source_id" = $2
  UNION ALL SELECT "id", 'uuid', 2, 1 FROM "exercise_base" WHERE "uuid" = $3
  UNION ALL SELECT "exercise_base_id", 'uuid', 2, 1 FROM "exercise" WHERE "uuid" = ANY($4)
  UNION ALL SELECT e."exercise_base_id", CASE WHEN e."name_folded" = n."folded" THEN 'name' ELSE 'likeness' END, 3, search_likeness(e."name_folded", n."folded")
    FROM (SELECT search_fold("name") AS "folded", "language" FROM unnest($5::text[], $6::text[]) AS g("name", "language")) n
      JOIN "language" l ON l."short_name" = n."language" JOIN "exercise" e ON e."language_id" = l."id"
      JOIN "exercise_base" o ON o."id" = e."exercise_base_id" AND o."status" = '${ACCEPTED_STATUS}' AND o."merged_into_id" IS NULL
    WHERE search_likeness(e."name_folded", n."folded") >= ${MIN_SIMILARITY}
) f JOIN "exercise_base" b ON b."id" = f."id" ORDER BY f."rank", f."likeness" DESC, b."id" LIMIT 1`;

const STATE_SQL = `
SELECT b."category_id" AS "categoryId", b."license_id" AS "licenseId", b."license_author" AS "author", b."variation_id" AS "variationId",
    ARRAY(SELECT m."muscle_id" FROM "exercise_base_muscle" m WHERE m."exercise_base_id" = b."id" AND NOT m."is_secondary" ORDER BY 1) AS "muscles",
    ARRAY(SELECT m."muscle_id" FROM "exercise_base_muscle" m WHERE m."exercise_base_id" = b."id" AND m."is_secondary" ORDER BY 1) AS "secondaryMuscles",
    ARRAY(SELECT q."equipment_id" FROM "exercise_base_equipment" q WHERE q."exercise_base_id" = b."id" ORDER BY 1) AS "equipment",
    (SELECT json_agg(json_build_object('id', e."id", 'uuid', e."uuid", 'language', l."short_name", 'name', e."name", 'description', e."description", 'aliases', e."aliases",
        'comments', ARRAY(SELECT c."comment" FROM "exercise_comment" c WHERE c."exercise_id" = e."id" ORDER BY c."id")) ORDER BY e."id")
      FROM "exercise" e JOIN "language" l ON l."id" = e."language_id" WHERE e."exercise_base_id" = b."id") AS "translations"
  FROM "exercise_base" b WHERE b."id" = $1 FOR NO KEY UPDATE`;

interface StoredTranslation extends Omit<SourceTranslation, 'aliases'> {
  id: number;

  /** One name a line. */
  aliases: string;
}

/** Ids of rows of the catalogue. */
interface Links {
  muscles: number[];
  secondaryMuscles: number[];
  equipment: number[];
}

interface State extends Links {
  categoryId: number;
  licenseId: number;
  author: string | null;
  variationId: number | null;
  translations: StoredTranslation[] | null;
}

const MAX_ALIASES_CHARACTERS = 1_000;

/** One name a line. Those that do not fit are left out. */
const joinAliases = (names: readonly string[]): string =>
  names.reduce((text, name) => {
    const longer = text ? `${text}\n${name}` : name;

    return longer.length > MAX_ALIASES_CHARACTERS ? text : longer;
  }, '');

const MAX_AUTHOR_CHARACTERS = 50;
const MAX_COMMENT_CHARACTERS = 200;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The exercise as the catalogue can store it: in its languages, with texts that fit. */
const storable = (exercise: SourceExercise, languages: ReadonlySet<string>): SourceExercise => ({
  ...exercise,
  author: truncate(exercise.author, MAX_AUTHOR_CHARACTERS),
  translations: exercise.translations
    .filter(({ language }) => languages.has(language))
    .map((translation) => ({
      ...translation,
      author: truncate(translation.author ?? exercise.author, MAX_AUTHOR_CHARACTERS),
      license: translation.license ?? exercise.license,
      comments: translation.comments
        .filter(Boolean)
        .map((comment) => truncate(comment, MAX_COMMENT_CHARACTERS)!),
    })),
});

/** Finds out what an import would do, without writing. */
async function planImport(
  client: Client,
  given: readonly SourceExercise[],
  mapping: readonly string[],
): Promise<ExerciseImportPlan> {
  const { rows: languages } = await client.query('SELECT "short_name" AS "code" FROM "language"');
  const exercises = given
    .map((exercise) => storable(exercise, new Set(languages.map(({ code }) => code as string))))
    .filter(({ translations }) => translations.length);
  const planned: PlannedExercise[] = [];
  const taken = new Set<number>();

  for (const exercise of exercises) {
    const { source, sourceId, uuid, translations } = exercise;
    const { rows } = await client.query(FIND_SQL, [
      source,
      sourceId,
      uuid,
      translations.flatMap((translation) => translation.uuid ?? []),
      translations.map(({ name }) => name),
      translations.map(({ language }) => language),
    ]);

    const [found] = rows as Omit<PlannedExercise, 'exercise'>[];
    // An exercise of the catalogue is completed by at most one of the source.
    const isFound = found && (found.foundBy === 'source' || !taken.has(found.id!));

    if (isFound) taken.add(found.id!);
    planned.push({ isEdited: false, ...(isFound && found), exercise });
  }

  return { terms: await matchTerms(client, exercises, mapping), exercises: planned };
}

class ExerciseWriter {
  readonly report: ExerciseImportReport = {
    created: 0,
    updated: 0,
    unchanged: 0,
    imported: [],
    kept: [],
  };
  private readonly variationIds = new Map<string, number>();

  constructor(
    private readonly client: Client,
    private readonly idOf: (term: Term, name: string) => number,
  ) {}

  async writeAll(planned: readonly PlannedExercise[]): Promise<void> {
    const rows = await this.query<{ id: number; variationId: number }>(
      `SELECT "id", "variation_id" AS "variationId" FROM "exercise_base" WHERE "id" = ANY($1) AND "variation_id" IS NOT NULL`,
      [planned.flatMap(({ id }) => id ?? [])],
    );
    const variationIds = new Map(rows.map(({ id, variationId }) => [id, variationId]));

    // New variations of an exercise join its group.
    for (const { id, exercise } of planned) {
      const variationId = variationIds.get(id!);

      if (variationId && exercise.variation !== undefined) {
        this.variationIds.set(exercise.variation, variationId);
      }
    }

    for (const exercise of planned) await this.write(exercise);
  }

  private async write({ exercise, id, foundBy, isEdited }: PlannedExercise): Promise<void> {
    const { client, report } = this;
    const [state] = id === undefined ? [] : await this.query<State>(STATE_SQL, [id]);

    if (!state) {
      report.imported.push({ exercise, id: await this.create(exercise) });
      report.created += 1;
      return;
    }

    report.imported.push({ exercise, id: id! });
    const isOwn = foundBy === 'source';
    const isKept = isOwn && isEdited;

    if (isKept) await client.query('SAVEPOINT "kept"');
    const isChanged = await this.update(id!, exercise, state, isOwn);

    if (isKept) await client.query('ROLLBACK TO SAVEPOINT "kept"');
    if (isKept && isChanged) report.kept.push(exercise.translations[0]!.name);
    else if (isChanged) report.updated += 1;
    else report.unchanged += 1;
  }

  private readonly query = async <T = { id: number }>(
    text: string,
    values: unknown[],
  ): Promise<T[]> => (await this.client.query(text, values)).rows as T[];

  private linksOf({ muscles, secondaryMuscles, equipment }: SourceExercise): Links {
    const ids = (term: Term, names: readonly string[]) =>
      [...new Set(names.map((name) => this.idOf(term, name)))].sort((a, b) => a - b);
    const primary = ids('muscle', muscles);

    return {
      muscles: primary,
      secondaryMuscles: ids('muscle', secondaryMuscles).filter((id) => !primary.includes(id)),
      equipment: ids('equipment', equipment),
    };
  }

  private async variationId(name: string | undefined): Promise<number | null> {
    if (name === undefined) return null;

    if (!this.variationIds.has(name)) {
      const [row] = await this.query('INSERT INTO "variation" DEFAULT VALUES RETURNING "id"', []);

      this.variationIds.set(name, row!.id);
    }

    return this.variationIds.get(name)!;
  }

  private async create(exercise: SourceExercise): Promise<number> {
    const { uuid = randomUUID(), source, sourceId } = exercise;
    const [row] = await this.query(
      `INSERT INTO "exercise_base" ("uuid", "source_name", "source_id", "category_id", "status")
        VALUES ($1, $2, $3, $4, '${ACCEPTED_STATUS}') RETURNING "id"`,
      [uuid, source, sourceId, this.idOf('category', exercise.category)],
    );
    const [state] = await this.query<State>(STATE_SQL, [row!.id]);

    await this.update(row!.id, exercise, state!, true);
    return row!.id;
  }

  private async createTranslation(id: number, translation: SourceTranslation): Promise<void> {
    const {
      uuid = randomUUID(),
      language,
      name,
      description,
      aliases,
      license,
      author,
    } = translation;
    const [row] = await this.query(
      `INSERT INTO "exercise" ("uuid", "name", "name_original", "description", "aliases", "language_id", "license_id", "license_author", "exercise_base_id", "creation_date", "status")
        SELECT $1, $2, $2, $3, $4, min(l."id"), $5, $6, $7, current_date, '${ACCEPTED_STATUS}' FROM "language" l WHERE l."short_name" = $8 RETURNING "id"`,
      [
        uuid,
        name,
        description,
        joinAliases(aliases),
        await findOrCreateLicense(this.query, license!),
        author,
        id,
        language,
      ],
    );

    await this.writeComments(row!.id, translation.comments);
  }

  private async writeLinks(
    id: number,
    { muscles, secondaryMuscles, equipment }: Links,
  ): Promise<void> {
    await this.query('DELETE FROM "exercise_base_muscle" WHERE "exercise_base_id" = $1', [id]);
    await this.query('DELETE FROM "exercise_base_equipment" WHERE "exercise_base_id" = $1', [id]);
    await this.query(
      `INSERT INTO "exercise_base_muscle" ("exercise_base_id", "muscle_id", "is_secondary")
        SELECT $1::int, m, false FROM unnest($2::int[]) m UNION ALL SELECT $1, m, true FROM unnest($3::int[]) m`,
      [id, muscles, secondaryMuscles],
    );
    await this.query(
      'INSERT INTO "exercise_base_equipment" ("exercise_base_id", "equipment_id") SELECT $1, unnest($2::int[])',
      [id, equipment],
    );
  }

  private async writeComments(translationId: number, comments: readonly string[]): Promise<void> {
    await this.query('DELETE FROM "exercise_comment" WHERE "exercise_id" = $1', [translationId]);
    await this.query(
      'INSERT INTO "exercise_comment" ("exercise_id", "comment") SELECT $1, c FROM unnest($2::text[]) c',
      [translationId, comments],
    );
  }

  /**
   * Updates an exercise of this source; completes one from elsewhere with translations, and with
   * its name as an alias. Returns whether anything has changed.
   */
  private async update(
    id: number,
    exercise: SourceExercise,
    state: State,
    isOwn: boolean,
  ): Promise<boolean> {
    let isChanged = false;

    if (isOwn) isChanged = await this.updateExercise(id, exercise, state);
    const uuids = exercise.translations.map(({ uuid }) => uuid);

    for (const translation of exercise.translations) {
      const { uuid, language } = translation;
      const others = (state.translations ?? []).filter((row) => !uuids.includes(row.uuid));
      const stored =
        state.translations?.find((row) => row.uuid === uuid) ??
        others.find((row) => row.language === language);

      if (stored) {
        isChanged = (await this.updateTranslation(stored, translation, isOwn)) || isChanged;
      } else {
        await this.createTranslation(id, translation);
        isChanged = true;
      }
    }

    return isChanged;
  }

  private async updateExercise(
    id: number,
    exercise: SourceExercise,
    state: State,
  ): Promise<boolean> {
    const { muscles, secondaryMuscles, equipment } = state;
    const links = this.linksOf(exercise);
    const values = [
      this.idOf('category', exercise.category),
      await findOrCreateLicense(this.query, exercise.license),
      exercise.author ?? null,
      await this.variationId(exercise.variation),
    ];
    const stored = [state.categoryId, state.licenseId, state.author, state.variationId];
    const areLinksSame = isSame(links, { muscles, secondaryMuscles, equipment });

    if (!areLinksSame) await this.writeLinks(id, links);

    if (!isSame(values, stored)) {
      await this.query(
        'UPDATE "exercise_base" SET "category_id" = $2, "license_id" = $3, "license_author" = $4, "variation_id" = $5 WHERE "id" = $1',
        [id, ...values],
      );
    }

    return !areLinksSame || !isSame(values, stored);
  }

  private async updateTranslation(
    stored: StoredTranslation,
    translation: SourceTranslation,
    isOwn: boolean,
  ): Promise<boolean> {
    const known = [stored.name, ...stored.aliases.split('\n')];
    const others = [translation.name, ...translation.aliases].filter(
      (name) => !known.some((k) => k.toLowerCase() === name.toLowerCase()),
    );
    const next = isOwn
      ? {
          name: translation.name,
          description: translation.description,
          aliases: joinAliases(translation.aliases),
        }
      : {
          name: stored.name,
          description: stored.description || translation.description,
          aliases: joinAliases([...stored.aliases.split('\n').filter(Boolean), ...others]),
        };
    const hasNewComments = isOwn && !isSame(stored.comments, translation.comments);

    if (hasNewComments) await this.writeComments(stored.id, translation.comments);

    if (
      next.name === stored.name &&
      next.description === stored.description &&
      next.aliases === stored.aliases
    ) {
      return hasNewComments;
    }

    await this.query(
      'UPDATE "exercise" SET "name" = $2, "description" = $3, "aliases" = $4 WHERE "id" = $1',
      [stored.id, next.name, next.description, next.aliases],
    );

    return true;
  }
}

export interface ExerciseImportOptions {
  /** Rows of the catalogue for names of the source, as `neck=Trapezius`. */
  mapping: readonly string[];

  /** Shows what the import would do. The import continues if this returns true. */
  confirm(plan: ExerciseImportPlan): Promise<boolean>;
}

/** Imports exercises, all or none. Returns undefined if the import was not confirmed. */
export async function importExercises(
  exercises: readonly SourceExercise[],
  database: Database,
  { mapping, confirm }: ExerciseImportOptions,
): Promise<ExerciseImportReport | undefined> {
  return importExclusively(database, async (client) => {
    const plan = await planImport(client, exercises, mapping);

    if (!(await confirm(plan))) return undefined;

    return inTransaction(client, async () => {
      await client.query("SET LOCAL fitgraph.catalogue_import = 'on'");
      const writer = new ExerciseWriter(client, await createTerms(client, plan.terms));

      await writer.writeAll(plan.exercises);

      return writer.report;
    });
  });
}
