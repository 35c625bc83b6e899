/** `fitgraph catalogue`: imports and exports foods and exercises. */
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { readExercises } from '../transfer/catalogue/exercise-files';
import { importExercises, type ExerciseImportPlan } from '../transfer/catalogue/import-exercises';
import { exportCatalogue } from '../transfer/catalogue/export';
import { importExerciseImages } from '../transfer/catalogue/import-images';
import { openSource } from '../transfer/catalogue/source';
import { formatOfExtension } from '../files/formats';
import { Media } from '../files/media';
import { extensionOf } from '../files/paths';
import { promptConfirmation } from './prompts';
import { REFUSAL_REASONS } from '../fitness/catalogue/refused-food';
import { importFoods, type FoodImportReport } from '../transfer/catalogue/import-foods';
import {
  createProgressPrinter,
  printLine,
  recordOperatorEvent,
  replaceControlCharacters,
  withDatabase,
} from './command-context';
import { formatCount } from '../shared/messages';

interface FoodOptions {
  language: string;
  map: string[];
  source?: string;
  complete?: boolean;
  refused?: string;
  dryRun?: boolean;
}

const MAX_LISTED = 20;

/** Prints a line with texts of others. */
const printText = (text: string): void => printLine(replaceControlCharacters(text));

const quoteCell = (value: unknown): string => `"${String(value ?? '').replaceAll('"', '""')}"`;

function printKept(kept: readonly string[], noun: string): void {
  if (!kept.length) return;
  const listed = kept.slice(0, MAX_LISTED).join(', ');

  printText(
    `${formatCount(kept.length, noun)} stayed as edited here: ${listed}${kept.length > MAX_LISTED ? ', …' : ''}`,
  );
}

function printReport(report: FoodImportReport, isDryRun: boolean): void {
  printText(`${summaryOf(report)}${isDryRun ? ' (dry run: nothing was written)' : ''}.`);
  printKept(report.kept, 'food');

  for (const [reason, count] of [...report.refused].sort(([, a], [, b]) => b - a)) {
    printLine(`${count} refused as ${reason}: ${REFUSAL_REASONS[reason]}`);
  }
}

function summaryOf(report: FoodImportReport): string {
  const { sourceName, read, created, updated, unchanged, removed, kept, refused } = report;
  const refusedCount = [...refused.values()].reduce((sum, count) => sum + count, 0);

  return `${formatCount(read, 'food')} of ${sourceName} read: ${created} new, ${updated} updated, ${unchanged} unchanged, ${removed} removed, ${kept.length} kept as edited here, ${refusedCount} refused`;
}

export async function importFoodsCommand(location: string, options: FoodOptions): Promise<void> {
  const isDryRun = Boolean(options.dryRun);
  const source = await openSource(location);
  const refusals = options.refused === undefined ? undefined : createWriteStream(options.refused);

  if (refusals) await once(refusals, 'open');
  refusals?.write('number,source_id,name,reason\n');
  await withDatabase(async ({ database, session }) => {
    const printProgress = createProgressPrinter();
    let latest: FoodImportReport | undefined;

    try {
      latest = await importFoods(source.bytes, database, {
        languages: options.language.split(','),
        mapping: options.map,
        sourceName: options.source,
        isComplete: Boolean(options.complete),
        isDryRun,
        reportProgress(report) {
          latest = report;
          const { read } = report;

          printProgress(
            'Foods',
            read,
            source.size && Math.round((read * source.size) / source.readBytes()),
          );
        },
        reportRefusal: ({ number, reason, food }) =>
          refusals?.write(
            `${number},${quoteCell(food?.sourceId)},${quoteCell(food?.name)},${reason}\n`,
          ),
      });
      printReport(latest, isDryRun);
    } finally {
      // The batches before an error stay.
      if (latest && !isDryRun) {
        await recordOperatorEvent({ kind: 'IMPORTED', detail: summaryOf(latest) }, session);
      }
    }
  });

  if (refusals) await once(refusals.end(), 'finish');
}

/** Shows what an import would create, and which exercises and names it takes for the same. */
function printPlan({ terms, exercises }: ExerciseImportPlan): void {
  for (const { term, name, catalogueName, isNew } of terms) {
    if (isNew) printText(`new ${term}: ${catalogueName}`);
    else if (name !== catalogueName) printText(`${term} ${name} is ${catalogueName}`);
  }

  for (const { exercise, foundBy, nameInCatalogue } of exercises) {
    if (foundBy !== 'likeness') continue;
    printText(`exercise ${exercise.translations[0]!.name} is ${nameInCatalogue!}`);
  }

  const foundCount = exercises.filter(({ id }) => id !== undefined).length;

  printLine(
    `${formatCount(exercises.length, 'exercise')}: ${exercises.length - foundCount} new, ${foundCount} in the catalogue.`,
  );
}

interface ExerciseOptions {
  map: string[];
  yes?: boolean;
  dryRun?: boolean;
  images?: boolean;
}

export async function importExercisesCommand(
  location: string,
  { map, yes, dryRun, images }: ExerciseOptions,
): Promise<void> {
  const exercises = await readExercises(location);

  await withDatabase(async ({ config, database, session }) => {
    const report = await importExercises(exercises, database, map, async (plan) => {
      printPlan(plan);
      if (dryRun) return false;

      return yes === true || promptConfirmation('Import them? [yes] ', 'yes');
    });

    if (!report) return printLine('Nothing was written.');
    const { created, updated, unchanged, kept } = report;
    const summary = `${created} new, ${updated} updated, ${unchanged} unchanged`;

    await recordOperatorEvent({ kind: 'IMPORTED', detail: `exercises: ${summary}` }, session);
    printLine(`${formatCount(report.imported.length, 'exercise')} imported: ${summary}.`);
    printKept(kept, 'exercise');

    if (images) {
      const printProgress = createProgressPrinter();
      const { stored, problems } = await importExerciseImages(
        report.imported,
        { session, media: Media.fromConfig(config) },
        (doneCount, totalCount) => printProgress('Images of exercises', doneCount, totalCount),
      );

      printLine(`${formatCount(stored, 'image')} stored.`);
      for (const problem of problems.slice(0, MAX_LISTED)) printText(problem);
    }
  });
}

/** Content of an image as a URL, so that an export needs no files. */
async function imageAsUrl(media: Media, path: string): Promise<string | undefined> {
  const bytes = await media.files.read(path);
  const format = formatOfExtension(extensionOf(path));

  return bytes && `data:image/${format};base64,${bytes.toString('base64')}`;
}

export async function exportCatalogueCommand(location: string): Promise<void> {
  await withDatabase(async ({ config, database }) => {
    const media = Media.fromConfig(config);
    const file = location === '-' ? undefined : await open(location, 'wx');
    const { foods, exercises } = await exportCatalogue(database, {
      readImage: (path) => imageAsUrl(media, path),
      output: file?.createWriteStream() ?? process.stdout,
    });

    if (!file) return;
    printLine(
      `${formatCount(foods, 'food')} and ${formatCount(exercises, 'exercise')} written to ${location}.`,
    );
  });
}
