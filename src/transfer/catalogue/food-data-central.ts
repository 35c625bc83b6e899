/**
 * Foods of the USDA's FoodData Central, as in its JSON archives
 * (https://fdc.nal.usda.gov/download-datasets).
 */
import type { FoodPortion, SourceFood } from './food';
import { KILOJOULES_PER_KILOCALORIE, numberOf } from './open-food-facts';

export const FOOD_DATA_CENTRAL = {
  name: 'FoodData Central',
  license: {
    shortName: 'CC0',
    fullName: 'Creative Commons Zero 1.0',
    url: 'https://creativecommons.org/publicdomain/zero/1.0/',
  },
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

interface Food {
  fdcId?: unknown;
  description?: unknown;
  gtinUpc?: unknown;
  brandOwner?: unknown;
  brandName?: unknown;
  foodCategory?: unknown;
  brandedFoodCategory?: unknown;
  foodNutrients?: { nutrient?: { id?: unknown }; amount?: unknown }[];
  foodPortions?: {
    amount?: unknown;
    gramWeight?: unknown;
    modifier?: unknown;
    portionDescription?: unknown;
    measureUnit?: { name?: unknown };
  }[];
  servingSize?: unknown;
  servingSizeUnit?: unknown;
  householdServingFullText?: unknown;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

function amountsOf({ foodNutrients = [] }: Food): (id: number) => number | undefined {
  const amounts = new Map(
    foodNutrients.map(({ nutrient, amount }) => [nutrient?.id, numberOf(amount)]),
  );

  return (id) => amounts.get(id);
}

function portionsOf(food: Food): FoodPortion[] {
  const portions = (food.foodPortions ?? []).map((portion): FoodPortion => {
    const unit = textOf(portion.measureUnit?.name);

    return {
      unit:
        (unit === 'undetermined' ? undefined : unit) ??
        textOf(portion.modifier) ??
        textOf(portion.portionDescription) ??
        'serving',
      amount: numberOf(portion.amount) ?? 1,
      grams: Math.round(numberOf(portion.gramWeight) ?? 0),
    };
  });

  if (/^(?:g|grm|ml|mlt)$/i.test(String(food.servingSizeUnit ?? ''))) {
    portions.push({
      unit: textOf(food.householdServingFullText) ?? 'serving',
      amount: 1,
      grams: Math.round(numberOf(food.servingSize) ?? 0),
    });
  }

  return portions.filter(({ amount, grams }) => amount > 0 && grams > 0);
}

export function foodOfFoodDataCentral(food: Food): { food: SourceFood; alcohol?: number } {
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
  const category = food.foodCategory as { description?: unknown } | undefined;

  return {
    food: {
      sourceId: String(food.fdcId),
      code: textOf(food.gtinUpc),
      name: textOf(food.description) ?? '',
      language: 'en',
      brand: textOf(food.brandName) ?? textOf(food.brandOwner),
      category: textOf(category?.description) ?? textOf(food.brandedFoodCategory),
      nutrients,
      portions: portionsOf(food),
      url: `https://fdc.nal.usda.gov/food-details/${String(food.fdcId)}/nutrients`,
    },
    alcohol: amountOf(ALCOHOL_ID),
  };
}
