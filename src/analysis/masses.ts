/** SQL for masses: the mass of a log whatever its unit, the body weight on a day, and conversion to the output unit. */
import { POUND } from '../contract/masses';
import { mayRead, scope } from '../core/access/access';
import { whereOf, type Bind } from '../core/access/conditions';
import type { Context } from '../core/context';
import { BODY_WEIGHT, entryFactor, preferenceFactor, unitFactor } from '../resources/kilograms';
import { MASS_UNIT } from '../resources/massunit';
import { WeightEntry } from '../resources/weightentry';

/** The full description, which the schema has once, at `trainingVolume`; others refer to it by MASSES_OF_VOLUME. */
export const ABOUT_MASSES =
  'Logs in kg and lb are converted before anything is worked out. In the unit Body Weight the mass is that of the body by the nearest weight entry, the earlier of two as near, with the number logged added to it in the unit that the user prefers. Other units are no masses.';

export const MASSES_OF_VOLUME = 'Masses are those of `trainingVolume`.';

export const IN_UNIT = { defaultValue: MASS_UNIT.type.KG, description: 'The unit of the masses.' };

export const shownIn = (unit: string, kilograms: string, places = 2): string =>
  `round(${unit === MASS_UNIT.type.KG ? kilograms : `(${kilograms}) / ${POUND}`}, ${places})`;

/** Body weight in kg by the entry nearest to `day`, a column of any table but `near`. NULL without entries, or if the viewer may not read them. */
export function bodyMass(day: string, context: Context, bind: Bind): string {
  if (!mayRead(WeightEntry, context)) return 'NULL::numeric';
  const nearestEntry = (comparison: string, direction: string) => {
    const where = whereOf([...scope(WeightEntry, context), () => `near."date" ${comparison} ${day}`], 'near', bind);
    return `(SELECT near."date", near."weight" * ${entryFactor('near')} AS "mass" FROM "weight_entry" near${where} ORDER BY near."date" ${direction} LIMIT 1)`;
  };
  return `(SELECT near."mass" FROM (${nearestEntry('<=', 'DESC')} UNION ALL ${nearestEntry('>', 'ASC')}) near ORDER BY abs(near."date" - ${day}), near."date" LIMIT 1)`;
}

/** Mass of a log in kg; NULL if its unit is not a mass. In the unit Body Weight the logged number is added to the body weight. */
export const liftedMass = (alias: string, context: Context, bind: Bind): string =>
  `CASE WHEN ${alias}."weight_unit_id" = ${BODY_WEIGHT}
    THEN ${bodyMass(`${alias}."date"`, context, bind)} + ${alias}."weight" * ${preferenceFactor(alias)}
    ELSE ${alias}."weight" * ${unitFactor(alias)} END`;
