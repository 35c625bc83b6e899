/** Recognizes a file of foods by its content, and reads its records. */
import { failImport } from '../dump';
import { exportedFood, OWN_SOURCE } from './export';
import type { SourceFood } from './food';
import {
  FOOD_DATA_CENTRAL,
  FOOD_DATA_CENTRAL_KEYS,
  foodOfFoodDataCentral,
} from './food-data-central';
import type { SourceLicense } from './licenses';
import { foodOfProduct, OPEN_FOOD_FACTS } from './open-food-facts';
import { elementsOf, hasWrongBytes, linesOf, type TextRecord } from './records';
import { peek } from './source';
import { cellsOf, delimiterOf, foodOfRow, isOpenFoodFactsHeader, mapColumns } from './table';

export interface FoodTable {
  name: string;

  /** Of foods without one. */
  author?: string;
  license: SourceLicense;
}

/** A record without a food could not be read. */
export interface FoodRecord {
  number: number;
  food?: SourceFood;
}

export interface FoodFile {
  table: FoodTable;
  records: AsyncIterable<FoodRecord>;
}

export interface FoodFileOptions {
  /** Codes of languages in the order of preference; names in others are not read. */
  languages: readonly string[];

  /** Columns of a table of one's own, as `field=column`. */
  mapping: readonly string[];

  /** Name of a table of one's own. */
  sourceName?: string;
}

const DEFAULT_LICENSE = {
  shortName: 'CC-BY-SA 4',
  fullName: 'Creative Commons Attribution Share Alike 4',
  url: 'https://creativecommons.org/licenses/by-sa/4.0/',
};

/** Foods of an export name their sources and licences themselves. */
export const EXPORT_TABLE: FoodTable = {
  name: OWN_SOURCE,
  license: DEFAULT_LICENSE,
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function* parseRecords(
  records: AsyncIterable<TextRecord> | Iterable<TextRecord>,
  toFood: (value: Record<string, unknown>) => SourceFood | undefined,
): AsyncGenerator<FoodRecord> {
  for await (const { number, text } of records) {
    let food: SourceFood | undefined;

    try {
      const value: unknown = hasWrongBytes(text) ? undefined : JSON.parse(text);

      food = isObject(value) ? toFood(value) : undefined;
    } catch {
      // Neither JSON nor, if it is, of the expected structure.
    }

    yield { number, food };
  }
}

/** Skips the exercises of an export. */
async function* foodsOfExport(lines: AsyncIterable<TextRecord>): AsyncGenerator<FoodRecord> {
  for await (const line of lines) {
    if (!line.text.startsWith('{"exercise"')) yield* parseRecords([line], exportedFood);
  }
}

async function readTable(
  bytes: AsyncIterable<Buffer>,
  { languages, mapping, sourceName }: FoodFileOptions,
): Promise<FoodFile> {
  const lines = linesOf(bytes);
  const { value: header } = await lines.next();

  if (!header) return failImport('The file is empty.');
  const delimiter = delimiterOf(header.text);
  const names = cellsOf(header.text, delimiter);
  const columns = mapColumns(names, mapping);
  const isOpenFoodFacts = isOpenFoodFactsHeader(names);

  if (!isOpenFoodFacts && sourceName === undefined) {
    failImport(
      'Name the source of the table by --source, so that another import can update its foods.',
    );
  }

  async function* records(): AsyncGenerator<FoodRecord> {
    for await (const { number, text } of lines) {
      const cells = cellsOf(text, delimiter);
      const isReadable = cells.length <= names.length && !hasWrongBytes(text);

      yield { number, food: isReadable ? foodOfRow(cells, columns, languages[0]!) : undefined };
    }
  }

  return {
    table: isOpenFoodFacts
      ? OPEN_FOOD_FACTS
      : { name: sourceName!, author: sourceName!, license: DEFAULT_LICENSE },
    records: records(),
  };
}

export async function readFoods(
  bytes: AsyncIterable<Buffer>,
  options: FoodFileOptions,
): Promise<FoodFile> {
  const { start, all } = await peek(bytes);
  // Also without a byte order mark, which is white space here.
  const text = start.toString().trimStart();
  const [, key] = /^\{\s*"(\w+)"\s*:\s*\[/.exec(text) ?? [];

  if (key !== undefined && FOOD_DATA_CENTRAL_KEYS.includes(key)) {
    return {
      table: FOOD_DATA_CENTRAL,
      records: parseRecords(elementsOf(all), foodOfFoodDataCentral),
    };
  }

  if (/^\{\s*"(?:food|exercise)"/.test(text)) {
    return { table: EXPORT_TABLE, records: foodsOfExport(linesOf(all)) };
  }

  if (text.startsWith('{')) {
    const toFood = (product: Record<string, unknown>) => foodOfProduct(product, options.languages);

    return { table: OPEN_FOOD_FACTS, records: parseRecords(linesOf(all), toFood) };
  }

  if (start.includes(0)) {
    failImport('The file is neither JSON nor a table, or its compression is not known.');
  }

  return readTable(all, options);
}
