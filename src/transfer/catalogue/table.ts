/** Foods of a table: the tab-separated export of Open Food Facts, or a CSV file of one's own. */
import { failImport } from '../dump';
import type { FoodSource, SourceFood } from './food';
import { nutrientsOf, portionsOf, textOf } from './open-food-facts';

/** Fields of a food to which columns can be mapped, with names of columns that are recognized. */
const COLUMN_NAMES: Record<string, readonly string[]> = {
  code: ['code', 'barcode', 'ean', 'gtin', 'upc'],
  name: ['product_name', 'name', 'food', 'description', 'lebensmittel', 'nom', 'nombre'],
  brand: ['brands', 'brand', 'marke', 'marque', 'marca'],
  category: ['main_category_en', 'category', 'kategorie', 'categorie', 'categoria'],
  serving: ['serving_size', 'serving', 'portion'],
  'energy-kcal': ['energy-kcal_100g', 'kcal', 'energy kcal', 'calories', 'energy', 'energie'],
  'energy-kj': ['energy-kj_100g', 'kj', 'energy kj'],
  proteins: ['proteins_100g', 'protein', 'proteins', 'eiweiss', 'eiweiß', 'proteine'],
  carbohydrates: ['carbohydrates_100g', 'carbohydrates', 'carbs', 'kohlenhydrate', 'glucides'],
  sugars: ['sugars_100g', 'sugar', 'sugars', 'zucker', 'sucres', 'azucares'],
  fat: ['fat_100g', 'fat', 'fett', 'graisses', 'matieres grasses', 'grasa'],
  'saturated-fat': ['saturated-fat_100g', 'saturated fat', 'saturates', 'gesättigte fettsäuren'],
  fiber: ['fiber_100g', 'fibre', 'fiber', 'ballaststoffe', 'fibres'],
  sodium: ['sodium_100g', 'sodium', 'natrium'],
  salt: ['salt_100g', 'salt', 'salz', 'sel', 'sal'],
  alcohol: ['alcohol_100g', 'alcohol', 'alkohol'],
};

const DELIMITERS = ['\t', ';', ','];
const MAX_COLUMNS = 1_000;

export type ColumnMapping = ReadonlyMap<string, number>;

export const delimiterOf = (header: string): string =>
  DELIMITERS.map((delimiter) => ({ delimiter, count: header.split(delimiter).length })).sort(
    (a, b) => b.count - a.count,
  )[0]!.delimiter;

/**
 * Splits a line of RFC 4180. Quoted cells end with the line: names of foods have no line breaks. In
 * tab-separated files quotes are ordinary characters.
 */
export function cellsOf(line: string, delimiter: string): string[] {
  if (delimiter === '\t' || !line.includes('"')) return line.split(delimiter);
  const cells: string[] = [];
  const pattern = new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}]*))(${delimiter}|$)`, 'gy');
  let end: string | undefined;

  do {
    const [, quoted, plain, follower] = pattern.exec(line)!;

    cells.push(quoted?.replaceAll('""', '"') ?? plain!);
    end = follower;
  } while (end !== '');

  return cells;
}

const fold = (name: string) => name.trim().toLowerCase().replace(/\s+/g, ' ');

/**
 * Maps fields to columns by the names in the header, or as `mapping` says: `name=Bezeichnung`.
 * Throws BAD_USER_INPUT if a column does not exist, or a required one is not found.
 */
export function mapColumns(header: readonly string[], mapping: readonly string[]): ColumnMapping {
  if (header.length > MAX_COLUMNS) {
    failImport(`The table has ${header.length} columns; the maximum is ${MAX_COLUMNS}.`);
  }

  const names = header.map(fold);
  const columns = new Map<string, number>();

  for (const [field, knownNames] of Object.entries(COLUMN_NAMES)) {
    const index = knownNames.map((name) => names.indexOf(name)).find((found) => found !== -1);

    if (index !== undefined) columns.set(field, index);
  }

  for (const entry of mapping) {
    const [field = '', name = ''] = entry.split(/=(.*)/s);
    const index = names.indexOf(fold(name));

    if (!(field in COLUMN_NAMES)) {
      failImport(`--map ${entry}: the fields are ${Object.keys(COLUMN_NAMES).join(', ')}.`);
    }

    if (index === -1) {
      failImport(`--map ${entry}: the table has no column ${JSON.stringify(name)}.`);
    }

    columns.set(field, index);
  }

  if (!columns.has('name')) failImport('The table has no column for the name. Name it by --map.');

  return columns;
}

/** Whether a table has the columns of the tab-separated export of Open Food Facts. */
export const isOpenFoodFactsHeader = (names: readonly string[]): boolean =>
  ['code', 'product_name', 'energy-kcal_100g'].every((name) => names.includes(name));

/** A food without a barcode is identified by its name. */
export function foodOfRow(
  cells: readonly string[],
  columns: ColumnMapping,
  language: string,
  { sourceName, license, author }: FoodSource,
): SourceFood {
  const cell = (field: string) => textOf(cells[columns.get(field) ?? -1]);
  const numeric = (field: string) => cell(field)?.replace(',', '.');
  const [code, name = ''] = [cell('code'), cell('name')];

  return {
    sourceName,
    license,
    author,
    sourceId: code ?? name,
    code,
    name,
    language,
    brand: cell('brand')?.split(',')[0],
    category: cell('category'),
    nutrients: nutrientsOf(numeric),
    portions: portionsOf(cell('serving')),
  };
}
