/**
 * Imports foods of a public table in batches, each in a transaction of its own. A food is
 * identified by its source and its id there, and a batch writes only what has changed, so that an
 * interrupted or repeated import writes nothing twice.
 */
import type { Client } from 'pg';
import type { Database } from '../../database/connection';
import { retryLockConflicts } from '../../database/lock-conflicts';
import { inTransaction } from '../../database/transaction';
import type { RefusalReason } from '../../fitness/catalogue/refused-food';
import { Ingredient } from '../../fitness/catalogue/ingredient';
import { referringColumns } from '../../engine/write/references';
import { chunksOf, prefetch } from '../chunks';
import { failImport } from '../dump';
import { importExclusively } from './exclusive';
import { refusalReasonOf } from './food';
import { BATCH_TABLES_SQL, writeFoods, type FoodOutcome } from './food-batch';
import { readFoods, type FoodFileOptions, type FoodRecord } from './food-files';

const FOODS_PER_BATCH = 2_500;

export interface Refusal extends FoodRecord {
  reason: RefusalReason;
}

export interface FoodImportOptions extends FoodFileOptions {
  /** Whether the file contains all foods of its source, so that others are gone there. */
  isComplete: boolean;
  isDryRun: boolean;

  /** Is called after each batch, with what the import has done until then. */
  reportProgress(report: FoodImportReport): void;
  reportRefusal(refusal: Refusal): void;
}

export interface FoodImportReport {
  sourceName: string;
  read: number;
  created: number;
  updated: number;
  unchanged: number;

  /** Number of foods that are gone at the source and that nobody uses. */
  removed: number;

  /** Ids of foods that a person has edited here and that differ from the source. */
  kept: string[];
  refused: Map<RefusalReason, number>;
}

async function checkLanguages(client: Client, languages: readonly string[]): Promise<void> {
  const { rows } = await client.query(
    'SELECT "code" FROM unnest($1::text[]) AS "code" WHERE "code" NOT IN (SELECT "short_name" FROM "language")',
    [languages],
  );

  if (rows.length) {
    failImport(
      `There is no language ${JSON.stringify(rows[0].code)}. An empty database gets its languages by \`fitgraph seed\`.`,
    );
  }
}

/** SQL: condition that somebody uses food `i`. */
const isUsedSql = (): string =>
  referringColumns(Ingredient)
    .map(({ table, column }) => `EXISTS (SELECT FROM "${table}" u WHERE u."${column}" = i."id")`)
    .join(' OR ');

/**
 * Deletes the foods that are gone at their source, unless somebody uses or has edited them. Returns
 * their number.
 */
async function removeGone(client: Client, sourceName: string, isDryRun: boolean): Promise<number> {
  const unusedSql = `i."edited_at" IS NULL AND NOT (${isUsedSql()})`;
  const { rows } = await client.query(
    `SELECT i."id" FROM "ingredient" i WHERE i."source_name" = $1 AND i."source_id" IS NOT NULL AND ${unusedSql}
      AND NOT EXISTS (SELECT FROM "seen_food" s WHERE s."source_name" = $1 AND s."source_id" = i."source_id")`,
    [sourceName],
  );

  if (isDryRun) return rows.length;
  let removed = 0;

  for (let start = 0; start < rows.length; start += FOODS_PER_BATCH) {
    const ids = rows.slice(start, start + FOODS_PER_BATCH).map(({ id }) => id);

    await inTransaction(client, async () => {
      // Nobody can begin to use a locked food, but somebody may have before.
      await client.query(
        'SELECT FROM "ingredient" WHERE "id" = ANY($1::int[]) ORDER BY "id" FOR UPDATE',
        [ids],
      );
      const { rowCount } = await client.query(
        `DELETE FROM "ingredient" i WHERE i."id" = ANY($1::int[]) AND ${unusedSql}`,
        [ids],
      );

      removed += rowCount!;
    });
  }

  return removed;
}

/**
 * Imports a file of foods. Throws BAD_USER_INPUT if it cannot be read; the batches before the error
 * stay.
 */
export async function importFoods(
  bytes: AsyncIterable<Buffer>,
  database: Database,
  options: FoodImportOptions,
): Promise<FoodImportReport> {
  const { languages, isComplete, isDryRun } = options;
  const { sourceName, isExport, records } = await readFoods(bytes, options);
  const report: FoodImportReport = {
    sourceName,
    read: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    removed: 0,
    kept: [],
    refused: new Map(),
  };

  if (isExport && isComplete) {
    failImport('An export contains foods of several sources. Import it without --complete.');
  }

  function count(outcome: FoodOutcome, record: FoodRecord): void {
    report.read += 1;

    if (outcome === 'kept') report.kept.push(record.food!.sourceId);
    else if (outcome === 'created' || outcome === 'updated' || outcome === 'unchanged') {
      report[outcome] += 1;
    } else {
      report.refused.set(outcome, (report.refused.get(outcome) ?? 0) + 1);
      options.reportRefusal({ ...record, reason: outcome });
    }
  }

  return importExclusively(database, async (client) => {
    await checkLanguages(client, languages);
    await client.query(BATCH_TABLES_SQL);

    // The next batch is read while one is written.
    for await (const batch of prefetch(chunksOf(records, FOODS_PER_BATCH))) {
      const foods = batch.flatMap(({ number, food }) =>
        food ? { number, food, reason: isExport ? undefined : refusalReasonOf(food) } : [],
      );
      const outcomes = await retryLockConflicts(
        () => writeFoods(client, foods, { isExport, isDryRun }),
        () => undefined,
      );

      for (const record of batch) count(outcomes.get(record.number) ?? 'unreadable', record);
      options.reportProgress(report);
    }

    if (isComplete) report.removed = await removeGone(client, sourceName, isDryRun);

    if (!isDryRun) {
      await client.query('VACUUM (ANALYZE) "ingredient", "ingredient_unit", "catalogue_word"');
    }

    return report;
  });
}
