/**
 * GraphQL types of nutritional values: exact decimals, masses in grams. REST returns numbers instead, and the masses of a plan and its diary in the
 * unit system of the owner.
 */
import { Extensions, Field, ObjectType } from 'type-graphql';
import { toSnakeCase } from '../contract/casing';
import { upperFirst } from '../core/model/inflection';
import { DateScalar, DecimalScalar } from '../core/model/scalars';
import { ENERGY_KILOJOULE_FIELD, MACRONUTRIENTS, NUTRIENTS } from './values';

const NUTRIENT_DESCRIPTIONS: Record<
  (typeof NUTRIENTS)[number] | typeof ENERGY_KILOJOULE_FIELD,
  string
> = {
  energy: 'Energy in kcal.',
  protein: 'Protein in grams.',
  carbohydrates: 'Carbohydrates in grams.',
  carbohydratesSugar: 'Sugar content in grams.',
  fat: 'Fat in grams.',
  fatSaturated: 'Saturated fat content in fat in grams.',
  fibres: 'Fibres in grams.',
  sodium: 'Sodium in grams.',
  energyKilojoule: 'Energy in kJ.',
};

/** Class decorator that declares a decimal field for each name. */
const DecimalFields =
  (fieldNames: readonly string[], description: (name: string) => string): ClassDecorator =>
  ({ prototype }) => {
    for (const name of fieldNames)
      Field(() => DecimalScalar, { description: description(name) })(prototype, name);
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
export class MacroNutrients {}

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

const restSelection = (fieldNames: readonly string[]) =>
  fieldNames.map((name) => `${toSnakeCase(name)}: ${name}`).join(' ');

export const NUTRITIONAL_VALUES_SELECTION = restSelection(NUTRITIONAL_VALUE_NAMES);
export const PLAN_VALUES_SELECTION = `total { ${NUTRITIONAL_VALUES_SELECTION} } percent { ${restSelection(MACRONUTRIENTS)} } per_kg: perKg { ${restSelection(MACRONUTRIENTS)} }`;
export const DIARY_DAY_VALUES_SELECTION = restSelection(NUTRIENTS);
