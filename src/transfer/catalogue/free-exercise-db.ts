/** Exercises of free-exercise-db (https://github.com/yuhonas/free-exercise-db). */
import escape from 'escape-html';
import { upperFirst } from '../../engine/declare/inflection';
import type { SourceExercise } from './exercise';
import { CC0 } from './licenses';

const SOURCE = 'free-exercise-db';
const IMAGES_URL = 'https://raw.githubusercontent.com/yuhonas/free-exercise-db/main/exercises/';
const MAX_DESCRIPTION_CHARACTERS = 2_000;

/** The category of an exercise follows from its muscle; those of the source are kinds of training. */
const CATEGORIES: Readonly<Record<string, readonly string[]>> = {
  Abs: ['abdominals'],
  Arms: ['biceps', 'forearms', 'triceps'],
  Back: ['lats', 'lower back', 'middle back', 'traps'],
  Calves: ['calves'],
  Chest: ['chest'],
  Legs: ['abductors', 'adductors', 'glutes', 'hamstrings', 'quadriceps'],
  Shoulders: ['neck', 'shoulders'],
};

/** Steps as HTML; those that do not fit are left out. */
function descriptionOf(steps: readonly string[]): string {
  let list = '';

  for (const step of steps) {
    const item = `<li>${escape(step.trim())}</li>`;

    if (`<ol>${list}${item}</ol>`.length > MAX_DESCRIPTION_CHARACTERS) break;
    list += item;
  }

  return list && `<ol>${list}</ol>`;
}

/** What is said of an exercise in a comment. */
const PROPERTIES = ['category', 'level', 'force', 'mechanic'] as const;

type Entry = Record<(typeof PROPERTIES)[number] | 'equipment', string | null | undefined> &
  Record<'id' | 'name', string> &
  Record<'primaryMuscles' | 'secondaryMuscles' | 'instructions' | 'images', string[]>;

/** Throws a TypeError if the element of the file is none. The exercise has to be checked. */
export function exerciseOfEntry(entry: Entry): SourceExercise {
  const { id, name, equipment, primaryMuscles } = entry;
  const [categoryName = 'Cardio'] =
    Object.entries(CATEGORIES).find(([, muscles]) => muscles.includes(primaryMuscles[0]!)) ?? [];
  const properties = PROPERTIES.filter((property) => entry[property]).map(
    (property) => `${upperFirst(property)}: ${entry[property]!}`,
  );

  return {
    source: SOURCE,
    sourceId: id,
    category: categoryName,
    muscles: primaryMuscles,
    secondaryMuscles: entry.secondaryMuscles,
    equipment: equipment && equipment !== 'other' ? [equipment] : [],
    license: CC0,
    author: SOURCE,
    translations: [
      {
        language: 'en',
        name,
        description: descriptionOf(entry.instructions),
        aliases: [],
        comments: [properties.join(', ')],
      },
    ],
    images: entry.images.map((path) => IMAGES_URL + path),
  };
}
