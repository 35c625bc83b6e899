/**
 * Training intensity: the mass of a set as a percentage of the estimated one-repetition maximum.
 */
import { Arg, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { visibleRowConditions } from '../../engine/access/access';
import {
  createParameterBinder,
  whereClause,
  type SqlCondition,
} from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import type { RowFields } from '../../engine/declare/fields';
import { DecimalScalar } from '../../engine/declare/scalars';
import { RequiresFields } from '../../engine/read/query-plan';
import { WorkoutLog } from './workout-log';
import { workoutLogsSql } from './workout-logs';
import { FORMULA_ARGUMENT_OPTIONS, OneRepMaxFormula, oneRepMaxSql } from './one-rep-max';

/**
 * Decimal places of the intermediate rounding. It removes the tiny error of an estimate with
 * infinitely many decimals, which could otherwise change the final rounding.
 */
const INTERMEDIATE_DECIMAL_PLACES = 8;

@Resolver(() => WorkoutLog)
export class IntensityResolver {
  @FieldResolver(() => DecimalScalar, {
    nullable: true,
    description:
      'The mass as a percentage of the best estimated one-rep max of the exercise up to and including that day; null without one.',
  })
  @FieldExtensions({ exclusiveTo: 'graphql', cost: { weight: 2 } })
  @RequiresFields(() => WorkoutLog, 'id')
  async intensity(
    @Root() log: RowFields<WorkoutLog, 'id'>,
    @Arg('formula', () => OneRepMaxFormula, FORMULA_ARGUMENT_OPTIONS) formula: OneRepMaxFormula,
    @Ctx() context: Context,
  ): Promise<string | null> {
    const loadIntensities = async (workoutLogIds: readonly unknown[]) => {
      const { bind, values } = createParameterBinder();
      const idsParameter = bind(workoutLogIds);
      const sameExerciseCondition: SqlCondition = (alias) =>
        `${alias}."exercise_base_id" IN (SELECT i."exercise_base_id" FROM "workout_log"
            i${whereClause([() => `i."id" = ANY(${idsParameter})`, ...visibleRowConditions(WorkoutLog, context)], 'i', bind)})`;
      const logsSql = workoutLogsSql(null, context, bind, undefined, [sameExerciseCondition]);
      const rows = await context.session.query(
        `SELECT x."id", round(round(100 * x."mass" / x."best", ${INTERMEDIATE_DECIMAL_PLACES}),
          1) AS "value" FROM (SELECT l."id", l."mass",
          max(${oneRepMaxSql(formula, 'l')}) OVER (PARTITION BY l."exercise"
            ORDER BY l."date") AS "best"
          FROM (${logsSql}) l) x WHERE x."id" = ANY(${idsParameter})`,
        values,
      );
      const intensityById = new Map(
        rows.map((row) => [row.id as unknown, row.value as string | null]),
      );

      return workoutLogIds.map((id) => intensityById.get(id) ?? null);
    };

    return context.loaders
      .getOrCreate<string | null>(`intensity ${formula}`, loadIntensities)
      .load(log.id);
  }
}
