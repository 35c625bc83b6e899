/**
 * Foods of the USDA's FoodData Central, as in its JSON archives
 * (https://fdc.nal.usda.gov/download-datasets).
 */
import { isGtin } from '../../fitness/catalogue/barcode';
import { PORTION } from '../../fitness/catalogue/household-unit';
import { MAX_INTEGER } from '../../shared/bounds';
import type { FoodPortion, FoodSource, SourceFood, SourceNutrients } from './food';
import { upperFirst } from '../../engine/declare/inflection';
import { CC0 } from './licenses';
import { KILOJOULES_PER_KILOCALORIE, numberOf, textOf } from './open-food-facts';

export const FOOD_DATA_CENTRAL: FoodSource = {
  sourceName: 'FoodData Central',
  license: CC0,
  author: 'U.S. Department of Agriculture',
};

export const FOOD_DATA_CENTRAL_KEYS = ['FoundationFoods', 'SRLegacyFoods', 'BrandedFoods'];

/** Ids of nutrients with divisors of their values; the first one that a food has counts. */
const NUTRIENT_IDS: readonly [id: number, nutrient: keyof SourceNutrients, divisor?: number][] = [
  [1008, 'energy'],
  [2047, 'energy'],
  [2048, 'energy'],
  [1062, 'energy', KILOJOULES_PER_KILOCALORIE],
  [1003, 'protein'],
  [1005, 'carbohydrates'],
  [2000, 'sugar'],
  [1063, 'sugar'],
  [1004, 'fat'],
  [1085, 'fat'],
  [1258, 'saturatedFat'],
  [1079, 'fibres'],
  [1093, 'sodium', 1_000],
  [1018, 'alcohol'],
];

type Json = Record<string, unknown>;

const objectOf = (value: unknown): Json => (value ?? {}) as Json;
const objectsOf = (value: unknown): Json[] => ((value ?? []) as unknown[]).map(objectOf);

function nutrientsOf({ foodNutrients }: Json): SourceNutrients {
  const amounts = new Map(
    objectsOf(foodNutrients).map(({ nutrient, amount }) => [
      objectOf(nutrient).id,
      numberOf(amount),
    ]),
  );
  const nutrients: SourceNutrients = {};

  for (const [id, nutrient, divisor = 1] of NUTRIENT_IDS) {
    const amount = amounts.get(id);

    if (amount !== undefined) nutrients[nutrient] ??= amount / divisor;
  }

  return nutrients;
}

/** Names of household measures in a text such as `2 Tbsp (30 g)`; others count as portions. */
const MEASURE_PATTERN =
  /\b(bar|bottle|bowl|can|container|cookie|cup|fl oz|fruit|oz|package|piece|pouch|slice|stick|tablespoon|tbsp|teaspoon|tsp)\b/i;
const FULL_NAMES: Readonly<Record<string, string>> = { tbsp: 'tablespoon', tsp: 'teaspoon' };

function measureOf(...texts: unknown[]): string {
  const [, measure] =
    texts.map((text) => MEASURE_PATTERN.exec(String(text ?? ''))).find(Boolean) ?? [];
  const name = measure?.toLowerCase();

  return name === undefined ? PORTION : upperFirst(FULL_NAMES[name] ?? name);
}

const countIn = (text: unknown) => numberOf(/^\d+(?:\.\d+)?/.exec(String(text ?? ''))?.[0]);

/** The weight of one unit, of which `count` weigh `grams`. */
const portionOf = (unit: string, count = 1, grams = 0): FoodPortion => ({
  unit,
  grams: Math.round(grams / count),
});

function portionsOf(food: Json): FoodPortion[] {
  const { servingSize, servingSizeUnit, householdServingFullText: serving } = food;
  const portions = objectsOf(food.foodPortions).map(
    ({ amount, gramWeight, modifier, portionDescription, measureUnit }) =>
      portionOf(
        measureOf(objectOf(measureUnit).name, modifier, portionDescription),
        numberOf(amount),
        numberOf(gramWeight),
      ),
  );

  if (/^(?:g|grm|ml|mlt)$/i.test(String(servingSizeUnit ?? ''))) {
    portions.push(portionOf(measureOf(serving), countIn(serving), numberOf(servingSize)));
  }

  return portions.filter(({ grams }) => grams > 0 && grams <= MAX_INTEGER);
}

/** Throws a TypeError for a list that is none. */
export function foodOfFoodDataCentral(food: Json): SourceFood {
  const code = textOf(food.gtinUpc);

  return {
    sourceName: FOOD_DATA_CENTRAL.sourceName,
    license: FOOD_DATA_CENTRAL.license,
    author: FOOD_DATA_CENTRAL.author,
    // Each version of a branded food has an id of its own, but all have its barcode.
    sourceId: code !== undefined && isGtin(code) ? code : String(food.fdcId),
    code,
    name: textOf(food.description) ?? '',
    language: 'en',
    brand: textOf(food.brandName) ?? textOf(food.brandOwner),
    category: textOf(objectOf(food.foodCategory).description) ?? textOf(food.brandedFoodCategory),
    nutrients: nutrientsOf(food),
    portions: portionsOf(food),
    url: `https://fdc.nal.usda.gov/food-details/${String(food.fdcId)}/nutrients`,
  };
}
