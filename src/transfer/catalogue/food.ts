/** A food as its source describes it, and the rules by which impossible ones are refused. */
import { isGtin } from '../../fitness/catalogue/barcode';
import { MAX_PORTIONS } from '../../fitness/catalogue/ingredient-unit';
import { MAX_PART_GRAMS, MAX_PARTS } from '../../fitness/catalogue/recipe';
import type { RefusalReason } from '../../fitness/catalogue/refused-food';
import { NUTRIENTS } from '../../fitness/nutrition/values';
import { MAX_INTEGER } from '../../shared/bounds';
import {
  hasFields,
  isListOf,
  isName,
  isNumber,
  isOptional,
  isText,
  type Check,
  type Checked,
} from './checks';
import { isLicense } from './licenses';

/** In kcal, or in g, per 100 g. Alcohol is not stored, but has energy. */
export type SourceNutrients = Partial<Record<(typeof NUTRIENTS)[number] | 'alcohol', number>>;

const isGrams = isNumber(999.999);
const isPortion = hasFields({
  /** English name of the household unit, e.g. `Cup`. */
  unit: isName(200),

  /** Code of the language of the unit; that of the food if absent. */
  language: isOptional(isText(2)),

  /** Factor of `grams`, 1 if absent (test/system/contract/CONTRACT.md, section 9). */
  amount: isOptional(isNumber(999.99)),
  grams: isNumber(MAX_INTEGER),

  /** Of a recipe: the number of these units that it gives. */
  portions: isOptional(isNumber(MAX_PORTIONS)),
});
const isPart = hasFields({
  sourceName: isText(200),
  sourceId: isText(200),
  grams: isNumber(MAX_PART_GRAMS),
});

export type FoodPortion = Checked<typeof isPortion>;

/** Whether a value is a food that the catalogue can store. */
export const isStorableFood = hasFields({
  sourceName: isText(200),
  sourceId: isText(200),
  code: isOptional(isText(200)),
  name: isText(200),
  commonName: isOptional(isText(200)),
  brand: isOptional(isText(200)),
  category: isOptional(isText(100)),

  /** Code of the language of the name. */
  language: isText(2),
  license: isLicense,
  author: isOptional(isText(50)),
  url: isOptional(isText(200)),
  nutrients: hasFields({
    ...Object.fromEntries(NUTRIENTS.map((nutrient) => [nutrient, isOptional(isGrams)])),
    energy: isNumber(99_999),
    protein: isGrams,
    carbohydrates: isGrams,
    fat: isGrams,
  }) as Check<SourceNutrients>,
  portions: isListOf(isPortion),

  /** Of a recipe: foods that precede it. */
  parts: isOptional(isListOf(isPart, MAX_PARTS)),
});

export type SourceFood = Checked<typeof isStorableFood>;

/**
 * What the foods of a source have in common, unless they say otherwise. Readers of millions of foods
 * do not spread it into literals, which takes V8 fifty times as long as the names of its fields.
 */
export type FoodSource = Pick<SourceFood, 'sourceName' | 'license' | 'author'>;

const MAX_KILOCALORIES = 900;

/** Values are rounded, so parts may exceed their whole by this much, in g. */
const ROUNDING_GRAMS = 1;

/** Energy in kcal of a gram (Regulation (EU) No 1169/2011, Annex XIV). */
const KILOCALORIES_PER_GRAM = { protein: 4, carbohydrates: 4, fat: 9, fibres: 2, alcohol: 7 };

/** How far the energy may be from that of the nutrients: polyols and organic acids have less. */
const ENERGY_TOLERANCE = { share: 0.3, kilocalories: 30 };

const MIN_NAME_CHARACTERS = 3;

function isEnergyPlausible(energy: number, nutrients: SourceNutrients): boolean {
  let expected = 0;

  for (const [name, kilocalories] of Object.entries(KILOCALORIES_PER_GRAM)) {
    expected += kilocalories * (nutrients[name as keyof SourceNutrients] ?? 0);
  }

  const tolerance =
    ENERGY_TOLERANCE.kilocalories + ENERGY_TOLERANCE.share * Math.max(energy, expected);

  return energy <= MAX_KILOCALORIES && Math.abs(energy - expected) <= tolerance;
}

/** Why a food is refused, if it is. */
export function refusalReasonOf({ name, code, nutrients }: SourceFood): RefusalReason | undefined {
  const { energy = NaN, ...grams } = nutrients;
  const { protein = NaN, carbohydrates = NaN, sugar = 0, fat = NaN, saturatedFat = 0 } = grams;
  // Comparisons with an absent value, which is undefined, are false.
  const hasGrams = (condition: (value: number) => boolean) => Object.values(grams).some(condition);
  const macronutrients = protein + carbohydrates + fat;

  if ([...name].length < MIN_NAME_CHARACTERS) return 'nameless';
  if (code !== undefined && !isGtin(code)) return 'barcode';
  if (Number.isNaN(energy + macronutrients)) return 'incomplete';
  if (energy < 0 || hasGrams((value) => value < 0)) return 'negative';

  if (hasGrams((value) => value > 100) || macronutrients > 100 + ROUNDING_GRAMS) {
    return 'excessive';
  }

  if (sugar > carbohydrates + ROUNDING_GRAMS || saturatedFat > fat + ROUNDING_GRAMS) return 'part';

  return isEnergyPlausible(energy, grams) ? undefined : 'energy';
}
