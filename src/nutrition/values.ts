/**
 * Nutrition values as the reference service works them out (its contract, section 9 "Nutrition"), in exact decimals. An item is
 * converted and rounded before it is summed, so a total is the sum of what its items show. All rounding is half to even.
 */
import DecimalJs from 'decimal.js';
import { trimmed } from '../platform/reading';

const Decimal = DecimalJs.clone({ precision: 60, rounding: DecimalJs.ROUND_HALF_EVEN });
export type Decimal = DecimalJs;

export const NUTRIENTS = ['energy', 'protein', 'carbohydrates', 'carbohydratesSugar', 'fat', 'fatSaturated', 'fibres', 'sodium'] as const;
export const KILOJOULE = 'energyKilojoule';
export const MACROS = ['protein', 'carbohydrates', 'fat'] as const;

type Nutrient = (typeof NUTRIENTS)[number];
/** Of an ingredient, by 100 g, as the database has them; null counts as 0. */
export type Composition = Readonly<Record<Nutrient, string | number | null>>;
export type Values = Readonly<Record<Nutrient | typeof KILOJOULE, Decimal>>;
export type Macros = Readonly<Record<(typeof MACROS)[number], Decimal>>;

/** What a household unit of an ingredient weighs. */
export interface HouseholdMeasure {
  amount: string;
  gram: number;
}

const ZERO = new Decimal(0);
const PLACES = 2;

/** The reference multiplies with the binary double, a hair above 4.184, so that what would be a tie is rounded up. */
const KILOJOULES_PER_KILOCALORIE = new Decimal((4.184).toFixed(60));

/** The binary double here too. */
const POUNDS_PER_KILOGRAM = new Decimal((2.20462262).toFixed(60));
const OUNCES_PER_POUND = 16;
const CONVERSION_PLACES = 4;

export type MassUnit = 'g' | 'oz';

/** Energy of a gram, or of an ounce, in kcal; the reference's whole numbers. */
const KILOCALORIES: Record<MassUnit, Record<(typeof MACROS)[number], number>> = {
  g: { protein: 4, carbohydrates: 4, fat: 9 },
  oz: { protein: 113, carbohydrates: 113, fat: 225 },
};

const rounded = (value: Decimal) => value.toDecimalPlaces(PLACES);

const each = <K extends string, V>(names: readonly K[], value: (name: K) => V) =>
  Object.fromEntries(names.map((name) => [name, value(name)])) as Record<K, V>;

const ofMacros = (value: (name: (typeof MACROS)[number]) => Decimal): Macros => each(MACROS, value);

/** Grams, to four places, by way of kg, unrounded, and lb; the last two steps are rounded to four places. */
function ounces(grams: Decimal): Decimal {
  const step = (value: Decimal) => value.toDecimalPlaces(CONVERSION_PLACES);
  return step(step(step(grams).dividedBy(1000).times(POUNDS_PER_KILOGRAM)).times(OUNCES_PER_POUND));
}

/** Rounds, and adds the energy in kJ, which is worked out before the rounding. */
const withKilojoules = (value: (name: Nutrient) => Decimal): Values => ({
  ...each(NUTRIENTS, (name) => rounded(value(name))),
  [KILOJOULE]: rounded(value('energy').times(KILOJOULES_PER_KILOCALORIE)),
});

/** The unit's `gram` is multiplied by its `amount`, although it already is the weight of that amount: the reference does so. */
export function gramsOf(amount: string, measure: HouseholdMeasure | null): Decimal {
  const given = new Decimal(trimmed(amount));
  return measure ? given.times(measure.amount).times(measure.gram) : given;
}

/** Masses in the unit; energy is no mass. */
export const portion = (composition: Composition, grams: Decimal, unit: MassUnit = 'g'): Values =>
  withKilojoules((name) => {
    const content = composition[name];
    const value = new Decimal(content ?? 0).times(grams).dividedBy(100);
    // The sign is that of a value which is rounded to zero, not of zero itself.
    if (value.isZero()) return ZERO;
    return unit === 'g' || name === 'energy' ? value : ounces(value);
  });

/** Of rounded values; the energy in kJ is that of the summed kcal. */
export const sum = (list: readonly Values[]): Values =>
  withKilojoules((name) => list.reduce((total, values) => total.plus(values[name]), ZERO));

/** The part of the energy that comes from each macro-nutrient, in percent; 0 where there is no energy. */
export const energyShares = (total: Values, unit: MassUnit): Macros =>
  ofMacros((name) =>
    total.energy.isZero() ? ZERO : rounded(total[name].times(KILOCALORIES[unit][name]).dividedBy(total.energy).times(100)),
  );

/** By unit of body weight; 0 where no weight is known. */
export const perBodyWeight = (total: Values, weight: string | undefined): Macros =>
  ofMacros((name) => (weight === undefined ? ZERO : rounded(total[name].dividedBy(weight))));

/** With two places, and the sign of a negative value that is rounded to zero. */
export const asTexts = <K extends string>(values: Readonly<Record<K, Decimal>>) =>
  each(Object.keys(values) as K[], (name) => `${values[name].isNegative() ? '-' : ''}${values[name].abs().toFixed(PLACES)}`);
