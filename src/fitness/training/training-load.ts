/**
 * Training load: exponentially weighted means over one week (acute) and over six weeks (chronic),
 * and their ratio.
 */
import { Args, ArgsType, Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { createEnum } from '../../engine/declare/enums';
import type { Row } from '../../database/rows';
import type { ParameterBinder } from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { DateScalar, DecimalScalar } from '../../engine/declare/scalars';
import { MASS_UNIT_CHOICES } from '../body/mass-unit';
import {
  lastDayOf,
  MAX_SERIES_DAYS,
  SERIES_FIELD_EXTENSIONS,
  querySeries,
  SeriesArgs,
  type DateRangeSql,
} from '../queries';
import { workoutLogsSql, WorkoutLogFilterField, type WhereInput } from './workout-logs';
import { OUTPUT_UNIT_ARGUMENT_OPTIONS, roundedMassInUnitSql } from '../masses';
import { VOLUME_CROSS_REFERENCE, isHardSetSql } from './volume';

const [ACUTE_DAYS, CHRONIC_DAYS] = [7, 42];

const LoadMeasure = createEnum('LoadMeasure', 'Measures of training load.', {
  TONNAGE: 'Repetitions times mass.',
  HARD_SETS: 'Sets that count as hard.',
});

type LoadMeasure = keyof typeof LoadMeasure;

@ArgsType()
class TrainingLoadArgs extends SeriesArgs {
  @WorkoutLogFilterField('Filters the logs.') declare where?: WhereInput;
  @Field(() => LoadMeasure, {
    defaultValue: LoadMeasure.TONNAGE,
    description: 'How load is computed.',
  })
  declare measure: LoadMeasure;
  @Field(() => MASS_UNIT_CHOICES.type, OUTPUT_UNIT_ARGUMENT_OPTIONS) declare unit: string;
}

@ObjectType({ description: 'The training load up to a day.', simpleResolvers: true })
export class TrainingLoad {
  @Field(() => DateScalar, { description: 'The day.' }) declare date: string;
  @Field(() => DecimalScalar, { description: 'Load of this day; 0 without training.' })
  declare load: string;
  @Field(() => DecimalScalar, { description: `Exponentially weighted mean of ${ACUTE_DAYS} days.` })
  declare acute: string;
  @Field(() => DecimalScalar, {
    description: `Exponentially weighted mean of ${CHRONIC_DAYS} days.`,
  })
  declare chronic: string;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Acute load divided by chronic load; null if the chronic load is 0.',
  })
  declare ratio: string | null;
}

@Resolver()
export class TrainingLoadResolver {
  @Query(() => [TrainingLoad], {
    description: `The load of each day since the first log between \`from\` and \`until\`, also of days without one, oldest first, and its exponentially weighted means, which start with the first log: in a mean of n days, each new day has the weight 2 / (n + 1). (Such weights: Williams and others, Br. J. Sports Med. 51 (3), 2017; ${ACUTE_DAYS} and ${CHRONIC_DAYS} days: Allen and Coggan, Training and Racing with a Power Meter, 2010) The ${MAX_SERIES_DAYS} days before \`until\` are covered. ${VOLUME_CROSS_REFERENCE}`,
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  trainingLoad(
    @Args(() => TrainingLoadArgs) args: TrainingLoadArgs,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    const { where, measure, unit } = args;
    const isTonnage = measure === LoadMeasure.TONNAGE;
    const tonnageSql = 'coalesce(sum(l."reps" * l."mass"), 0)';
    const hardSetsSql = `count(*) FILTER (WHERE ${isHardSetSql('l')})`;
    const dailyLoadSql = isTonnage ? tonnageSql : hardSetsSql;
    const movingMeanSql = (days: number) =>
      `"fitgraph_exponential_mean"(d."load", 2.0 / ${days + 1}) OVER (ORDER BY d."date")`;

    const roundedColumnSql = (column: string) => {
      const valueSql = `m."${column}"::numeric`;
      const roundedSql = isTonnage ? roundedMassInUnitSql(unit, valueSql) : `round(${valueSql}, 2)`;

      return `${roundedSql} AS "${column}"`;
    };

    const buildStatement = (bind: ParameterBinder, dateRange: DateRangeSql) => {
      const lastDaySql = `${bind(lastDayOf(args, context))}::date`;

      return {
        select: `WITH s AS (SELECT l."date", ${dailyLoadSql} AS "load"
          FROM (${workoutLogsSql(where, context, bind)}) l GROUP BY 1),
          b AS (SELECT greatest(min("date"), ${lastDaySql} - ${MAX_SERIES_DAYS}) AS "low",
          ${lastDaySql} AS "high" FROM s HAVING count(*) > 0),
          d AS (SELECT v."date", coalesce(s."load", 0) AS "load"
            FROM (SELECT "low" + generate_series(0, "high" - "low") AS "date" FROM b) v
            LEFT JOIN s USING ("date")),
          m AS (SELECT d.*, ${movingMeanSql(ACUTE_DAYS)} AS "acute",
          ${movingMeanSql(CHRONIC_DAYS)} AS "chronic" FROM d)
          SELECT m."date", ${roundedColumnSql('load')}, ${roundedColumnSql('acute')},
            ${roundedColumnSql('chronic')},
            round((m."acute" / nullif(m."chronic", 0))::numeric, 2) AS "ratio" FROM m
              WHERE ${dateRange.contains('m."date"')}`,
        orderTerms: ['"date"'],
      };
    };

    return querySeries(buildStatement, args, context);
  }
}
