/** What nutrition values look like in GraphQL, and the selections that show them in REST. */
import { Field, Float, ObjectType, registerEnumType } from 'type-graphql';
import { snake } from '../contract/casing';
import { DateScalar, DecimalScalar } from '../core/model/scalars';
import { KILOJOULE, MACROS, NUTRIENTS } from './values';

export enum MassUnit {
  GRAM = 'g',
  OUNCE = 'oz',
}
registerEnumType(MassUnit, {
  name: 'MassUnit',
  description: 'The unit of masses in nutrition values.',
  valuesConfig: {
    GRAM: { description: 'Metric, for users who prefer kilograms.' },
    OUNCE: { description: 'Ounces, for users who prefer pounds.' },
  },
});

const MASS = 'in g unless a `unit` beside it says otherwise';
const DESCRIPTIONS: Record<(typeof NUTRIENTS)[number] | typeof KILOJOULE, string> = {
  energy: 'Energy in kcal.',
  protein: `Protein, ${MASS}.`,
  carbohydrates: `Carbohydrates, ${MASS}.`,
  carbohydratesSugar: `Sugar content in carbohydrates, ${MASS}.`,
  fat: `Fat, ${MASS}.`,
  fatSaturated: `Saturated fat content in fat, ${MASS}.`,
  fibres: `Fibres, ${MASS}.`,
  sodium: `Sodium, ${MASS}.`,
  energyKilojoule: 'Energy in kJ.',
};

/** A field for each name, all of one type. */
const Amounts =
  (names: readonly string[], type: () => object, describe: (name: string) => string): ClassDecorator =>
  ({ prototype }) => {
    for (const name of names) Field(type, { description: describe(name) })(prototype, name);
  };

const ALL = [...NUTRIENTS, KILOJOULE] as const;
const described = (name: string) => DESCRIPTIONS[name as keyof typeof DESCRIPTIONS];

@ObjectType({ description: 'Nutrition values, rounded to two places.', simpleResolvers: true })
@Amounts(ALL, () => Float, described)
export class NutritionalValues {}

@ObjectType({ description: 'Nutrition values as exact decimals with two places.', simpleResolvers: true })
@Amounts(ALL, () => DecimalScalar, described)
export class ExactNutritionalValues {}

@ObjectType({ description: 'A figure for each macro-nutrient, rounded to two places.', simpleResolvers: true })
@Amounts(MACROS, () => Float, (name) => `What comes from ${name}, as the field that shows this says.`)
export class MacroNutrients {}

@ObjectType({ description: 'What a nutrition plan amounts to.', simpleResolvers: true })
export class PlanValues {
  @Field(() => MassUnit, { description: 'The unit of the masses in `total` and `perKg`, as the owner of the plan prefers.' })
  declare unit: MassUnit;

  @Field(() => NutritionalValues, { description: 'All meals together.' })
  declare total: NutritionalValues;

  @Field(() => MacroNutrients, { description: 'The part of the energy that comes from each macro-nutrient, in percent.' })
  declare percent: MacroNutrients;

  @Field(() => MacroNutrients, {
    description:
      'The total of each macro-nutrient by body weight, that of the weight entry nearest to the creation date of the plan; 0 without one.',
  })
  declare perKg: MacroNutrients;
}

@ObjectType({ description: 'What the diary of a plan amounts to on one day of the zone of the server.', simpleResolvers: true })
export class DiaryDay extends NutritionalValues {
  @Field(() => DateScalar, { description: 'The day in the zone of the server.' })
  declare date: string;

  @Field(() => MassUnit, { description: 'The unit of the masses, as the owner of the plan prefers.' })
  declare unit: MassUnit;
}

const shown = (names: readonly string[]) => names.map((name) => `${snake(name)}: ${name}`).join(' ');

/** The selections of REST. */
export const VALUES = shown(ALL);
export const PLAN_VALUES = `total { ${VALUES} } percent { ${shown(MACROS)} } per_kg: perKg { ${shown(MACROS)} }`;
export const DAY_VALUES = shown(NUTRIENTS);
