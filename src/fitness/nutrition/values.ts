/**
 * Nutritional values of portions and totals in exact decimals, computed as in the reference service
 * (test/system/contract/CONTRACT.md, section 9). Values are rounded (half to even) before they are
 * summed, so that a total equals the sum of the values shown.
 */
import DecimalJs from 'decimal.js';
import { Extensions, Field, ObjectType } from 'type-graphql';
import { toSnakeCase } from '../../shared/casing';
import { upperFirst } from '../../engine/declare/inflection';
import { DateScalar, DecimalScalar } from '../../engine/declare/scalars';

/** Nutrients, with their REST keys, which are also the columns of ingredients. */
export const NUTRIENT_REST_KEYS = {
  energy: 'energy',
  protein: 'protein',
  carbohydrates: 'carbohydrates',
  sugar: 'carbohydrates_sugar',
  fat: 'fat',
  saturatedFat: 'fat_saturated',
  fibres: 'fibres',
  sodium: 'sodium',
} as const;

type Nutrient = keyof typeof NUTRIENT_REST_KEYS;

export const NUTRIENTS = Object.keys(NUTRIENT_REST_KEYS) as readonly Nutrient[];

const ENERGY_KILOJOULE_FIELD = 'energyKilojoule';
const MACRONUTRIENTS = ['protein', 'carbohydrates', 'fat'] as const;

const NUTRIENT_DESCRIPTIONS: Record<Nutrient | typeof ENERGY_KILOJOULE_FIELD, string> = {
  energy: 'Energy in kcal.',
  protein: 'Protein in grams.',
  carbohydrates: 'Carbohydrates in grams.',
  sugar: 'Sugar in grams.',
  fat: 'Fat in grams.',
  saturatedFat: 'Saturated fat in grams.',
  fibres: 'Fibres in grams.',
  sodium: 'Sodium in grams.',
  energyKilojoule: 'Energy in kJ.',
};

/** Class decorator that declares a decimal field for each name. */
const DecimalFields =
  (fieldNames: readonly string[], description: (name: string) => string): ClassDecorator =>
  ({ prototype }) => {
    for (const name of fieldNames) {
      Field(() => DecimalScalar, { description: description(name) })(prototype, name);
    }
  };

const NUTRITIONAL_VALUE_NAMES = [...NUTRIENTS, ENERGY_KILOJOULE_FIELD] as const;
const nutrientDescription = (name: string) =>
  NUTRIENT_DESCRIPTIONS[name as keyof typeof NUTRIENT_DESCRIPTIONS];

const DECIMALS_AS_NUMBERS_EXTENSIONS = { decimalsAsNumbersInRest: true };

@ObjectType({ description: 'Energy and nutrients, rounded to two places.', simpleResolvers: true })
@Extensions(DECIMALS_AS_NUMBERS_EXTENSIONS)
@DecimalFields(NUTRITIONAL_VALUE_NAMES, nutrientDescription)
export class NutritionalValues {}

@ObjectType({
  description:
    'Energy and nutrients as strings with two decimal places, as REST returns them for a form.',
  simpleResolvers: true,
})
@DecimalFields(NUTRITIONAL_VALUE_NAMES, nutrientDescription)
export class FormNutritionalValues {}

@ObjectType({
  description: 'One number for each macronutrient, rounded to two places.',
  simpleResolvers: true,
})
@Extensions(DECIMALS_AS_NUMBERS_EXTENSIONS)
@DecimalFields(
  MACRONUTRIENTS,
  (name) => `${upperFirst(name)}; the unit is that of the parent field.`,
)
class MacroNutrients {}

@ObjectType({ description: 'Nutritional values of a plan.', simpleResolvers: true })
export class PlanValues {
  @Field(() => NutritionalValues, { description: 'Sum of all meals.' })
  declare total: NutritionalValues;

  @Field(() => MacroNutrients, {
    description: 'Share of the energy that comes from each macronutrient, in percent.',
  })
  declare percent: MacroNutrients;

  @Field(() => MacroNutrients, {
    description:
      'Grams of each macronutrient per kg of body weight: that of the weight entry nearest to the creation date of the plan; 0 without one.',
  })
  declare perKg: MacroNutrients;
}

@ObjectType({
  description: 'Sums of the diary of a plan on one day in the time zone of the server.',
  simpleResolvers: true,
})
@Extensions(DECIMALS_AS_NUMBERS_EXTENSIONS)
@DecimalFields(NUTRITIONAL_VALUE_NAMES, nutrientDescription)
export class DiaryDay {
  @Field(() => DateScalar, { description: 'The day in the time zone of the server.' })
  declare date: string;
}

export const NUTRIENTS_SELECTION = Object.entries(NUTRIENT_REST_KEYS)
  .map(([name, restKey]) => `${restKey}: ${name}`)
  .join(' ');
export const NUTRITIONAL_VALUES_SELECTION = `${NUTRIENTS_SELECTION} ${toSnakeCase(ENERGY_KILOJOULE_FIELD)}: ${ENERGY_KILOJOULE_FIELD}`;
const MACRONUTRIENTS_SELECTION = MACRONUTRIENTS.join(' ');

export const PLAN_VALUES_SELECTION = `total { ${NUTRITIONAL_VALUES_SELECTION} } percent { ${MACRONUTRIENTS_SELECTION} } per_kg: perKg { ${MACRONUTRIENTS_SELECTION} }`;

const Decimal = DecimalJs.clone({ precision: 60, rounding: DecimalJs.ROUND_HALF_EVEN });

type Decimal = DecimalJs;

/** Nutrients in 100 g of an ingredient, as the database returns them; null counts as 0. */
export type NutrientsPer100Grams = Readonly<Record<Nutrient, string | number | null>>;
export type ExactNutritionalValues = Readonly<
  Record<Nutrient | typeof ENERGY_KILOJOULE_FIELD, Decimal>
>;
type MacronutrientValues = Readonly<Record<(typeof MACRONUTRIENTS)[number], Decimal>>;

/** A household unit of an ingredient: `amount` units weigh `gram` grams. */
export interface HouseholdMeasure {
  amount: string;
  gram: number;
}

const ZERO = new Decimal(0);
const DECIMAL_PLACES = 2;

/**
 * Kilojoules per kilocalorie: the exact value of the floating-point number 4.184 in the reference
 * service. It exceeds the decimal 4.184 slightly, so ties are rounded up.
 */
const FLOAT_KILOJOULES_PER_KILOCALORIE = new Decimal((4.184).toFixed(60));

/**
 * Pounds per kilogram: the exact value of the floating-point number 2.20462262 in the reference
 * service.
 */
const FLOAT_POUNDS_PER_KILOGRAM = new Decimal((2.20462262).toFixed(60));
const OUNCES_PER_POUND = 16;
const CONVERSION_DECIMAL_PLACES = 4;

/** Unit of the masses of nutrients. */
export type NutrientMassUnit = 'g' | 'oz';

/**
 * Energy of each macronutrient in kcal per gram and per ounce, rounded as in the reference service.
 */
const KILOCALORIES_PER_MASS_UNIT: Record<
  NutrientMassUnit,
  Record<(typeof MACRONUTRIENTS)[number], number>
> = {
  g: { protein: 4, carbohydrates: 4, fat: 9 },
  oz: { protein: 113, carbohydrates: 113, fat: 225 },
};

const roundValue = (value: Decimal) => value.toDecimalPlaces(DECIMAL_PLACES);

const mapToRecord = <K extends string, V>(names: readonly K[], value: (name: K) => V) =>
  Object.fromEntries(names.map((name) => [name, value(name)])) as Record<K, V>;

const mapMacronutrients = (
  value: (name: (typeof MACRONUTRIENTS)[number]) => Decimal,
): MacronutrientValues => mapToRecord(MACRONUTRIENTS, value);

/**
 * Converts grams to ounces by way of kilograms and pounds, like the reference service. The grams,
 * the pounds and the ounces are rounded to four places.
 */
function gramsToOunces(grams: Decimal): Decimal {
  const roundConversion = (value: Decimal) => value.toDecimalPlaces(CONVERSION_DECIMAL_PLACES);

  const pounds = roundConversion(
    roundConversion(grams).dividedBy(1000).times(FLOAT_POUNDS_PER_KILOGRAM),
  );

  return roundConversion(pounds.times(OUNCES_PER_POUND));
}

/** Rounds all values and adds the energy in kJ, computed from unrounded kcal. */
const withKilojoules = (value: (name: Nutrient) => Decimal): ExactNutritionalValues => ({
  ...mapToRecord(NUTRIENTS, (name) => roundValue(value(name))),
  [ENERGY_KILOJOULE_FIELD]: roundValue(value('energy').times(FLOAT_KILOJOULES_PER_KILOCALORIE)),
});

/**
 * Converts an amount to grams. Like the reference service, multiplies `gram` by `amount`, although
 * `gram` already is the weight of that amount.
 */
export function amountInGrams(amount: string, measure: HouseholdMeasure | null): Decimal {
  const quantity = new Decimal(amount);

  return measure ? quantity.times(measure.amount).times(measure.gram) : quantity;
}

/** Computes the nutritional values of a portion. `unit` is the unit of the masses. */
export const computePortionNutrition = (
  per100Grams: NutrientsPer100Grams,
  grams: Decimal,
  unit: NutrientMassUnit = 'g',
): ExactNutritionalValues =>
  withKilojoules((name) => {
    const content = per100Grams[name];
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

/** Computes the percentage of the energy that comes from each macronutrient. */
export const macronutrientEnergyShares = (
  totals: ExactNutritionalValues,
  unit: NutrientMassUnit,
): MacronutrientValues =>
  mapMacronutrients((name) => {
    if (totals.energy.isZero()) return ZERO;
    const energy = totals[name].times(KILOCALORIES_PER_MASS_UNIT[unit][name]);

    return roundValue(energy.dividedBy(totals.energy).times(100));
  });

/** Computes the macronutrients per unit of body weight; 0 if the weight is unknown. */
export const macronutrientsPerBodyWeight = (
  totals: ExactNutritionalValues,
  bodyWeight: string | undefined,
): MacronutrientValues =>
  mapMacronutrients((name) =>
    bodyWeight === undefined ? ZERO : roundValue(totals[name].dividedBy(bodyWeight)),
  );

/** Formats values with two decimal places; negative values that round to zero keep their sign. */
export const formatNutritionalValues = <K extends string>(values: Readonly<Record<K, Decimal>>) =>
  mapToRecord(Object.keys(values) as K[], (name) => {
    const sign = values[name].isNegative() ? '-' : '';

    return sign + values[name].abs().toFixed(DECIMAL_PLACES);
  });
