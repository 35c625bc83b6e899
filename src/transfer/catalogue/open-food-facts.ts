/**
 * Products of Open Food Facts, as in its JSON Lines dump and its daily changes
 * (https://world.openfoodfacts.org/data).
 */
import { decodeHTMLStrict } from 'entities';
import { PORTION } from '../../fitness/catalogue/household-unit';
import type { FoodPortion, FoodSource, SourceFood, SourceNutrients } from './food';

export const OPEN_FOOD_FACTS: FoodSource = {
  sourceName: 'Open Food Facts',
  license: {
    shortName: 'ODbL',
    fullName: 'Open Database License 1.0',
    url: 'https://opendatacommons.org/licenses/odbl/1-0/',
  },
  author: 'Open Food Facts contributors',
};

export const KILOJOULES_PER_KILOCALORIE = 4.184;

/** Grams of salt per gram of sodium (Regulation (EU) No 1169/2011, Annex I). */
const SALT_PER_SODIUM = 2.5;

/** Open Food Facts has alcohol in per cent of the volume. */
const GRAMS_PER_MILLILITRE_OF_ALCOHOL = 0.789;

/**
 * A text in one line, with HTML entities such as `&quot;`, of which the tables have many, as
 * characters; undefined if it is empty, or no text.
 */
export const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? decodeHTMLStrict(value).replace(/\s+/g, ' ').trim() : '';

  return text === '' ? undefined : text;
};

export function numberOf(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const number = Number(value);

  return Number.isFinite(number) ? number : undefined;
}

/** Values per 100 g by the names of Open Food Facts, without the suffix `_100g`. */
export function nutrientsOf(valueOf: (name: string) => unknown): SourceNutrients {
  /** Undefined if the value is, or if it is no number. */
  const gramsOf = (name: string, factor = 1) => {
    const grams = numberOf(valueOf(name));

    return grams === undefined ? undefined : grams * factor;
  };

  return {
    energy: gramsOf('energy-kcal') ?? gramsOf('energy-kj', 1 / KILOJOULES_PER_KILOCALORIE),
    protein: gramsOf('proteins'),
    carbohydrates: gramsOf('carbohydrates'),
    sugar: gramsOf('sugars'),
    fat: gramsOf('fat'),
    saturatedFat: gramsOf('saturated-fat'),
    fibres: gramsOf('fiber'),
    sodium: gramsOf('sodium') ?? gramsOf('salt', 1 / SALT_PER_SODIUM),
    alcohol: gramsOf('alcohol', GRAMS_PER_MILLILITRE_OF_ALCOHOL),
  };
}

/** The portion of a text such as `30 g` or `1 slice (30 g)`. Millilitres count as grams. */
export function portionsOf(servingSize: unknown): FoodPortion[] {
  const [, grams] =
    /(?<![\d.,])(\d{1,5}(?:[.,]\d{1,3})?) ?(?:g|ml)\b/i.exec(String(servingSize ?? '')) ?? [];
  const weight = Math.round(Number(grams?.replace(',', '.')));

  return weight > 0 ? [{ unit: PORTION, grams: weight }] : [];
}

const firstOf = (list: unknown): string | undefined =>
  Array.isArray(list) ? textOf(list[0]) : undefined;

/** `languages` are codes in the order of preference. */
export function foodOfProduct(
  product: Record<string, unknown>,
  languages: readonly string[],
): SourceFood {
  const nutriments = (product.nutriments ?? {}) as Record<string, unknown>;
  const names = languages.map((language) => [
    language,
    textOf(product[`product_name_${language}`]),
  ]);
  const main = textOf(product.lang);

  if (main !== undefined && languages.includes(main)) {
    names.push([main, textOf(product.product_name)]);
  }

  const [language = languages[0]!, name] = names.find(([, text]) => text !== undefined) ?? [];
  const code = String(product.code ?? '');

  return {
    sourceName: OPEN_FOOD_FACTS.sourceName,
    license: OPEN_FOOD_FACTS.license,
    sourceId: code,
    code,
    name: name ?? '',
    language,
    commonName: textOf(product.generic_name),
    brand: textOf(product.brands)?.split(',')[0],
    category: firstOf(product.categories_tags)
      ?.replace(/^[a-z]{2}:/, '')
      .replaceAll('-', ' '),
    nutrients: nutrientsOf((nutrient) => nutriments[`${nutrient}_100g`]),
    portions: portionsOf(product.serving_size),
    author: firstOf(product.editors_tags) ?? OPEN_FOOD_FACTS.author,
    url: `https://world.openfoodfacts.org/product/${encodeURIComponent(code)}`,
  };
}
