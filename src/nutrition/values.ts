/**
 * Nutritional values of portions and totals in exact decimals, computed as in the reference service (test/system/contract/CONTRACT.md, section 9). Items are
 * converted and rounded before they are summed, so that a total equals the sum of the values shown. All rounding is half to even.
 */
import DecimalJs from 'decimal.js';
import { pythonStrip } from '../platform/pythonscalars';

const Decimal = DecimalJs.clone({ precision: 60, rounding: DecimalJs.ROUND_HALF_EVEN });
export type Decimal = DecimalJs;

export const NUTRIENTS = [
  'energy',
  'protein',
  'carbohydrates',
  'carbohydratesSugar',
  'fat',
  'fatSaturated',
  'fibres',
  'sodium',
] as const;
export const ENERGY_KILOJOULE_FIELD = 'energyKilojoule';
export const MACRONUTRIENTS = ['protein', 'carbohydrates', 'fat'] as const;

type Nutrient = (typeof NUTRIENTS)[number];
/** Nutrients in 100 g of an ingredient, as the database returns them; null counts as 0. */
export type NutrientsPer100Grams = Readonly<Record<Nutrient, string | number | null>>;
export type ExactNutritionalValues = Readonly<
  Record<Nutrient | typeof ENERGY_KILOJOULE_FIELD, Decimal>
>;
export type MacronutrientValues = Readonly<Record<(typeof MACRONUTRIENTS)[number], Decimal>>;

/** A household unit of an ingredient: `amount` units weigh `gram` grams. */
export interface HouseholdMeasure {
  amount: string;
  gram: number;
}

const ZERO = new Decimal(0);
const DECIMAL_PLACES = 2;

/**
 * Kilojoules per kilocalorie: exact value of the floating-point number 4.184 of the reference service. It is slightly larger than the decimal 4.184, so
 * ties are rounded up.
 */
const KILOJOULES_PER_KILOCALORIE = new Decimal((4.184).toFixed(60));

/** Pounds per kilogram. The reference service uses the double 2.20462262; this is its exact decimal expansion, so that results are equal. */
const POUNDS_PER_KILOGRAM = new Decimal((2.20462262).toFixed(60));
const OUNCES_PER_POUND = 16;
const CONVERSION_DECIMAL_PLACES = 4;

export type MassUnit = 'g' | 'oz';

/** Energy of each macronutrient in kcal per gram or per ounce, as the integers that the reference service uses. */
const KILOCALORIES_PER_MASS_UNIT: Record<
  MassUnit,
  Record<(typeof MACRONUTRIENTS)[number], number>
> = {
  g: { protein: 4, carbohydrates: 4, fat: 9 },
  oz: { protein: 113, carbohydrates: 113, fat: 225 },
};

const roundValue = (value: Decimal) => value.toDecimalPlaces(DECIMAL_PLACES);

const recordOf = <K extends string, V>(names: readonly K[], value: (name: K) => V) =>
  Object.fromEntries(names.map((name) => [name, value(name)])) as Record<K, V>;

const macronutrientValuesOf = (
  value: (name: (typeof MACRONUTRIENTS)[number]) => Decimal,
): MacronutrientValues => recordOf(MACRONUTRIENTS, value);

/** Converts grams to kilograms, pounds and then ounces, like the reference service. All except the kilograms are rounded to four places. */
function gramsToOunces(grams: Decimal): Decimal {
  const roundStep = (value: Decimal) => value.toDecimalPlaces(CONVERSION_DECIMAL_PLACES);
  return roundStep(
    roundStep(roundStep(grams).dividedBy(1000).times(POUNDS_PER_KILOGRAM)).times(OUNCES_PER_POUND),
  );
}

/** Rounds all values and adds the energy in kJ, which is computed from unrounded kcal. */
const withKilojoules = (value: (name: Nutrient) => Decimal): ExactNutritionalValues => ({
  ...recordOf(NUTRIENTS, (name) => roundValue(value(name))),
  [ENERGY_KILOJOULE_FIELD]: roundValue(value('energy').times(KILOJOULES_PER_KILOCALORIE)),
});

/** Returns an amount in grams. Like the reference service, multiplies `gram` by `amount`, although `gram` already is the weight of that amount. */
export function gramsOfAmount(amount: string, measure: HouseholdMeasure | null): Decimal {
  const quantity = new Decimal(pythonStrip(amount));
  return measure ? quantity.times(measure.amount).times(measure.gram) : quantity;
}

/** Computes the nutritional values of a portion, with masses in `unit`. */
export const nutritionalValuesOfPortion = (
  composition: NutrientsPer100Grams,
  grams: Decimal,
  unit: MassUnit = 'g',
): ExactNutritionalValues =>
  withKilojoules((name) => {
    const content = composition[name];
    const value = new Decimal(content ?? 0).times(grams).dividedBy(100);
    // Negative values that round to zero keep their sign, but zero itself has none.
    if (value.isZero()) return ZERO;
    return unit === 'g' || name === 'energy' ? value : gramsToOunces(value);
  });

/** Sums rounded values. The energy in kJ is computed from the sum of the kcal. */
export const sumNutritionalValues = (
  summands: readonly ExactNutritionalValues[],
): ExactNutritionalValues =>
  withKilojoules((name) => summands.reduce((total, values) => total.plus(values[name]), ZERO));

/** Computes the percentage of the energy that comes from each macronutrient; 0 if there is no energy. */
export const macronutrientEnergyPercentages = (
  totals: ExactNutritionalValues,
  unit: MassUnit,
): MacronutrientValues =>
  macronutrientValuesOf((name) =>
    totals.energy.isZero()
      ? ZERO
      : roundValue(
          totals[name]
            .times(KILOCALORIES_PER_MASS_UNIT[unit][name])
            .dividedBy(totals.energy)
            .times(100),
        ),
  );

/** Computes the macronutrients per unit of body weight; 0 if the weight is unknown. */
export const macronutrientsPerBodyWeight = (
  totals: ExactNutritionalValues,
  bodyWeight: string | undefined,
): MacronutrientValues =>
  macronutrientValuesOf((name) =>
    bodyWeight === undefined ? ZERO : roundValue(totals[name].dividedBy(bodyWeight)),
  );

/** Formats values with two decimal places; negative values that round to zero keep their sign. */
export const formatNutritionalValues = <K extends string>(values: Readonly<Record<K, Decimal>>) =>
  recordOf(
    Object.keys(values) as K[],
    (name) =>
      `${values[name].isNegative() ? '-' : ''}${values[name].abs().toFixed(DECIMAL_PLACES)}`,
  );
