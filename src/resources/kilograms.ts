/** Computed kilogram fields beside the logged weights. SQL computes them, so that weights in different units can be filtered, ordered and charted. */
import { IN_KILOGRAMS, POUND } from '../contract/masses';

/** Ids of the mass units in `weight_unit`. Other units, such as plates, are not masses. */
export const WEIGHTS = { kg: 1, lb: 2 } as const;
export const BODY_WEIGHT = 3;

const DECIMAL_PLACES = 3;

const ROUNDING_NOTE = `Rounded to grams; a pound is exactly ${POUND} kg.`;

/** SQL factor that converts the weight unit of a row to kilograms; NULL if the unit is not a mass. */
export const unitFactor = (alias: string) =>
  `CASE ${alias}."weight_unit_id" WHEN ${WEIGHTS.kg} THEN 1 WHEN ${WEIGHTS.lb} THEN ${POUND} END`;

/** SQL factor that converts the unit of a body weight entry to kilograms. */
export const entryFactor = (alias: string) => `CASE ${alias}."unit" WHEN 'lb' THEN ${POUND} ELSE 1 END`;

/** SQL factor that converts the unit in the profile of the row's owner to kilograms. */
export const preferenceFactor = (alias: string) =>
  `CASE WHEN EXISTS (SELECT FROM "user_profile" p WHERE p."user_id" = ${alias}."user_id" AND p."weight_unit" = 'lb') THEN ${POUND} ELSE 1 END`;

/** Options of a computed field: the column `weight` times an SQL factor. */
const kilogramField = (note: string, factor: (alias: string) => string) =>
  ({
    label: 'Weight in kg',
    note: `${note} ${ROUNDING_NOTE}`,
    only: 'graphql',
    digits: 8,
    places: DECIMAL_PLACES,
    sql: (alias: string) => `round(${alias}."weight" * ${factor(alias)}, ${DECIMAL_PLACES})`,
  }) as const;

/** Kilogram field of rows that have a `weight_unit_id`. */
export const byUnit = {
  ...kilogramField(`The weight ${IN_KILOGRAMS}; null where the unit is neither kg nor lb.`, unitFactor),
  null: true,
} as const;

/** Kilogram field of body weight entries. */
export const byEntry = kilogramField(`The weight ${IN_KILOGRAMS}.`, entryFactor);
