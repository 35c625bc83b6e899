/** SQL for masses: the mass lifted in a logged set, the body weight on a day, and the conversion to the output unit. */
import { KILOGRAMS_PER_POUND } from '../contract/massunits';
import { hasReadScope, ownerConditions } from '../core/access/access';
import { whereClause, type ParameterBinder } from '../core/access/conditions';
import type { Context } from '../core/context';
import {
  BODY_WEIGHT_UNIT_ID,
  kilogramsPerBodyWeightUnitSql,
  kilogramsPerProfileUnitSql,
  kilogramsPerWeightUnitSql,
} from '../resources/kilograms';
import { MASS_UNIT_CHOICES } from '../resources/massunit';
import { WeightEntry } from '../resources/weightentry';

/** Schema description of how masses are computed. Other descriptions refer to it with MASS_CALCULATION_CROSS_REFERENCE. */
export const MASS_CALCULATION_DESCRIPTION =
  'Weights in kg and lb are converted first. In the unit Body Weight, the mass is the body weight of the nearest weight entry (the earlier of two equally near ones) plus the logged number in the preferred unit of the user. Other units are not masses.';

export const MASS_CALCULATION_CROSS_REFERENCE = 'Masses are computed as in `trainingVolume`.';

export const OUTPUT_UNIT_ARGUMENT_OPTIONS = {
  defaultValue: MASS_UNIT_CHOICES.type.KG,
  description: 'The unit of the masses.',
};

export const roundedMassInUnitSql = (
  unit: string,
  kilogramsSql: string,
  decimalPlaces = 2,
): string =>
  `round(${unit === MASS_UNIT_CHOICES.type.KG ? kilogramsSql : `(${kilogramsSql}) / ${KILOGRAMS_PER_POUND}`}, ${decimalPlaces})`;

/**
 * SQL: the body weight in kg of the weight entry nearest to the date `daySql`, an SQL expression. NULL if there is no entry, or if the access token may
 * not read weight entries. The SQL uses the table alias `near`, so `daySql` must not refer to another table with this alias.
 */
export function bodyMassSql(daySql: string, context: Context, bind: ParameterBinder): string {
  if (!hasReadScope(WeightEntry, context)) return 'NULL::numeric';
  const nearestWeightEntrySql = (comparisonOperator: string, direction: string) => {
    const where = whereClause(
      [
        ...ownerConditions(WeightEntry, context),
        () => `near."date" ${comparisonOperator} ${daySql}`,
      ],
      'near',
      bind,
    );
    return `(SELECT near."date", near."weight" * ${kilogramsPerBodyWeightUnitSql('near')} AS "mass" FROM "weight_entry" near${where} ORDER BY near."date" ${direction} LIMIT 1)`;
  };
  return `(SELECT near."mass" FROM (${nearestWeightEntrySql('<=', 'DESC')} UNION ALL ${nearestWeightEntrySql('>', 'ASC')}) near ORDER BY abs(near."date" - ${daySql}), near."date" LIMIT 1)`;
}

/**
 * SQL: the mass lifted in a logged set, in kg; NULL if its unit is not a mass. If the unit is Body Weight, the logged number is added to the body
 * weight.
 */
export const liftedMassSql = (alias: string, context: Context, bind: ParameterBinder): string =>
  `CASE WHEN ${alias}."weight_unit_id" = ${BODY_WEIGHT_UNIT_ID}
    THEN ${bodyMassSql(`${alias}."date"`, context, bind)} + ${alias}."weight" * ${kilogramsPerProfileUnitSql(alias)}
    ELSE ${alias}."weight" * ${kilogramsPerWeightUnitSql(alias)} END`;
