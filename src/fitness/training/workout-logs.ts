/**
 * SQL of the workout logs that analyses read, with repetitions as numbers and weights as masses.
 */
import { Field } from 'type-graphql';
import { visibleRowConditions } from '../../engine/access/access';
import {
  whereClause,
  type ParameterBinder,
  type SqlCondition,
} from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { fromClause } from '../../engine/sql/expressions';
import { whereInputType } from '../../engine/sql/filters';
import { compileWhere } from '../../engine/sql/where';
import { WorkoutLog } from './workout-log';
import { REPETITIONS_UNIT_ID, UNTIL_FAILURE_UNIT_ID } from './summary';
import { liftedMassSql } from '../masses';
import type { DateRangeSql } from '../queries';

export type WhereInput = Record<string, unknown> | null | undefined;

export const WorkoutLogFilterField = (description: string): PropertyDecorator =>
  Field(() => whereInputType(WorkoutLog), { nullable: true, description });

/** SQL: the repetitions of a log or planned set; NULL for other units, such as seconds. */
export const repetitionsSql = (alias: string): string =>
  `CASE WHEN ${alias}."repetition_unit_id" IN (${REPETITIONS_UNIT_ID}, ${UNTIL_FAILURE_UNIT_ID})
    THEN ${alias}."reps" END`;

/**
 * SQL: selects the workout logs that the viewer may read. Columns: `id`, `date`, `exercise`,
 * `reps` (NULL for units such as seconds), `reserve` (repetitions in reserve), `mass` in kg.
 */
export function workoutLogsSql(
  where: WhereInput,
  context: Context,
  bind: ParameterBinder,
  dateRange?: DateRangeSql,
  extraConditions: readonly SqlCondition[] = [],
): string {
  const dateConditions: SqlCondition[] = dateRange
    ? [(alias) => dateRange.contains(`${alias}."date"`)]
    : [];
  const { conditions, joins } = compileWhere(WorkoutLog, where, context, [
    ...extraConditions,
    ...visibleRowConditions(WorkoutLog, context),
    ...dateConditions,
  ]);

  return `SELECT t."id", t."date", t."exercise_base_id" AS "exercise",
    ${repetitionsSql('t')} AS "reps",
    nullif(t."rir", '')::numeric AS "reserve", ${liftedMassSql('t', context, bind)} AS "mass"
    ${fromClause(WorkoutLog, joins, bind)}${whereClause(conditions, 't', bind)}`;
}
