/**
 * SQL conversion of logged weights to kilograms, so that weights in different units can be
 * filtered, sorted and charted together.
 */
import { defaultValues } from '../../engine/declare/fields';
import type { CrossFieldRule } from '../../engine/declare/registry';
import type { Context } from '../../engine/context';
import { MASS_UNIT_CHOICES } from '../body/mass-unit';
import { KILOGRAMS_NOTE, KILOGRAMS_PER_POUND } from '../mass-units';

/**
 * Whether the API treats weights as having no unit of their own, like the reference service: they
 * are in the unit of the user's profile and are added without conversion.
 */
export const assumesProfileUnits = ({ api }: Pick<Context, 'api'>): boolean => api === 'rest';

/**
 * Ids of the mass units in the table `weight_unit`. Its other units, such as plates, are not
 * masses.
 */
export const MASS_UNIT_IDS = { kg: 1, lb: 2 } as const;
export const BODY_WEIGHT_UNIT_ID = 3;

export const TRAINING_WEIGHT_UNIT_FIELD_OPTIONS = {
  label: 'Unit',
  default: MASS_UNIT_IDS.kg,
  defaultDescription: 'kg or lb as in the profile',
  defaultExclusiveTo: 'rest',
} as const;

export const MASS_UNIT_FIELD_OPTIONS = {
  label: 'Unit of mass',
  description:
    'The unit of the number; in the weight unit Body Weight that of the added mass, by default that of the profile. Null if the number is no mass.',
  choices: MASS_UNIT_CHOICES,
  default: defaultValues.byTrigger,
  allowNull: true,
  helpText: 'Only with the unit Body Weight: that of the added mass, by default as in the profile.',
  hiddenInRest: true,
  hiddenOnPages: false,
  restSortable: false,
  max: 2,
} as const;

export const MASS_UNIT_RULE: CrossFieldRule = {
  fields: ['weightUnitId', 'massUnit'],
  message: 'The weight unit has another unit of mass.',
  isCausedBy: ({ massUnit }) => massUnit != null,
  violatedBy: (rows) =>
    rows.map(
      ({ weightUnitId, massUnit }) =>
        Number(weightUnitId) !== BODY_WEIGHT_UNIT_ID &&
        Number(weightUnitId) !== MASS_UNIT_IDS[massUnit as keyof typeof MASS_UNIT_IDS],
    ),
};

const DECIMAL_PLACES = 3;

const ROUNDING_NOTE = `Rounded to grams; a pound is exactly ${KILOGRAMS_PER_POUND} kg.`;

/** SQL: kilograms per weight unit of a row; NULL for units that are not masses. */
export const kilogramsPerWeightUnitSql = (alias: string) =>
  `CASE ${alias}."weight_unit_id" WHEN ${MASS_UNIT_IDS.kg} THEN 1 WHEN ${MASS_UNIT_IDS.lb} THEN ${KILOGRAMS_PER_POUND} END`;

export const kilogramsPerBodyWeightUnitSql = (alias: string) =>
  `CASE ${alias}."unit" WHEN 'lb' THEN ${KILOGRAMS_PER_POUND} ELSE 1 END`;

/** SQL: kilograms per unit of the mass that is added to the body in the unit Body Weight. */
export const kilogramsPerMassUnitSql = (alias: string) =>
  `CASE ${alias}."mass_unit" WHEN 'lb' THEN ${KILOGRAMS_PER_POUND} ELSE 1 END`;

const kilogramFieldOptions = (factorSql: (alias: string) => string, nullNote = '') =>
  ({
    label: 'Weight in kg',
    description: `The weight ${KILOGRAMS_NOTE}${nullNote}. ${ROUNDING_NOTE}`,
    unitNote: KILOGRAMS_NOTE,
    exclusiveTo: 'graphql',
    maxDigits: 8,
    decimalPlaces: DECIMAL_PLACES,
    sql: (alias: string) => `round(${alias}."weight" * ${factorSql(alias)}, ${DECIMAL_PLACES})`,
  }) as const;

/** Field options: a weight converted to kg, for tables with a column `weight_unit_id`. */
export const TRAINING_WEIGHT_KG_FIELD_OPTIONS = {
  ...kilogramFieldOptions(kilogramsPerWeightUnitSql, '; null where the unit is neither kg nor lb'),
  allowNull: true,
} as const;

export const BODY_WEIGHT_KG_FIELD_OPTIONS = kilogramFieldOptions(kilogramsPerBodyWeightUnitSql);
