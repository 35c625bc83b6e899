/**
 * One-repetition maximum (https://en.wikipedia.org/wiki/One-repetition_maximum): estimates per log,
 * and the best per exercise and day bucket.
 */
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { createEnum } from '../../engine/declare/enums';
import type { GraphQLResolveInfo } from 'graphql';
import { REQUESTED_UNIT_NOTE } from '../mass-units';
import type { Row } from '../../database/rows';
import {
  columnIsOneOf,
  createParameterBinder,
  type ParameterBinder,
  type SqlCondition,
} from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { bucketSql, DayBucket, DayUnit, WEEKDAY_ENUM } from '../../engine/grouping/time-buckets';
import type { RowFields } from '../../engine/declare/fields';
import { DateScalar, DecimalScalar } from '../../engine/declare/scalars';
import { RowField } from '../../engine/read/row-field';
import { RequiresFields } from '../../engine/read/query-plan';
import { Exercise } from '../catalogue/exercise';
import { MASS_UNIT_CHOICES } from '../body/mass-unit';
import { WorkoutLog } from './workout-log';
import {
  BUCKET_UNIT_DESCRIPTION,
  FIRST_DAY_ARGUMENT_OPTIONS,
  createDayBucketMapper,
  SERIES_FIELD_EXTENSIONS,
  querySeries,
  SeriesArgs,
  loadExerciseSeries,
  type DateRangeSql,
} from '../queries';
import { ExerciseField } from './exercise-reference';
import { workoutLogsSql, WorkoutLogFilterField, type WhereInput } from './workout-logs';
import {
  MASS_CALCULATION_CROSS_REFERENCE,
  OUTPUT_UNIT_ARGUMENT_OPTIONS,
  roundedMassInUnitSql,
} from '../masses';

/**
 * Maximum number of repetitions for an estimate. Estimates from more repetitions are inaccurate
 * (Reynolds et al., J. Strength Cond. Res. 20 (3), 2006).
 */
const MAX_REPETITIONS_FOR_ESTIMATE = 12;

export const OneRepMaxFormula = createEnum(
  'OneRepMaxFormula',
  `Formulas for the one-rep max from a weight w lifted r times. Logged repetitions in reserve count as repetitions. A single repetition with none in reserve is the maximum itself; there is no estimate for more than ${MAX_REPETITIONS_FOR_ESTIMATE} repetitions. ${MASS_CALCULATION_CROSS_REFERENCE}`,
  {
    EPLEY: 'w × (1 + r / 30). Epley, Poundage Chart, Boyd Epley Workout, 1985.',
    BRZYCKI: 'w × 36 / (37 − r). Brzycki, Strength Testing, JOPERD 64 (1), 1993.',
    WATHAN:
      'w × 100 / (48.8 + 53.8 e^(−0.075 r)). Wathan, Load Assignment, in Baechle, Essentials of Strength Training and Conditioning, 1994.',
    LOMBARDI: 'w × r^0.10. Lombardi, Beginning Weight Training, 1989.',
    MAYHEW:
      'w × 100 / (52.2 + 41.9 e^(−0.055 r)). Mayhew and others, J. Appl. Sport Sci. Res. 6 (4), 1992.',
  },
);
export type OneRepMaxFormula = keyof typeof OneRepMaxFormula;

/**
 * SQL of the one-rep-max formulas, with weight `w` and repetitions `r`. Each formula divides last,
 * so that results that are exact as decimals remain exact.
 */
const ESTIMATE_SQL_BY_FORMULA: Record<OneRepMaxFormula, (w: string, r: string) => string> = {
  EPLEY: (w, r) => `${w} * (30 + ${r}) / 30`,
  BRZYCKI: (w, r) => `${w} * 36 / (37 - ${r})`,
  WATHAN: (w, r) => `${w} * 100 / (48.8 + 53.8 * exp(-0.075 * ${r}))`,
  LOMBARDI: (w, r) => `${w} * power(${r}, 0.10)`,
  MAYHEW: (w, r) => `${w} * 100 / (52.2 + 41.9 * exp(-0.055 * ${r}))`,
};

/**
 * Decimal places of a one-rep-max estimate. Without rounding, two equal estimates could differ in
 * their last digits, and the larger one would count as a new record.
 */
const ESTIMATE_DECIMAL_PLACES = 10;

/**
 * SQL: the estimated one-rep max in kg, from the columns `mass`, `reps` and `reserve` (repetitions
 * in reserve) of a table alias.
 */
export function oneRepMaxSql(formula: OneRepMaxFormula, alias: string): string {
  const [w, r] = [`${alias}."mass"`, `(${alias}."reps" + coalesce(${alias}."reserve", 0.0))`];

  return `CASE WHEN ${alias}."reps" >= 1 AND ${w} > 0 THEN
    CASE WHEN ${r} = 1 THEN ${w} WHEN ${r} <= ${MAX_REPETITIONS_FOR_ESTIMATE}
      THEN round(${ESTIMATE_SQL_BY_FORMULA[formula](w, r)}, ${ESTIMATE_DECIMAL_PLACES}) END END`;
}

export const FORMULA_ARGUMENT_OPTIONS = {
  defaultValue: OneRepMaxFormula.EPLEY,
  description: 'Formula of the estimate.',
};

@ArgsType()
class BestOneRepMaxArgs extends SeriesArgs {
  @WorkoutLogFilterField('Filters the logs.') declare where?: WhereInput;
  @Field(() => DayUnit, { defaultValue: DayUnit.DAY, description: BUCKET_UNIT_DESCRIPTION })
  declare by: DayUnit;
  @Field(() => WEEKDAY_ENUM.type, FIRST_DAY_ARGUMENT_OPTIONS) declare firstDay: number;
  @Field(() => OneRepMaxFormula, FORMULA_ARGUMENT_OPTIONS) declare formula: OneRepMaxFormula;
  @Field(() => MASS_UNIT_CHOICES.type, OUTPUT_UNIT_ARGUMENT_OPTIONS) declare unit: string;
}

@ObjectType({
  description: 'The best estimated one-rep max of an exercise in a period.',
  simpleResolvers: true,
})
export class BestOneRepMax {
  @Field(() => DayBucket, { description: 'The period.' }) declare bucket: DayBucket;
  @Field(() => ID, { description: 'Id of the exercise.' }) declare exerciseId: number;
  @Field(() => DecimalScalar, { description: `The estimated one-rep max, ${REQUESTED_UNIT_NOTE}.` })
  declare oneRepMax: string;
  @Field(() => DateScalar, {
    description: 'The day of the best set; the earliest of equally good sets.',
  })
  declare date: string;
  @Field(() => ID, { description: 'Id of the log of that set.' }) declare logId: number;
}

const createEstimateStatementBuilder =
  ({ where, by, firstDay, formula, unit }: BestOneRepMaxArgs, context: Context) =>
  (bind: ParameterBinder, dateRange: DateRangeSql, extraConditions: readonly SqlCondition[]) => ({
    select: `SELECT DISTINCT ON (e."start", e."exercise") e."start", e."exercise" AS "exerciseId",
        e."date", e."logId",
        ${roundedMassInUnitSql(unit, 'e."best"')} AS "oneRepMax"
      FROM (SELECT ${bucketSql(by, firstDay, 'l."date"', '')} AS "start", l."exercise", l."date",
        l."id" AS "logId",
        ${oneRepMaxSql(formula, 'l')} AS "best"
        FROM (${workoutLogsSql(where, context, bind, dateRange, extraConditions)}) l) e
      WHERE e."best" IS NOT NULL ORDER BY e."start", e."exercise", e."best" DESC, e."date", e."logId"`,
    orderTerms: ['"start"', '"exerciseId"'],
  });

@Resolver(() => BestOneRepMax)
@RowField('log', 'logId', () => WorkoutLog, {
  nullable: true,
  description: 'The best set; null once it is deleted.',
})
@ExerciseField()
export class BestOneRepMaxResolver {
  @Query(() => [BestOneRepMax], {
    description:
      'Estimated one-rep maxes of the viewer: the best estimate of each exercise in each day, week or other period that has one, oldest first.',
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  async bestOneRepMaxes(
    @Args(() => BestOneRepMaxArgs) args: BestOneRepMaxArgs,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    return (await querySeries(createEstimateStatementBuilder(args, context), args, context)).map(
      createDayBucketMapper(args.by),
    );
  }
}

@Resolver(() => Exercise)
export class ExerciseOneRepMaxResolver {
  @FieldResolver(() => [BestOneRepMax], {
    description: 'Like `Query.bestOneRepMaxes`, for this exercise.',
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  @RequiresFields(() => Exercise, 'id')
  async bestOneRepMaxes(
    @Root() { id }: RowFields<Exercise, 'id'>,
    @Args(() => BestOneRepMaxArgs) args: BestOneRepMaxArgs,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Row[]> {
    return (
      await loadExerciseSeries(
        createEstimateStatementBuilder(args, context),
        args,
        id,
        context,
        info,
      )
    ).map(createDayBucketMapper(args.by));
  }
}

@Resolver(() => WorkoutLog)
export class OneRepMaxResolver {
  @FieldResolver(() => DecimalScalar, {
    nullable: true,
    description: 'The estimated one-rep max; null if there is no estimate. Rounded to two places.',
  })
  @FieldExtensions({ exclusiveTo: 'graphql', cost: { weight: 0.5 } })
  @RequiresFields(() => WorkoutLog, 'id')
  async oneRepMax(
    @Root() log: RowFields<WorkoutLog, 'id'>,
    @Arg('formula', () => OneRepMaxFormula, FORMULA_ARGUMENT_OPTIONS) formula: OneRepMaxFormula,
    @Arg('unit', () => MASS_UNIT_CHOICES.type, OUTPUT_UNIT_ARGUMENT_OPTIONS) unit: string,
    @Ctx() context: Context,
  ): Promise<string | null> {
    const loadEstimates = async (ids: readonly unknown[]) => {
      const { bind, values } = createParameterBinder();
      const logsSql = workoutLogsSql(null, context, bind, undefined, [columnIsOneOf('id', ids)]);
      const rows = await context.session.query(
        `SELECT l."id", ${roundedMassInUnitSql(unit, oneRepMaxSql(formula, 'l'))} AS "value"
          FROM (${logsSql}) l`,
        values,
      );
      const estimateById = new Map(
        rows.map((row) => [row.id as unknown, row.value as string | null]),
      );

      return ids.map((id) => estimateById.get(id) ?? null);
    };

    return context.loaders
      .getOrCreate<string | null>(`one-rep max ${formula} ${unit}`, loadEstimates)
      .load(log.id);
  }
}
