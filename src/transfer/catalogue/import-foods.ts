/**
 * Imports foods of a public table in batches, each in a transaction of its own. A food is
 * identified by its source and its id there, and a batch writes only what has changed, so that an
 * interrupted or repeated import writes nothing twice.
 */
import type { Client } from 'pg';
import type { Database } from '../../database/connection';
import { inTransaction } from '../../database/transaction';
import type { RefusalReason } from '../../fitness/catalogue/refused-food';
import { Ingredient } from '../../fitness/catalogue/ingredient';
import { referringColumns } from '../../engine/write/references';
import { failImport } from '../dump';
import { importExclusively } from './exclusive';
import { refusalReasonOf, type SourceFood } from './food';
import {
  BATCH_TABLES_SQL,
  markAsSeen,
  writeFoods,
  type FoodDefaults,
  type NumberedFood,
  type Refusal,
} from './food-batch';
import { EXPORT_TABLE, readFoods, type FoodFileOptions, type FoodTable } from './food-files';

const FOODS_PER_BATCH = 2_500;
const MAX_SOURCE_ID_CHARACTERS = 200;

export interface FoodImportOptions extends FoodFileOptions {
  /** Whether the file contains all foods of its source, so that others are gone there. */
  isComplete: boolean;
  isDryRun: boolean;

  /** Is called after each batch, with what the import has done until then. */
  reportProgress(readCount: number, report: FoodImportReport): void;
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

/** SQL: whether somebody uses food `i`. */
const isUsedSql = (): string =>
  referringColumns(Ingredient)
    .map(({ table, column }) => `EXISTS (SELECT FROM "${table}" u WHERE u."${column}" = i."id")`)
    .join(' OR ');

async function prepare(
  client: Client,
  { name: sourceName, ...defaults }: FoodTable,
  languages: readonly string[],
): Promise<FoodDefaults> {
  const { rows } = await client.query('SELECT "short_name" AS "code", "id" FROM "language"');
  const languageIds = new Map<string, number>(rows.map(({ code, id }) => [code, id]));
  const unknown = languages.find((language) => !languageIds.has(language));

  if (unknown !== undefined) {
    failImport(
      `There is no language ${JSON.stringify(unknown)}. An empty database gets its languages by \`fitgraph seed\`.`,
    );
  }

  await client.query(BATCH_TABLES_SQL);
  return { sourceName, ...defaults, languageIds };
}

/** Runs work in a transaction, which a dry run rolls back. */
const run = <T>(client: Client, isDryRun: boolean, work: () => Promise<T>): Promise<T> => {
  if (!isDryRun) return inTransaction(client, work);

  return client
    .query('BEGIN')
    .then(work)
    .finally(() => client.query('ROLLBACK'));
};

class FoodImport {
  readonly report: FoodImportReport;
  private foods: NumberedFood[] = [];
  private refusals: Refusal[] = [];
  private written: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: Client,
    private readonly defaults: FoodDefaults,
    private readonly options: FoodImportOptions,
  ) {
    this.report = {
      sourceName: defaults.sourceName,
      read: 0,
      created: 0,
      updated: 0,
      unchanged: 0,
      removed: 0,
      kept: [],
      refused: new Map(),
    };
  }

  async add(number: number, given: SourceFood | undefined): Promise<void> {
    const food = given && given.sourceId.length <= MAX_SOURCE_ID_CHARACTERS ? given : undefined;
    const reason = food ? this.reasonToRefuse(food) : 'unreadable';

    if (reason) this.refuse({ number, reason, food });
    else this.foods.push({ ...food!, number });
    this.report.read += 1;
    if (this.report.read % FOODS_PER_BATCH === 0) await this.flush();
  }

  /** The foods of an export have been accepted before. */
  private reasonToRefuse(food: SourceFood): RefusalReason | undefined {
    if (food.sourceName === undefined) return refusalReasonOf(food);
    const { languageIds } = this.defaults;
    const languages = [food.language, ...food.portions.map(({ language }) => language!)];

    return languages.every((code) => languageIds.has(code)) ? undefined : 'nameless';
  }

  /** Writes the batch, while the next one is read. */
  async flush(): Promise<void> {
    const { foods, refusals } = this;

    [this.foods, this.refusals] = [[], []];
    await this.written;
    this.written = this.write(foods, refusals, this.report.read);
    // The next flush reports an error.
    this.written.catch(() => undefined);
  }

  async end(): Promise<void> {
    await this.flush();
    await this.written;
  }

  private async write(
    foods: readonly NumberedFood[],
    refusals: readonly Refusal[],
    readCount: number,
  ): Promise<void> {
    const { client, options, report } = this;
    const result = await run(client, options.isDryRun, () =>
      writeFoods(client, foods, refusals, this.defaults),
    );

    if (options.isDryRun) {
      const refused = refusals.flatMap(({ food }) => food ?? []);

      await markAsSeen(client, [...foods, ...refused], this.defaults);
    }

    for (const key of ['created', 'updated', 'unchanged'] as const) report[key] += result[key];
    report.kept.push(...result.kept);

    for (const food of result.duplicates) {
      this.count({ number: food.number, reason: 'duplicate', food });
    }

    options.reportProgress(readCount, report);
  }

  /** Deletes the foods that are gone at their source, unless somebody uses or has edited them. */
  async removeGone(): Promise<void> {
    const { client, defaults, options, report } = this;
    const goneSql = `FROM "ingredient" i WHERE i."source_name" = $1 AND i."source_id" IS NOT NULL AND i."edited_at" IS NULL
      AND NOT EXISTS (SELECT FROM "seen_food" s WHERE s."source_name" = $1 AND s."source_id" = i."source_id")
      AND NOT (${isUsedSql()})`;

    if (options.isDryRun) {
      const { rows } = await client.query(`SELECT count(*)::int AS "count" ${goneSql}`, [
        defaults.sourceName,
      ]);

      report.removed = rows[0].count;
      return;
    }

    let goneCount: number;

    do {
      goneCount = await inTransaction(client, async () => {
        const { rows } = await client.query(
          `SELECT i."id" ${goneSql} LIMIT ${FOODS_PER_BATCH} FOR UPDATE`,
          [defaults.sourceName],
        );
        // Nobody can begin to use a locked food, but somebody may have just before.
        const { rowCount } = await client.query(
          `DELETE FROM "ingredient" i WHERE i."id" = ANY($1::int[]) AND NOT (${isUsedSql()})`,
          [rows.map(({ id }) => id)],
        );

        report.removed += rowCount!;
        return rows.length;
      });
    } while (goneCount === FOODS_PER_BATCH);
  }

  private refuse(refusal: Refusal): void {
    this.refusals.push(refusal);
    this.count(refusal);
  }

  private count(refusal: Refusal): void {
    const { refused } = this.report;

    refused.set(refusal.reason, (refused.get(refusal.reason) ?? 0) + 1);
    this.options.reportRefusal(refusal);
  }
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
  const { table, records } = await readFoods(bytes, options);

  if (table === EXPORT_TABLE && options.isComplete) {
    failImport('An export contains foods of several sources. Import it without --complete.');
  }

  return importExclusively(database, async (client) => {
    const importOfFoods = new FoodImport(
      client,
      await prepare(client, table, options.languages),
      options,
    );

    for await (const { number, food } of records) await importOfFoods.add(number, food);
    await importOfFoods.end();
    if (options.isComplete) await importOfFoods.removeGone();

    if (!options.isDryRun) {
      await client.query('VACUUM (ANALYZE) "ingredient", "ingredient_unit", "catalogue_word"');
    }

    return importOfFoods.report;
  });
}
