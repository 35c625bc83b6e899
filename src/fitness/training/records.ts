/**
 * Personal records per exercise: mass, estimated one-rep max, repetitions with a mass, and daily
 * volume.
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
import { createEnum } from '../../engine/declare/enums';
import type { GraphQLResolveInfo } from 'graphql';
import { REQUESTED_UNIT_NOTE } from '../mass-units';
import type { Row } from '../../database/rows';
import type { ParameterBinder, SqlCondition } from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import type { RowFields } from '../../engine/declare/fields';
import { DateScalar, DecimalScalar } from '../../engine/declare/scalars';
import { RowField } from '../../engine/read/row-field';
import { RequiresFields } from '../../engine/read/query-plan';
import { Exercise } from '../catalogue/exercise';
import { MASS_UNIT_CHOICES } from '../body/mass-unit';
import { WorkoutLog } from './workout-log';
import { ExerciseField } from './exercise-reference';
import { workoutLogsSql, WorkoutLogFilterField, type WhereInput } from './workout-logs';
import { OUTPUT_UNIT_ARGUMENT_OPTIONS, roundedMassInUnitSql } from '../masses';
import { FORMULA_ARGUMENT_OPTIONS, OneRepMaxFormula, oneRepMaxSql } from './one-rep-max';
import {
  SERIES_FIELD_EXTENSIONS,
  querySeries,
  SeriesArgs,
  loadExerciseSeries,
  upToEnd,
  type DateRangeSql,
} from '../queries';

const RecordKind = createEnum('RecordKind', 'Kinds of records.', {
  WEIGHT: 'The mass lifted for at least one repetition.',
  ONE_REP_MAX: 'The estimated one-rep max.',
  REPETITIONS: 'Repetitions with the same mass. The first set with a mass is not a record.',
  VOLUME: 'Repetitions times mass, summed over a day.',
});

type RecordKind = keyof typeof RecordKind;

@ArgsType()
class PersonalRecordArgs extends SeriesArgs {
  @WorkoutLogFilterField('Filters the logs.') declare where?: WhereInput;
  @Field(() => [RecordKind], {
    nullable: true,
    description: 'Only records of these kinds; all if absent.',
  })
  declare kinds?: RecordKind[] | null;
  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Returns only records that have not been broken; without `from`, of all days.',
  })
  declare standing: boolean;
  @Field(() => OneRepMaxFormula, FORMULA_ARGUMENT_OPTIONS) declare formula: OneRepMaxFormula;
  @Field(() => MASS_UNIT_CHOICES.type, OUTPUT_UNIT_ARGUMENT_OPTIONS) declare unit: string;
}

@ObjectType({ description: 'A personal record.', simpleResolvers: true })
export class PersonalRecord {
  @Field(() => RecordKind, { description: 'The measure that was exceeded.' })
  declare kind: RecordKind;
  @Field(() => DateScalar, { description: 'The day of the record.' }) declare date: string;
  @Field(() => ID, { description: 'Id of the exercise.' }) declare exerciseId: number;
  @Field(() => DecimalScalar, {
    description: 'The value of the record: repetitions, or a mass in `unit`.',
  })
  declare value: string;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'The previous record; null for the first one.',
  })
  declare previous: string | null;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: `The mass of the set, ${REQUESTED_UNIT_NOTE}; null for VOLUME.`,
  })
  declare weight: string | null;
  @Field(() => Int, { nullable: true, description: 'The repetitions of the set; null for VOLUME.' })
  declare reps: number | null;
  @Field(() => ID, { nullable: true, description: 'Id of the log of the set; null for VOLUME.' })
  declare logId: number | null;
}

/**
 * SQL: two CTEs: `l` with the logs, and `c` with the candidates for records. Candidates with equal
 * exercise, kind and `at` compete for one record. `at` is the mass lifted for records of
 * repetitions, otherwise NULL.
 */
function recordCandidateCtes(
  { where, formula }: PersonalRecordArgs,
  context: Context,
  bind: ParameterBinder,
  dateRange: DateRangeSql,
  extraConditions: readonly SqlCondition[],
): string {
  const validSetsSql = `SELECT *
    FROM (${workoutLogsSql(where, context, bind, upToEnd(dateRange), extraConditions)}) s WHERE s."reps" >= 1
    AND s."mass" > 0`;
  const recordCandidatesSql = (kind: RecordKind, valueSql: string, atSql = 'NULL::numeric') =>
    `SELECT '${kind}' AS "kind", l."exercise", ${atSql} AS "at", l."date", l."id", l."mass", l."reps",
      ${valueSql} AS "value" FROM l`;

  return `l AS MATERIALIZED (${validSetsSql}),
    c AS (${recordCandidatesSql(RecordKind.WEIGHT, 'l."mass"')}
      UNION ALL ${recordCandidatesSql(RecordKind.ONE_REP_MAX, oneRepMaxSql(formula, 'l'))}
    UNION ALL ${recordCandidatesSql(RecordKind.REPETITIONS, 'l."reps"::numeric', 'l."mass"')}
    UNION ALL SELECT '${RecordKind.VOLUME}', l."exercise", NULL, l."date", NULL, NULL, NULL,
      sum(l."reps" * l."mass") FROM l GROUP BY l."exercise", l."date")`;
}

function createRecordStatementBuilder(args: PersonalRecordArgs, context: Context) {
  const { kinds, standing, unit } = args;

  const roundedColumnSql = (column: string) => {
    const massSql = roundedMassInUnitSql(unit, `r."${column}"`);

    return `CASE r."kind" WHEN '${RecordKind.REPETITIONS}' THEN r."${column}" ELSE ${massSql} END AS "${column}"`;
  };

  return (
    bind: ParameterBinder,
    dateRange: DateRangeSql,
    extraConditions: readonly SqlCondition[],
  ) => {
    const conditions = [
      dateRange.contains('r."date"'),
      'r."value" > coalesce(r."previous", 0)',
      `(r."kind" <> '${RecordKind.REPETITIONS}' OR r."previous" IS NOT NULL)`,
      ...(kinds ? [`r."kind" = ANY(${bind(kinds)})`] : []),
      ...(standing ? ['r."value" = r."best"'] : []),
    ];

    return {
      select: `WITH ${recordCandidateCtes(args, context, bind, dateRange, extraConditions)}
        SELECT r."kind", r."date", r."exercise" AS "exerciseId", r."id" AS "logId", r."reps",
          r."at",
        ${roundedMassInUnitSql(unit, 'r."mass"')} AS "weight", ${roundedColumnSql('value')},
        ${roundedColumnSql('previous')}
        FROM (SELECT c.*, max(c."value") OVER "before" AS "previous",
          max(c."value") OVER "ever" AS "best"
          FROM c WHERE c."value" IS NOT NULL
          WINDOW "ever" AS (PARTITION BY c."kind", c."exercise", c."at"),
            "before" AS ("ever" ORDER BY c."date", c."value" DESC,
            c."id" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) r
        WHERE ${conditions.join(' AND ')}`,
      orderTerms: ['"date"', '"exerciseId"', '"kind"', '"at"'],
    };
  };
}

/**
 * Includes all days by default if only unbroken records (`standing`) are requested, because these
 * can be of any age.
 */
const applyDefaultStart = (args: PersonalRecordArgs) => ({
  ...args,
  from: args.from ?? (args.standing ? '-infinity' : null),
});

@Resolver(() => PersonalRecord)
@RowField('log', 'logId', () => WorkoutLog, {
  nullable: true,
  description: 'The log of the set; null for VOLUME.',
})
@ExerciseField()
export class PersonalRecordResolver {
  @Query(() => [PersonalRecord], {
    description:
      'The personal records of the viewer in each exercise, oldest first. A day has at most one record of each kind, that of its best set.',
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  personalRecords(
    @Args(() => PersonalRecordArgs) args: PersonalRecordArgs,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    return querySeries(
      createRecordStatementBuilder(args, context),
      applyDefaultStart(args),
      context,
    );
  }
}

@Resolver(() => Exercise)
export class ExerciseRecordsResolver {
  @FieldResolver(() => [PersonalRecord], {
    description: 'Like `Query.personalRecords`, for this exercise.',
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  @RequiresFields(() => Exercise, 'id')
  personalRecords(
    @Root() { id }: RowFields<Exercise, 'id'>,
    @Args(() => PersonalRecordArgs) args: PersonalRecordArgs,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Row[]> {
    return loadExerciseSeries(
      createRecordStatementBuilder(args, context),
      applyDefaultStart(args),
      id,
      context,
      info,
    );
  }
}
