/** Exercises of free-exercise-db (https://github.com/yuhonas/free-exercise-db). */
import { upperFirst } from '../../engine/declare/inflection';
import { hasFields, isListOf, isName, isNullable, isOptional, isText } from './checks';
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

/** What is said of an exercise in a comment. */
const isProperty = isOptional(isNullable(isText(50)));
const PROPERTIES = {
  category: isProperty,
  level: isProperty,
  force: isProperty,
  mechanic: isProperty,
};
const isEntry = hasFields({
  id: isText(200),
  name: isText(200),
  ...PROPERTIES,
  primaryMuscles: isListOf(isName(50)),
  secondaryMuscles: isListOf(isName(50)),
  equipment: isOptional(isNullable(isName(50))),
  instructions: isListOf(isText(10_000)),
  images: isListOf(isText(200)),
});

/** The exercise of an element of the file; undefined if it is none. */
export function exerciseOfEntry(entry: unknown): SourceExercise | undefined {
  if (!isEntry(entry)) return undefined;
  const { id, name, equipment, primaryMuscles } = entry;
  const properties = (Object.keys(PROPERTIES) as (keyof typeof PROPERTIES)[]).filter(
    (property) => entry[property],
  );
  const [categoryName = 'Cardio'] =
    Object.entries(CATEGORIES).find(([, muscles]) => muscles.includes(primaryMuscles[0]!)) ?? [];

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
        comments: [
          properties.map((property) => `${upperFirst(property)}: ${entry[property]!}`).join(', '),
        ],
      },
    ],
    images: entry.images.map((path) => IMAGES_URL + path),
  };
}
