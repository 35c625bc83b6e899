/** Reads exercises of a file, which is recognized by its content, or of a running service. */
import { failImport } from '../dump';
import type { SourceExercise } from './exercise';
import { exportedExercise } from './export';
import { exerciseOfEntry } from './free-exercise-db';
import { elementsOf, linesOf } from './records';
import { readReferenceService } from './reference-service';
import { openSource, peek } from './source';

const MAX_EXERCISES = 50_000;

/** Whether a URL is that of a service instead of a file. */
const isService = (location: string): boolean =>
  /^https?:\/\//.test(location) &&
  !/\.(?:json|jsonl)(?:\.gz|\.zst)?$|\.zip$/.test(new URL(location).pathname);

async function* readFile(location: string): AsyncGenerator<SourceExercise> {
  const { start, all } = await peek((await openSource(location)).bytes);
  const isArray = start.toString().trimStart().startsWith('[');

  for await (const { number, text } of isArray ? elementsOf(all) : linesOf(all)) {
    let value: Record<string, unknown> | null;

    try {
      value = JSON.parse(text) as typeof value;
    } catch {
      return failImport(`Record ${number} is not valid JSON.`);
    }

    // A food of an export.
    if (!isArray && value?.food) continue;

    yield (
      (value && (isArray ? exerciseOfEntry(value) : exportedExercise(value))) ??
      failImport(
        `Record ${number} is not an exercise of ${isArray ? 'free-exercise-db' : 'an export'}.`,
      )
    );
  }
}

export async function readExercises(location: string): Promise<SourceExercise[]> {
  const exercises: SourceExercise[] = [];

  for await (const exercise of isService(location)
    ? readReferenceService(location)
    : readFile(location)) {
    if (exercise.translations.some(({ language, name }) => language !== '' && name !== '')) {
      exercises.push(exercise);
    }

    if (exercises.length > MAX_EXERCISES) {
      failImport(`There are more than ${MAX_EXERCISES} exercises.`);
    }
  }

  if (!exercises.length) failImport(`${location} contains no exercises.`);

  return exercises;
}
