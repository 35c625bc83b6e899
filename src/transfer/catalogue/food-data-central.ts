/**
 * Foods of the USDA's FoodData Central, as in its JSON archives
 * (https://fdc.nal.usda.gov/download-datasets).
 */
import { isGtin } from '../../fitness/catalogue/barcode';
import { PORTION } from '../../fitness/catalogue/household-unit';
import { MAX_INTEGER } from '../../shared/bounds';
import { MAX_PORTION_AMOUNT, type FoodPortion, type SourceFood } from './food';
import { upperFirst } from '../../engine/declare/inflection';
import { CC0 } from './licenses';
import { KILOJOULES_PER_KILOCALORIE, numberOf, textOf } from './open-food-facts';

export const FOOD_DATA_CENTRAL = {
  name: 'FoodData Central',
  license: CC0,
  author: 'U.S. Department of Agriculture',
};

export const FOOD_DATA_CENTRAL_KEYS = ['FoundationFoods', 'SRLegacyFoods', 'BrandedFoods'];

/** Ids of nutrients; the first one that a food has counts. */
const NUTRIENT_IDS = {
  energy: [1008, 2047, 2048],
  protein: [1003],
  carbohydrates: [1005],
  sugar: [2000, 1063],
  fat: [1004, 1085],
  saturatedFat: [1258],
  fibres: [1079],
} as const;
const KILOJOULES_ID = 1062;
const SODIUM_ID = 1093;
const ALCOHOL_ID = 1018;
const MILLIGRAMS_PER_GRAM = 1_000;

type Json = Record<string, unknown>;

const objectOf = (value: unknown): Json => (value ?? {}) as Json;
const objectsOf = (value: unknown): Json[] => ((value ?? []) as unknown[]).map(objectOf);

function amountsOf({ foodNutrients }: Json): (id: number) => number | undefined {
  const amounts = new Map(
    objectsOf(foodNutrients).map(({ nutrient, amount }) => [
      objectOf(nutrient).id,
      numberOf(amount),
    ]),
  );

  return (id) => amounts.get(id);
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

function portionsOf(food: Json): FoodPortion[] {
  const { servingSize, servingSizeUnit, householdServingFullText: serving } = food;
  const portions = objectsOf(food.foodPortions).map(
    ({ amount, gramWeight, modifier, portionDescription, measureUnit }): FoodPortion => ({
      unit: measureOf(objectOf(measureUnit).name, modifier, portionDescription),
      amount: numberOf(amount) ?? 1,
      grams: Math.round(numberOf(gramWeight) ?? 0),
    }),
  );

  if (/^(?:g|grm|ml|mlt)$/i.test(String(servingSizeUnit ?? ''))) {
    portions.push({
      unit: measureOf(serving),
      amount: countIn(serving) ?? 1,
      grams: Math.round(numberOf(servingSize) ?? 0),
    });
  }

  return portions.filter(
    ({ amount, grams }) =>
      amount > 0 && amount <= MAX_PORTION_AMOUNT && grams > 0 && grams <= MAX_INTEGER,
  );
}

/** Throws a TypeError for a list that is none. */
export function foodOfFoodDataCentral(food: Json): SourceFood {
  const amountOf = amountsOf(food);
  const nutrients: SourceFood['nutrients'] = Object.fromEntries(
    Object.entries(NUTRIENT_IDS).map(([name, ids]) => [
      name,
      ids.map(amountOf).find((amount) => amount !== undefined),
    ]),
  );
  const [kilojoules, sodium] = [amountOf(KILOJOULES_ID), amountOf(SODIUM_ID)];

  if (kilojoules !== undefined) nutrients.energy ??= kilojoules / KILOJOULES_PER_KILOCALORIE;
  if (sodium !== undefined) nutrients.sodium = sodium / MILLIGRAMS_PER_GRAM;
  const code = textOf(food.gtinUpc);

  return {
    // Each version of a branded food has an id of its own, but all have its barcode.
    sourceId: code !== undefined && isGtin(code) ? code : String(food.fdcId),
    code,
    name: textOf(food.description) ?? '',
    language: 'en',
    brand: textOf(food.brandName) ?? textOf(food.brandOwner),
    category: textOf(objectOf(food.foodCategory).description) ?? textOf(food.brandedFoodCategory),
    nutrients,
    alcohol: amountOf(ALCOHOL_ID),
    portions: portionsOf(food),
    url: `https://fdc.nal.usda.gov/food-details/${String(food.fdcId)}/nutrients`,
  };
}
