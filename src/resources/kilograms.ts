/** Computed fields with logged weights in kg. SQL converts the units, so that weights in different units can be filtered, ordered and charted. */
import { KILOGRAMS_NOTE, KILOGRAMS_PER_POUND } from '../contract/massunits';

/** Ids of the mass units in `weight_unit`. Other units, such as plates, are not masses. */
export const MASS_UNIT_IDS = { kg: 1, lb: 2 } as const;
export const BODY_WEIGHT_UNIT_ID = 3;

export const TRAINING_WEIGHT_UNIT_FIELD_OPTIONS = {
  label: 'Unit',
  default: MASS_UNIT_IDS.kg,
  defaultDescription: 'kg or lb as in the profile',
  defaultsToProfileUnit: true,
} as const;

const DECIMAL_PLACES = 3;

const ROUNDING_NOTE = `Rounded to grams; a pound is exactly ${KILOGRAMS_PER_POUND} kg.`;

/** SQL: factor that converts the weight unit of a row to kilograms; NULL if the unit is not a mass. */
export const kilogramsPerWeightUnitSql = (alias: string) =>
  `CASE ${alias}."weight_unit_id" WHEN ${MASS_UNIT_IDS.kg} THEN 1 WHEN ${MASS_UNIT_IDS.lb} THEN ${KILOGRAMS_PER_POUND} END`;

export const kilogramsPerBodyWeightUnitSql = (alias: string) =>
  `CASE ${alias}."unit" WHEN 'lb' THEN ${KILOGRAMS_PER_POUND} ELSE 1 END`;

/** SQL: factor that converts the unit in the profile of the row's owner to kilograms. */
export const kilogramsPerProfileUnitSql = (alias: string) =>
  `CASE WHEN EXISTS (SELECT FROM "user_profile" p WHERE p."user_id" = ${alias}."user_id" AND p."weight_unit" = 'lb') THEN ${KILOGRAMS_PER_POUND} ELSE 1 END`;

const kilogramFieldOptions = (description: string, factorSql: (alias: string) => string) =>
  ({
    label: 'Weight in kg',
    description: `${description} ${ROUNDING_NOTE}`,
    exclusiveTo: 'graphql',
    maxDigits: 8,
    decimalPlaces: DECIMAL_PLACES,
    sql: (alias: string) => `round(${alias}."weight" * ${factorSql(alias)}, ${DECIMAL_PLACES})`,
  }) as const;

/** Options of the computed field with the weight in kg, for rows that have a `weight_unit_id`. */
export const TRAINING_WEIGHT_KG_FIELD_OPTIONS = {
  ...kilogramFieldOptions(
    `The weight ${KILOGRAMS_NOTE}; null where the unit is neither kg nor lb.`,
    kilogramsPerWeightUnitSql,
  ),
  allowNull: true,
} as const;

export const BODY_WEIGHT_KG_FIELD_OPTIONS = kilogramFieldOptions(
  `The weight ${KILOGRAMS_NOTE}.`,
  kilogramsPerBodyWeightUnitSql,
);
