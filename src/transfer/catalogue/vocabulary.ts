/** Finds the muscles, equipment and categories of a source by their names. */
import type { Client } from 'pg';
import { upperFirst } from '../../engine/declare/inflection';
import type { SourceExercise } from './exercise';

/** Plain names of muscles and equipment that the catalogue calls otherwise. */
const SYNONYMS = new Map(
  Object.entries({
    abdominals: 'Rectus abdominis',
    abs: 'Rectus abdominis',
    biceps: 'Biceps brachii',
    'body only': 'none (bodyweight exercise)',
    calves: 'Gastrocnemius',
    chest: 'Pectoralis major',
    'e-z curl bar': 'SZ-Bar',
    'exercise ball': 'Swiss Ball',
    glutes: 'Gluteus maximus',
    hamstrings: 'Biceps femoris',
    kettlebells: 'Kettlebell',
    lats: 'Latissimus dorsi',
    'lower back': 'Erector spinae',
    obliques: 'Obliquus externus abdominis',
    quadriceps: 'Quadriceps femoris',
    quads: 'Quadriceps femoris',
    shoulders: 'Anterior deltoid',
    traps: 'Trapezius',
    triceps: 'Triceps brachii',
  }),
);

/** Tables of the terms. */
const TABLES = { muscle: 'muscle', equipment: 'equipment', category: 'exercise_category' };

type Term = keyof typeof TABLES;

const namesOf = (
  term: Term,
  { muscles, secondaryMuscles, equipment, category }: SourceExercise,
): string[] =>
  ({ muscle: [...muscles, ...secondaryMuscles], equipment, category: [category] })[term];

export interface Match {
  term: Term;

  /** Name at the source. */
  name: string;

  /** Name in the catalogue. */
  catalogueName: string;

  /** Whether the import creates the row. */
  isNew: boolean;
}

const fold = (text: string) => text.trim().toLowerCase();

/** `mapping` names rows of the catalogue, as `neck=Trapezius`. */
export async function matchTerms(
  client: Client,
  exercises: readonly SourceExercise[],
  mapping: readonly string[],
): Promise<Match[]> {
  const given = new Map(
    mapping.map((entry) => {
      const [name = '', catalogueName = ''] = entry.split(/=(.*)/s);

      return [fold(name), catalogueName];
    }),
  );
  const matches: Match[] = [];

  for (const term of Object.keys(TABLES) as Term[]) {
    const { rows } = await client.query(`SELECT "name" FROM "${TABLES[term]}" ORDER BY "id" DESC`);
    const catalogueNames = new Map<string, string>(rows.map(({ name }) => [fold(name), name]));

    for (const name of new Set(exercises.flatMap((exercise) => namesOf(term, exercise)))) {
      const synonym = term === 'category' ? undefined : SYNONYMS.get(fold(name));
      const wanted = given.get(fold(name)) ?? synonym ?? upperFirst(name);
      const catalogueName = catalogueNames.get(fold(wanted));

      matches.push({
        term,
        name,
        catalogueName: catalogueName ?? wanted,
        isNew: catalogueName === undefined,
      });
      if (catalogueName === undefined) catalogueNames.set(fold(wanted), wanted);
    }
  }

  return matches;
}

/** Returns a function that replaces names of the source by sorted ones of the catalogue. */
export function translatorOf(
  matches: readonly Match[],
): (term: Term, names: readonly string[]) => string[] {
  const catalogueNames = new Map(
    matches.map(({ term, name, catalogueName }) => [`${term} ${name}`, catalogueName]),
  );

  return (term, names) =>
    [...new Set(names.map((name) => catalogueNames.get(`${term} ${name}`)!))].sort();
}

/** Creates the missing rows. */
export async function createTerms(client: Client, matches: readonly Match[]): Promise<void> {
  for (const { term, catalogueName, isNew } of matches) {
    if (!isNew) continue;
    await client.query(
      `INSERT INTO "${TABLES[term]}" ("name") SELECT $1::varchar WHERE NOT EXISTS (SELECT FROM "${TABLES[term]}" WHERE "name" = $1)`,
      [catalogueName],
    );
  }
}
