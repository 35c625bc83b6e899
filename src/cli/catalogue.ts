/** `fitgraph catalogue`: imports and exports foods and exercises. */
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { openSource } from '../transfer/catalogue/source';
import { REFUSAL_REASONS, type RefusalReason } from '../transfer/catalogue/food';
import { importFoods, type FoodImportReport } from '../transfer/catalogue/import-foods';
import {
  createProgressPrinter,
  formatCount,
  printLine,
  recordOperatorEvent,
  replaceControlCharacters,
  withDatabase,
} from './command-context';

interface FoodOptions {
  language: string;
  map: string[];
  source?: string;
  complete?: boolean;
  refused?: string;
  dryRun?: boolean;
}

const MAX_LISTED = 20;

const quoteCell = (value: unknown): string => `"${String(value ?? '').replaceAll('"', '""')}"`;

function printReport(report: FoodImportReport, isDryRun: boolean): void {
  const { sourceName, read, created, updated, unchanged, removed, kept, refused } = report;

  printLine(
    `${formatCount(read, 'food')} of ${sourceName} read: ${created} new, ${updated} updated, ${unchanged} unchanged, ${removed} removed${isDryRun ? ' (dry run: nothing was written)' : ''}.`,
  );

  if (kept.length) {
    const ids = kept.slice(0, MAX_LISTED).map(replaceControlCharacters).join(', ');

    printLine(
      `${formatCount(kept.length, 'food')} stayed as a person has edited them here: ${ids}${kept.length > MAX_LISTED ? ', …' : ''}`,
    );
  }

  for (const [reason, count] of [...refused].sort(([, a], [, b]) => b - a)) {
    printLine(`${count} refused as ${reason}: ${REFUSAL_REASONS[reason]}`);
  }
}

export async function importFoodsCommand(location: string, options: FoodOptions): Promise<void> {
  const isDryRun = Boolean(options.dryRun);
  const source = await openSource(location);
  const refusals = options.refused === undefined ? undefined : createWriteStream(options.refused);

  refusals?.write('number,source_id,name,reason\n');
  await withDatabase(async ({ database, session }) => {
    const printProgress = createProgressPrinter();
    const report = await importFoods(source.bytes, database, {
      languages: options.language.split(','),
      mapping: options.map,
      sourceName: options.source,
      isComplete: Boolean(options.complete),
      isDryRun,
      reportProgress: (read) =>
        printProgress('Foods', read, source.size && Math.round((read * source.size) / source.readBytes())),
      reportRefusal: ({ number, reason, food }) =>
        refusals?.write(
          `${number},${quoteCell(food?.sourceId)},${quoteCell(food?.name)},${reason satisfies RefusalReason}\n`,
        ),
    });

    if (!isDryRun) {
      await recordOperatorEvent(
        {
          kind: 'IMPORTED',
          detail: `foods of ${report.sourceName}: ${report.created} new, ${report.updated} updated, ${report.removed} removed`,
        },
        session,
      );
    }

    printReport(report, isDryRun);
  });

  if (refusals) await once(refusals.end(), 'finish');
}
