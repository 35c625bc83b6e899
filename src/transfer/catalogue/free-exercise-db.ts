/** Exercises of free-exercise-db (https://github.com/yuhonas/free-exercise-db). */
import type { SourceExercise } from './exercise';
import { hasFields, isListOf, isText } from './checks';

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

interface Entry {
  id: string;
  name: string;
  force?: string | null;
  level?: string | null;
  mechanic?: string | null;
  equipment?: string | null;
  primaryMuscles: string[];
  secondaryMuscles: string[];
  instructions: string[];
  category?: string;
  images: string[];
}

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Steps as HTML; those that do not fit are left out. */
function descriptionOf(steps: readonly string[]): string {
  let list = '';

  for (const step of steps) {
    const item = `<li>${escapeHtml(step.trim())}</li>`;

    if (`<ol>${list}${item}</ol>`.length > MAX_DESCRIPTION_CHARACTERS) break;
    list += item;
  }

  return list && `<ol>${list}</ol>`;
}

const isEntry = hasFields({
  id: isText(200),
  name: isText(200),
  primaryMuscles: isListOf(isText(50)),
  secondaryMuscles: isListOf(isText(50)),
  equipment: (name) => name == null || isText(50)(name),
  instructions: isListOf(isText(10_000)),
  images: isListOf(isText(200)),
});

/** The exercise of an element of the file; undefined if it is none. */
export function exerciseOfEntry(value: unknown): SourceExercise | undefined {
  if (!isEntry(value)) return undefined;
  const entry = value as Entry;
  const { id, name, category, force, level, mechanic, equipment, primaryMuscles } = entry;
  const properties = Object.entries({
    Category: category,
    Level: level,
    Force: force,
    Mechanic: mechanic,
  });
  const [categoryName = 'Cardio'] =
    Object.entries(CATEGORIES).find(([, muscles]) => muscles.includes(primaryMuscles[0]!)) ?? [];

  return {
    source: SOURCE,
    sourceId: id,
    category: categoryName,
    muscles: primaryMuscles,
    secondaryMuscles: entry.secondaryMuscles,
    equipment: equipment && equipment !== 'other' ? [equipment] : [],
    license: {
      shortName: 'CC0',
      fullName: 'Creative Commons Zero 1.0',
      url: 'https://creativecommons.org/publicdomain/zero/1.0/',
    },
    author: SOURCE,
    translations: [
      {
        language: 'en',
        name,
        description: descriptionOf(entry.instructions),
        aliases: [],
        comments: [
          properties
            .filter(([, value]) => value)
            .map(([key, value]) => `${key}: ${value!}`)
            .join(', '),
        ],
      },
    ],
    images: entry.images.map((path) => IMAGES_URL + path),
  };
}
