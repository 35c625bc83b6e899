/** Weights as masses, in SQL: what a log lifts whatever its unit, what the body weighs on a day, and how both are shown. */
import { POUND } from '../contract/masses';
import { mayRead, scope } from '../core/access/access';
import { whereOf, type Bind } from '../core/access/conditions';
import type { Context } from '../core/context';
import { BODY_WEIGHT, entryFactor, preferenceFactor, unitFactor } from '../resources/kilograms';
import { MASS_UNIT } from '../resources/massunit';
import { WeightEntry } from '../resources/weightentry';

/** Said once in the schema, at the volume; elsewhere that it is so there too. */
export const ABOUT_MASSES =
  'Logs in kg and lb are converted before anything is worked out. In the unit Body Weight the mass is that of the body by the nearest weight entry, the earlier of two as near, with the number logged added to it in the unit that the user prefers. Other units are no masses.';

export const MASSES_OF_VOLUME = 'Masses are those of `trainingVolume`.';

export const IN_UNIT = { defaultValue: MASS_UNIT.type.KG, description: 'The unit of the masses.' };

export const shownIn = (unit: string, kilograms: string, places = 2): string =>
  `round(${unit === MASS_UNIT.type.KG ? kilograms : `(${kilograms}) / ${POUND}`}, ${places})`;

/** Kilograms by the entry nearest to a day, a column of any table but `near`; null without one, and for whom it is not. */
export function bodyMass(day: string, context: Context, bind: Bind): string {
  if (!mayRead(WeightEntry, context)) return 'NULL::numeric';
  const side = (comparison: string, direction: string) => {
    const where = whereOf([...scope(WeightEntry, context), () => `near."date" ${comparison} ${day}`], 'near', bind);
    return `(SELECT near."date", near."weight" * ${entryFactor('near')} AS "mass" FROM "weight_entry" near${where} ORDER BY near."date" ${direction} LIMIT 1)`;
  };
  return `(SELECT near."mass" FROM (${side('<=', 'DESC')} UNION ALL ${side('>', 'ASC')}) near ORDER BY abs(near."date" - ${day}), near."date" LIMIT 1)`;
}

/** Kilograms of a log; null where its unit is no mass. */
export const liftedMass = (alias: string, context: Context, bind: Bind): string =>
  `CASE WHEN ${alias}."weight_unit_id" = ${BODY_WEIGHT}
    THEN ${bodyMass(`${alias}."date"`, context, bind)} + ${alias}."weight" * ${preferenceFactor(alias)}
    ELSE ${alias}."weight" * ${unitFactor(alias)} END`;
