/** Weights in kilograms beside what was written, worked out in SQL, so that lists can be compared, ordered and drawn whatever the unit. */
import { IN_KILOGRAMS, POUND } from '../contract/masses';

/** Rows of `weight_unit`; the other units, such as plates or minutes, are no masses. */
export const WEIGHTS = { kg: 1, lb: 2 } as const;
export const BODY_WEIGHT = 3;

const PLACES = 3;

const ROUNDED = `Rounded to grams; a pound is exactly ${POUND} kg.`;

/** Kilograms of one of the row's own unit; null where that is no mass. */
export const unitFactor = (alias: string) =>
  `CASE ${alias}."weight_unit_id" WHEN ${WEIGHTS.kg} THEN 1 WHEN ${WEIGHTS.lb} THEN ${POUND} END`;

/** Kilograms of one of the unit in which a body weight was logged. */
export const entryFactor = (alias: string) => `CASE ${alias}."unit" WHEN 'lb' THEN ${POUND} ELSE 1 END`;

/** Kilograms of one of the unit that the owner prefers. */
export const preferenceFactor = (alias: string) =>
  `CASE WHEN EXISTS (SELECT FROM "user_profile" p WHERE p."user_id" = ${alias}."user_id" AND p."weight_unit" = 'lb') THEN ${POUND} ELSE 1 END`;

/** A field of the mass of `weight` in kilograms, `factor` of it in SQL. */
const kilograms = (note: string, factor: (alias: string) => string) =>
  ({
    label: 'Weight in kg',
    note: `${note} ${ROUNDED}`,
    only: 'graphql',
    digits: 8,
    places: PLACES,
    sql: (alias: string) => `round(${alias}."weight" * ${factor(alias)}, ${PLACES})`,
  }) as const;

/** By the row's own unit. */
export const byUnit = {
  ...kilograms(`The weight ${IN_KILOGRAMS}; null where the unit is neither kg nor lb.`, unitFactor),
  null: true,
} as const;

/** By the unit of a body weight. */
export const byEntry = kilograms(`The weight ${IN_KILOGRAMS}.`, entryFactor);
