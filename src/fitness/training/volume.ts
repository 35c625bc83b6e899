/**
 * Training volume (sets, hard sets, repetitions, tonnage) by week or another period: per muscle,
 * per exercise or in total.
 */
import {
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import type { GraphQLResolveInfo } from 'graphql';
import { REQUESTED_UNIT_NOTE } from '../mass-units';
import type { Row } from '../../database/rows';
import type { ParameterBinder, SqlCondition } from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { bucketSql, DayBucket, DayUnit, WEEKDAY_ENUM } from '../../engine/grouping/time-buckets';
import type { RowFields } from '../../engine/declare/fields';
import { DecimalScalar } from '../../engine/declare/scalars';
import { RowField } from '../../engine/read/row-field';
import { RequiresFields } from '../../engine/read/query-plan';
import { Exercise } from '../catalogue/exercise';
import { MASS_UNIT_CHOICES } from '../body/mass-unit';
import { Muscle } from '../catalogue/muscle';
import {
  BUCKET_UNIT_DESCRIPTION,
  FIRST_DAY_ARGUMENT_OPTIONS,
  createDayBucketMapper,
  SERIES_FIELD_EXTENSIONS,
  querySeries,
  SeriesArgs,
  loadExerciseSeries,
  MAX_SERIES_DAYS,
  upToEnd,
  withEmptyPeriodsSql,
  type DateRangeSql,
} from '../queries';
import { ExerciseField } from './exercise-reference';
import { workoutLogsSql, WorkoutLogFilterField, type WhereInput } from './workout-logs';
import {
  MASS_CALCULATION_DESCRIPTION,
  OUTPUT_UNIT_ARGUMENT_OPTIONS,
  roundedMassInUnitSql,
} from '../masses';

/**
 * SQL: whether a set is a hard set: 5 to 30 repetitions, with at most 4 in reserve or no logged
 * reserve.
 */
export const isHardSetSql = (alias: string): string =>
  `${alias}."reps" BETWEEN 5 AND 30 AND (${alias}."reserve" IS NULL OR ${alias}."reserve" <= 4)`;

const VOLUME_DESCRIPTION = `A hard set has 5 to 30 repetitions with at most 4 in reserve, or none logged. (Schoenfeld and others, Sports 9 (2), 2021; Baz-Valle and others, J. Strength Cond. Res. 35 (3), 2021) Tonnage is the sum of repetitions times mass. ${MASS_CALCULATION_DESCRIPTION}`;

export const VOLUME_CROSS_REFERENCE = 'Hard sets and tonnage are computed as in `trainingVolume`.';
const FRACTIONAL_SETS_DESCRIPTION =
  'A set counts fully for the primary muscles of its exercise and half for the secondary ones, as do its tonnage and repetitions. (Fractional sets: Pelland and others, The Resistance Training Dose Response, a meta-regression of 67 studies, SportRxiv, 2024)';

const EMPTY_PERIODS_DESCRIPTION = `Adds the periods without logs, since the first log up to \`until\`, of the ${MAX_SERIES_DAYS} days before it: for every muscle, or for each exercise since its own first log.`;

@ArgsType()
class MuscleVolumeArgs extends SeriesArgs {
  @WorkoutLogFilterField('Filters the logs.') declare where?: WhereInput;
  @Field(() => DayUnit, { defaultValue: DayUnit.WEEK, description: BUCKET_UNIT_DESCRIPTION })
  declare by: DayUnit;
  @Field(() => WEEKDAY_ENUM.type, FIRST_DAY_ARGUMENT_OPTIONS) declare firstDay: number;
  @Field(() => MASS_UNIT_CHOICES.type, OUTPUT_UNIT_ARGUMENT_OPTIONS) declare unit: string;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY_PERIODS_DESCRIPTION })
  declare empty: boolean;
}

@ArgsType()
class TrainingVolumeArgs extends MuscleVolumeArgs {
  @Field(() => Boolean, { defaultValue: false, description: 'Returns one row per exercise.' })
  declare perExercise: boolean;
}

@ObjectType({ description: 'The training volume of a muscle in a period.', simpleResolvers: true })
export class MuscleVolume {
  @Field(() => DayBucket, { description: 'The period.' }) declare bucket: DayBucket;
  @Field(() => ID, {
    nullable: true,
    description: 'Id of the muscle; null for exercises without known muscles.',
  })
  declare muscleId: number | null;
  @Field(() => DecimalScalar, {
    description: 'Number of hard sets; sets for secondary muscles count half.',
  })
  declare hardSets: string;
  @Field(() => DecimalScalar, {
    description: 'Number of sets; sets for secondary muscles count half.',
  })
  declare sets: string;
  @Field(() => DecimalScalar, {
    description: `Repetitions times mass, ${REQUESTED_UNIT_NOTE}; sets for secondary muscles count half.`,
  })
  declare tonnage: string;
}

@ObjectType({ description: 'The training volume of a period.', simpleResolvers: true })
export class TrainingVolume {
  @Field(() => DayBucket, { description: 'The period.' }) declare bucket: DayBucket;
  @Field(() => ID, {
    nullable: true,
    description: 'Id of the exercise; null unless `perExercise`.',
  })
  declare exerciseId: number | null;
  @Field(() => Int, { description: 'Number of days with logs.' }) declare days: number;
  @Field(() => Int, { description: 'Number of hard sets.' }) declare hardSets: number;
  @Field(() => Int, { description: 'Number of logged sets.' }) declare sets: number;
  @Field(() => DecimalScalar, {
    description: 'Number of repetitions. Seconds and other units are not counted.',
  })
  declare reps: string;
  @Field(() => DecimalScalar, { description: `Repetitions times mass, ${REQUESTED_UNIT_NOTE}.` })
  declare tonnage: string;
}

/**
 * SQL: totals of the workout logs by exercise and period. Muscles are joined to these totals
 * instead of the logs, of which there are far more.
 */
function exerciseTotalsSql(
  { where, by, firstDay }: MuscleVolumeArgs,
  context: Context,
  bind: ParameterBinder,
  dateRange: DateRangeSql,
): string {
  return `SELECT ${bucketSql(by, firstDay, 'l."date"', '')} AS "start", l."exercise",
    count(*)::int AS "sets",
    (count(*) FILTER (WHERE ${isHardSetSql('l')}))::int AS "hard",
    sum(l."reps" * l."mass") AS "tonnage"
    FROM (${workoutLogsSql(where, context, bind, dateRange)}) l GROUP BY 1, 2`;
}

/**
 * SQL: the muscles of the exercises in the CTE `x`, as primary or secondary. A muscle that is both
 * is primary.
 */
const EXERCISE_MUSCLES_SQL = `SELECT m."exercise_base_id" AS "exercise", m."muscle_id",
  bool_and(m."is_secondary") AS "secondary" FROM "exercise_base_muscle" m
  WHERE m."exercise_base_id" IN (SELECT x."exercise" FROM x) GROUP BY 1, 2`;

const emptyMusclePeriods = (logsSql: string) => ({
  keyColumns: ['muscleId'],
  keysSql: `SELECT m."id" AS "muscleId", l."first"
    FROM "muscle" m, (SELECT min(l."date") AS "first" FROM (${logsSql}) l) l
    WHERE l."first" IS NOT NULL`,
  emptyValuesSql: '0, 0, 0.00',
});

@Resolver(() => MuscleVolume)
@RowField('muscle', 'muscleId', () => Muscle, {
  nullable: true,
  description: 'The muscle; null for exercises without known muscles.',
})
export class MuscleVolumeResolver {
  @Query(() => [MuscleVolume], {
    description: `Training volume of the viewer per muscle: hard sets, sets and tonnage by week or another period, oldest first. ${FRACTIONAL_SETS_DESCRIPTION} ${VOLUME_CROSS_REFERENCE}`,
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  async muscleVolume(
    @Args(() => MuscleVolumeArgs) args: MuscleVolumeArgs,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    // Sets for secondary muscles count half. The sums are halved instead of each value, because
    // thousands of decimal multiplications would be slow.
    const fractionalSumSql = (column: string) =>
      `(coalesce(sum(x."${column}") FILTER (WHERE m."secondary" IS NOT TRUE),
        0) + coalesce(sum(x."${column}") FILTER (WHERE m."secondary"), 0) / 2.0)`;

    const buildStatement = (bind: ParameterBinder, dateRange: DateRangeSql) => {
      const select = `WITH x AS MATERIALIZED
          (${exerciseTotalsSql(args, context, bind, dateRange)})
        SELECT x."start", m."muscle_id" AS "muscleId",
          trim_scale(${fractionalSumSql('hard')}) AS "hardSets",
          trim_scale(${fractionalSumSql('sets')}) AS "sets",
        ${roundedMassInUnitSql(args.unit, fractionalSumSql('tonnage'))} AS "tonnage"
        FROM x LEFT JOIN (${EXERCISE_MUSCLES_SQL}) m USING ("exercise") GROUP BY 1, 2`;

      const orderTerms = ['"start"', '"muscleId"'];

      if (!args.empty) return { select, orderTerms };
      const periods = emptyMusclePeriods(
        workoutLogsSql(args.where, context, bind, upToEnd(dateRange)),
      );

      return {
        select: withEmptyPeriodsSql(select, periods, args, dateRange, context, bind),
        orderTerms,
      };
    };

    return (await querySeries(buildStatement, args, context)).map(createDayBucketMapper(args.by));
  }
}

const emptyExercisePeriods = (exerciseSql: string, logsSql: string) => ({
  keyColumns: ['exerciseId'],
  keysSql: `SELECT ${exerciseSql} AS "exerciseId", min(l."date") AS "first" FROM (${logsSql}) l GROUP BY 1`,
  emptyValuesSql: '0, 0, 0, 0, 0.00',
});

function createVolumeStatementBuilder(args: TrainingVolumeArgs, context: Context) {
  const { where, by, firstDay, perExercise, unit, empty } = args;

  return (
    bind: ParameterBinder,
    dateRange: DateRangeSql,
    extraConditions: readonly SqlCondition[],
  ) => {
    const logsOf = (range: DateRangeSql) =>
      workoutLogsSql(where, context, bind, range, extraConditions);
    const exerciseSql = perExercise ? 'l."exercise"' : 'NULL::int';
    const orderTerms = ['"start"', '"exerciseId"'];
    const select = `SELECT ${bucketSql(by, firstDay, 'l."date"', '')} AS "start",
        ${exerciseSql} AS "exerciseId",
      count(DISTINCT l."date")::int AS "days", count(*)::int AS "sets",
      (count(*) FILTER (WHERE ${isHardSetSql('l')}))::int AS "hardSets",
      coalesce(sum(l."reps"), 0)::numeric AS "reps",
      ${roundedMassInUnitSql(unit, 'coalesce(sum(l."reps" * l."mass"), 0)')} AS "tonnage"
      FROM (${logsOf(dateRange)}) l GROUP BY 1, 2`;

    if (!empty) return { select, orderTerms };
    const periods = emptyExercisePeriods(exerciseSql, logsOf(upToEnd(dateRange)));

    return {
      select: withEmptyPeriodsSql(select, periods, args, dateRange, context, bind),
      orderTerms,
    };
  };
}

@Resolver(() => TrainingVolume)
@ExerciseField('Null unless `perExercise`, and until it has been accepted by review.')
export class TrainingVolumeResolver {
  @Query(() => [TrainingVolume], {
    description: `Training volume of the viewer: sets, hard sets, repetitions and tonnage by week or another period, oldest first, in total or per exercise. ${VOLUME_DESCRIPTION}`,
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  async trainingVolume(
    @Args(() => TrainingVolumeArgs) args: TrainingVolumeArgs,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    return (await querySeries(createVolumeStatementBuilder(args, context), args, context)).map(
      createDayBucketMapper(args.by),
    );
  }
}

@Resolver(() => Exercise)
export class ExerciseVolumeResolver {
  @FieldResolver(() => [TrainingVolume], {
    description: 'Like `Query.trainingVolume`, for this exercise.',
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  @RequiresFields(() => Exercise, 'id')
  async trainingVolume(
    @Root() { id }: RowFields<Exercise, 'id'>,
    @Args(() => MuscleVolumeArgs) args: MuscleVolumeArgs,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Row[]> {
    const buildStatement = createVolumeStatementBuilder({ ...args, perExercise: true }, context);

    return (await loadExerciseSeries(buildStatement, args, id, context, info)).map(
      createDayBucketMapper(args.by),
    );
  }
}
