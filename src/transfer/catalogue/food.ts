/** A food as its source describes it, and the rules by which impossible ones are refused. */
import { isGtin } from '../../fitness/catalogue/barcode';
import type { RefusalReason } from '../../fitness/catalogue/refused-food';
import type { NUTRIENTS } from '../../fitness/nutrition/values';
import type { SourceLicense } from './licenses';

type Nutrient = (typeof NUTRIENTS)[number];

export const MAX_PORTION_AMOUNT = 999;

export interface FoodPortion {
  /** English name of the household unit, e.g. `Cup`. */
  unit: string;

  /** Code of the language of the unit; that of the food if absent. */
  language?: string;

  /** How many of the unit weigh `grams`. */
  amount: number;
  grams: number;
}

export interface SourceFood {
  /** In an export, which contains foods of several sources, and their licences. */
  sourceName?: string;
  license?: SourceLicense;
  sourceId: string;
  code?: string;
  name: string;
  commonName?: string;
  brand?: string;
  category?: string;

  /** Code of the language of the name. */
  language: string;

  /** In kcal, or in g, per 100 g. */
  nutrients: Partial<Record<Nutrient, number>>;

  /** In g per 100 g. It is not stored, but has energy. */
  alcohol?: number;
  portions: FoodPortion[];
  author?: string;
  url?: string;
}

const MAX_KILOCALORIES = 900;

/** Values are rounded, so parts may exceed their whole by this much, in g. */
const ROUNDING_GRAMS = 1;

/** Energy in kcal of a gram (Regulation (EU) No 1169/2011, Annex XIV). */
const KILOCALORIES_PER_GRAM = { protein: 4, carbohydrates: 4, fat: 9, fibres: 2 };
const KILOCALORIES_PER_GRAM_OF_ALCOHOL = 7;

/** How far the energy may be from that of the nutrients: polyols and organic acids have less. */
const ENERGY_TOLERANCE = { share: 0.3, kilocalories: 30 };

const MIN_NAME_CHARACTERS = 3;

function isEnergyPlausible(nutrients: SourceFood['nutrients'], alcohol: number): boolean {
  const energy = nutrients.energy!;
  const expected =
    Object.entries(KILOCALORIES_PER_GRAM).reduce(
      (total, [name, kilocalories]) => total + kilocalories * (nutrients[name as Nutrient] ?? 0),
      0,
    ) +
    KILOCALORIES_PER_GRAM_OF_ALCOHOL * alcohol;
  const tolerance =
    ENERGY_TOLERANCE.kilocalories + ENERGY_TOLERANCE.share * Math.max(energy, expected);

  return energy <= MAX_KILOCALORIES && Math.abs(energy - expected) <= tolerance;
}

/** Why a food is refused, if it is. */
export function refusalReasonOf({
  name,
  code,
  nutrients,
  alcohol = 0,
}: SourceFood): RefusalReason | undefined {
  const { energy, ...grams } = nutrients;
  const { protein, carbohydrates, sugar = 0, fat, saturatedFat = 0 } = grams;
  // Comparisons with an absent value, which is undefined, are false.
  const hasGrams = (condition: (value: number) => boolean) => Object.values(grams).some(condition);

  if ([...name].length < MIN_NAME_CHARACTERS) return 'nameless';
  if (code !== undefined && !isGtin(code)) return 'barcode';

  if (
    energy === undefined ||
    protein === undefined ||
    carbohydrates === undefined ||
    fat === undefined
  ) {
    return 'incomplete';
  }

  if (energy < 0 || hasGrams((value) => value < 0)) return 'negative';

  if (hasGrams((value) => value > 100) || protein + carbohydrates + fat > 100 + ROUNDING_GRAMS) {
    return 'excessive';
  }

  if (sugar > carbohydrates + ROUNDING_GRAMS || saturatedFat > fat + ROUNDING_GRAMS) return 'part';

  return isEnergyPlausible(nutrients, alcohol) ? undefined : 'energy';
}
