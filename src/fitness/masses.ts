/**
 * SQL for masses: the mass lifted in a logged set, the body weight on a day, and the conversion to
 * the output unit.
 */
import { KILOGRAMS_PER_POUND } from './mass-units';
import { hasReadScope, ownerConditions } from '../engine/access/access';
import { whereClause, type ParameterBinder } from '../engine/access/conditions';
import type { Context } from '../engine/context';
import {
  BODY_WEIGHT_UNIT_ID,
  kilogramsPerBodyWeightUnitSql,
  kilogramsPerMassUnitSql,
  kilogramsPerWeightUnitSql,
} from './training/kilograms';
import { MASS_UNIT_CHOICES } from './body/mass-unit';
import { WeightEntry } from './body/weight-entry';

/**
 * Describes in the schema how masses are computed. Other descriptions refer to it by
 * MASS_CALCULATION_CROSS_REFERENCE.
 */
export const MASS_CALCULATION_DESCRIPTION =
  'Weights in kg and lb are converted first. In the unit Body Weight, the mass is the body weight of the nearest weight entry (the earlier of two equally near ones) plus the logged number in `massUnit`. Other units are not masses.';

export const MASS_CALCULATION_CROSS_REFERENCE = 'Masses are computed as in `trainingVolume`.';

export const OUTPUT_UNIT_ARGUMENT_OPTIONS = {
  defaultValue: MASS_UNIT_CHOICES.type.KG,
  description: 'The unit of the masses.',
};

export const roundedMassInUnitSql = (
  unit: string,
  kilogramsSql: string,
  decimalPlaces = 2,
): string => {
  const isKilograms = unit === MASS_UNIT_CHOICES.type.KG;
  const massSql = isKilograms ? kilogramsSql : `(${kilogramsSql}) / ${KILOGRAMS_PER_POUND}`;

  return `round(${massSql}, ${decimalPlaces})`;
};

/**
 * SQL: the body weight in kg of the weight entry nearest to a day. NULL if the access token may not
 * read weight entries. `daySql` must not use the table alias `near`.
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

    return `(SELECT near."date", near."weight" * ${kilogramsPerBodyWeightUnitSql('near')} AS "mass"
      FROM "weight_entry" near${where} ORDER BY near."date" ${direction} LIMIT 1)`;
  };

  return `(SELECT near."mass" FROM (${nearestWeightEntrySql('<=', 'DESC')}
    UNION ALL ${nearestWeightEntrySql('>', 'ASC')}) near ORDER BY abs(near."date" - ${daySql}),
    near."date" LIMIT 1)`;
}

/**
 * SQL: the mass in kg lifted in a logged set. For the unit Body Weight, the logged number is added
 * to the body weight.
 */
export const liftedMassSql = (alias: string, context: Context, bind: ParameterBinder): string =>
  `CASE WHEN ${alias}."weight_unit_id" = ${BODY_WEIGHT_UNIT_ID}
    THEN ${bodyMassSql(`${alias}."date"`, context, bind)} + ${alias}."weight" *
      ${kilogramsPerMassUnitSql(alias)}
    ELSE ${alias}."weight" * ${kilogramsPerWeightUnitSql(alias)} END`;
