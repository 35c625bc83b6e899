/**
 * Products of Open Food Facts, as in its JSON Lines dump and its daily changes
 * (https://world.openfoodfacts.org/data).
 */
import { PORTION } from '../../fitness/catalogue/household-unit';
import { type FoodPortion, type SourceFood } from './food';

export const OPEN_FOOD_FACTS = {
  name: 'Open Food Facts',
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

/** A text in one line; undefined if it is empty, or no text. */
export const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '';

  return text === '' ? undefined : text;
};

export function numberOf(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const number = Number(value);

  return Number.isFinite(number) ? number : undefined;
}

/** Values per 100 g by the names of Open Food Facts, without the suffix `_100g`. */
export function nutrientsOf(valueOf: (name: string) => unknown): SourceFood['nutrients'] {
  const gramsOf = (name: string) => numberOf(valueOf(name));
  const [kilojoules, salt] = [gramsOf('energy-kj'), gramsOf('salt')];

  return {
    energy:
      gramsOf('energy-kcal') ??
      (kilojoules === undefined ? undefined : kilojoules / KILOJOULES_PER_KILOCALORIE),
    protein: gramsOf('proteins'),
    carbohydrates: gramsOf('carbohydrates'),
    sugar: gramsOf('sugars'),
    fat: gramsOf('fat'),
    saturatedFat: gramsOf('saturated-fat'),
    fibres: gramsOf('fiber'),
    sodium: gramsOf('sodium') ?? (salt === undefined ? undefined : salt / SALT_PER_SODIUM),
  };
}

export function alcoholOf(valueOf: (name: string) => unknown): number | undefined {
  const share = numberOf(valueOf('alcohol'));

  return share === undefined ? undefined : share * GRAMS_PER_MILLILITRE_OF_ALCOHOL;
}

/** The portion of a text such as `30 g` or `1 slice (30 g)`. Millilitres count as grams. */
export function portionsOf(servingSize: unknown): FoodPortion[] {
  const [, grams] =
    /(?<![\d.,])(\d{1,5}(?:[.,]\d{1,3})?) ?(?:g|ml)\b/i.exec(String(servingSize ?? '')) ?? [];
  const weight = Math.round(Number(grams?.replace(',', '.')));

  return weight > 0 ? [{ unit: PORTION, amount: 1, grams: weight }] : [];
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
  const valueOf = (nutrient: string) => nutriments[`${nutrient}_100g`];

  return {
    sourceId: code,
    code,
    name: name ?? '',
    language,
    commonName: textOf(product.generic_name),
    brand: textOf(product.brands)?.split(',')[0],
    category: firstOf(product.categories_tags)
      ?.replace(/^[a-z]{2}:/, '')
      .replaceAll('-', ' '),
    nutrients: nutrientsOf(valueOf),
    alcohol: alcoholOf(valueOf),
    portions: portionsOf(product.serving_size),
    author: firstOf(product.editors_tags),
    url: `https://world.openfoodfacts.org/product/${encodeURIComponent(code)}`,
  };
}
