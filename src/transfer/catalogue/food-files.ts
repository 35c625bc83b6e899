/** Reads foods of a file, whose source is recognized by its content. */
import { failImport } from '../dump';
import { OWN_SOURCE } from './exercise';
import { isStorableFood, type FoodSource, type SourceFood } from './food';
import {
  FOOD_DATA_CENTRAL,
  FOOD_DATA_CENTRAL_KEYS,
  foodOfFoodDataCentral,
} from './food-data-central';
import { foodOfProduct, OPEN_FOOD_FACTS } from './open-food-facts';
import {
  elementsOf,
  hasWrongBytes,
  linesOf,
  MAX_EXPORT_LINE_MEGABYTES,
  type TextRecord,
} from './records';
import { peek } from './source';
import { cellsOf, delimiterOf, foodOfRow, isOpenFoodFactsHeader, mapColumns } from './table';

/** A record without a food could not be read. */
export interface FoodRecord {
  number: number;
  food?: SourceFood;
}

export interface FoodFile {
  sourceName: string;

  /** Whether the foods have several sources, and have been accepted before. */
  isExport?: boolean;
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
const MAX_SOURCE_ID_CHARACTERS = 200;

/** Throws an Error if the text is no JSON object. */
function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);

  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError();

  return value as Record<string, unknown>;
}

async function* parseRecords(
  records: AsyncIterable<TextRecord>,
  toFood: (text: string) => SourceFood | undefined,
): AsyncGenerator<FoodRecord> {
  for await (const { number, text } of records) {
    let food: SourceFood | undefined;

    try {
      if (!hasWrongBytes(text)) food = toFood(text);
      if (food && food.sourceId.length > MAX_SOURCE_ID_CHARACTERS) food = undefined;
    } catch {
      // Neither JSON nor, if it is, of the expected structure.
    }

    yield { number, food };
  }
}

/** Skips the exercises of an export. */
async function* foodLinesOf(lines: AsyncIterable<TextRecord>): AsyncGenerator<TextRecord> {
  for await (const line of lines) if (!line.text.startsWith('{"exercise"')) yield line;
}

function exportedFood(text: string): SourceFood | undefined {
  const { food } = parseObject(text);

  return isStorableFood(food) ? food : undefined;
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
  let source: FoodSource = OPEN_FOOD_FACTS;

  if (!isOpenFoodFactsHeader(names)) {
    if (sourceName === undefined) {
      return failImport(
        'Name the source of the table by --source, so that another import can update its foods.',
      );
    }

    source = { sourceName, author: sourceName, license: DEFAULT_LICENSE };
  }

  const toFood = (text: string) => {
    const cells = cellsOf(text, delimiter);

    return cells.length > names.length
      ? undefined
      : foodOfRow(cells, columns, languages[0]!, source);
  };

  return { sourceName: source.sourceName, records: parseRecords(lines, toFood) };
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
      sourceName: FOOD_DATA_CENTRAL.sourceName,
      records: parseRecords(elementsOf(all), (food) => foodOfFoodDataCentral(parseObject(food))),
    };
  }

  if (/^\{\s*"(?:food|exercise)"/.test(text)) {
    const lines = linesOf(all, MAX_EXPORT_LINE_MEGABYTES);

    return {
      sourceName: OWN_SOURCE,
      isExport: true,
      records: parseRecords(foodLinesOf(lines), exportedFood),
    };
  }

  if (text.startsWith('{')) {
    const toFood = (product: string) => foodOfProduct(parseObject(product), options.languages);

    return {
      sourceName: OPEN_FOOD_FACTS.sourceName,
      records: parseRecords(linesOf(all), toFood),
    };
  }

  if (start.includes(0)) {
    failImport('The file is neither JSON nor a table, or its compression is not known.');
  }

  return readTable(all, options);
}
