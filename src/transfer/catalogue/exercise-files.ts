/** Reads exercises of a file, which is recognized by its content, or of a running service. */
import { failImport } from '../dump';
import { isExercise, type SourceExercise } from './exercise';
import { exerciseOfEntry } from './free-exercise-db';
import { elementsOf, linesOf, MAX_EXPORT_LINE_MEGABYTES } from './records';
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

  for await (const { number, text } of isArray
    ? elementsOf(all)
    : linesOf(all, MAX_EXPORT_LINE_MEGABYTES)) {
    // A food of an export.
    if (text.startsWith('{"food"')) continue;
    let exercise: unknown;

    try {
      exercise = isArray ? exerciseOfEntry(JSON.parse(text)) : JSON.parse(text).exercise;
    } catch {
      // Neither JSON nor, if it is, of the expected structure.
    }

    if (!isExercise(exercise)) {
      const source = isArray ? 'free-exercise-db' : 'an export';

      return failImport(`Record ${number} is not an exercise of ${source}.`);
    }

    yield exercise;
  }
}

export async function readExercises(location: string): Promise<SourceExercise[]> {
  const exercises = new Map<string, SourceExercise>();

  for await (const exercise of isService(location)
    ? readReferenceService(location)
    : readFile(location)) {
    exercises.set(`${exercise.source} ${exercise.sourceId}`, exercise);

    if (exercises.size > MAX_EXERCISES) {
      failImport(`There are more than ${MAX_EXERCISES} exercises.`);
    }
  }

  if (!exercises.size) failImport(`${location} contains no exercises.`);

  return [...exercises.values()];
}
