/** Finds the muscles, equipment and categories of a source by their names. */
import type { Client } from 'pg';
import { upperFirst } from '../../engine/declare/inflection';
import type { SourceExercise } from './exercise';

/** Plain names of muscles and equipment that the catalogue calls otherwise. */
const MUSCLE_NAMES: Readonly<Record<string, string>> = {
  abdominals: 'Rectus abdominis',
  abs: 'Rectus abdominis',
  biceps: 'Biceps brachii',
  calves: 'Gastrocnemius',
  chest: 'Pectoralis major',
  glutes: 'Gluteus maximus',
  hamstrings: 'Biceps femoris',
  lats: 'Latissimus dorsi',
  'lower back': 'Erector spinae',
  obliques: 'Obliquus externus abdominis',
  quadriceps: 'Quadriceps femoris',
  quads: 'Quadriceps femoris',
  shoulders: 'Anterior deltoid',
  traps: 'Trapezius',
  triceps: 'Triceps brachii',
};
const EQUIPMENT_NAMES: Readonly<Record<string, string>> = {
  'body only': 'none (bodyweight exercise)',
  'e-z curl bar': 'SZ-Bar',
  'exercise ball': 'Swiss Ball',
  kettlebells: 'Kettlebell',
};

interface Vocabulary {
  table: string;
  synonyms: Readonly<Record<string, string>>;
  namesOf(exercise: SourceExercise): string[];
}

const VOCABULARIES = {
  muscle: {
    table: 'muscle',
    synonyms: MUSCLE_NAMES,
    namesOf: ({ muscles, secondaryMuscles }) => [...muscles, ...secondaryMuscles],
  },
  equipment: {
    table: 'equipment',
    synonyms: EQUIPMENT_NAMES,
    namesOf: ({ equipment }) => equipment,
  },
  category: { table: 'exercise_category', synonyms: {}, namesOf: ({ category }) => [category] },
} as const satisfies Record<string, Vocabulary>;

export type Term = keyof typeof VOCABULARIES;

export interface Match {
  term: Term;

  /** Name at the source. */
  name: string;

  /** Name in the catalogue, which a new row gets, too. */
  catalogueName: string;

  /** Absent if the import creates a row. */
  id?: number;
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

  for (const [term, { table, synonyms, namesOf }] of Object.entries<Vocabulary>(VOCABULARIES)) {
    const { rows } = await client.query(
      `SELECT min("id") AS "id", "name" FROM "${table}" GROUP BY "name"`,
    );
    const ids = new Map<string, number>(rows.map(({ id, name }) => [fold(name), id]));

    for (const name of new Set(exercises.flatMap(namesOf))) {
      const catalogueName = given.get(fold(name)) ?? synonyms[fold(name)] ?? upperFirst(name);

      matches.push({ term: term as Term, name, catalogueName, id: ids.get(fold(catalogueName)) });
    }
  }

  return matches;
}

/** Creates the missing rows. Returns the ids by term and name at the source. */
export async function createTerms(
  client: Client,
  matches: readonly Match[],
): Promise<(term: Term, name: string) => number> {
  const ids = new Map<string, number>();
  const names = new Map<string, string>();

  for (const { term, name, catalogueName, id } of matches) {
    const key = `${term} ${fold(catalogueName)}`;

    names.set(`${term} ${name}`, key);

    if (!ids.has(key)) {
      const sql = `INSERT INTO "${VOCABULARIES[term].table}" ("name") VALUES ($1) RETURNING "id"`;

      ids.set(key, id ?? (await client.query(sql, [catalogueName])).rows[0].id);
    }
  }

  return (term, name) => ids.get(names.get(`${term} ${name}`)!)!;
}
