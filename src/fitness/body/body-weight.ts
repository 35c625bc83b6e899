/**
 * Body-weight trend: an exponential moving average that smooths daily fluctuations, and the weekly
 * rate of change.
 */
import { Args, ArgsType, Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { REQUESTED_UNIT_NOTE } from '../mass-units';
import type { Row } from '../../database/rows';
import { ownerConditions } from '../../engine/access/access';
import { whereClause } from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { invalidArgumentError } from '../../engine/declare/errors';
import { DateScalar, DecimalScalar } from '../../engine/declare/scalars';
import { kilogramsPerBodyWeightUnitSql } from '../training/kilograms';
import { MASS_UNIT_CHOICES } from './mass-unit';
import { WeightEntry } from './weight-entry';
import { OUTPUT_UNIT_ARGUMENT_OPTIONS, roundedMassInUnitSql } from '../masses';
import { SERIES_FIELD_EXTENSIONS, querySeries, SeriesArgs } from '../queries';

const SMOOTHING_FACTOR = 0.1;
const MAX_RATE_PERIOD_DAYS = 3660;
const DAYS_PER_WEEK = 7;
const DECIMAL_PLACES = 3;

@ArgsType()
class TrendArgs extends SeriesArgs {
  @Field(() => Int, {
    defaultValue: 28,
    description: `Number of days up to each entry from which the rate is computed, from 2 to ${MAX_RATE_PERIOD_DAYS}.`,
  })
  declare days: number;
  @Field(() => MASS_UNIT_CHOICES.type, OUTPUT_UNIT_ARGUMENT_OPTIONS) declare unit: string;
}

@ObjectType({ description: 'The body weight on a day, and its trend.', simpleResolvers: true })
export class BodyWeight {
  @Field(() => DateScalar, { description: 'The day of the measurement.' }) declare date: string;
  @Field(() => DecimalScalar, { description: `The measured weight, ${REQUESTED_UNIT_NOTE}.` })
  declare weight: string;
  @Field(() => DecimalScalar, { description: `The smoothed weight, ${REQUESTED_UNIT_NOTE}.` })
  declare trend: string;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: `Change per week, negative for a loss, ${REQUESTED_UNIT_NOTE}; null for a single entry.`,
  })
  declare ratePerWeek: string | null;
}

@Resolver()
export class BodyWeightResolver {
  @Query(() => [BodyWeight], {
    description: `Body weights of the days from \`from\` to \`until\`, oldest first, with their trend, for which earlier ones count, too. The trend is an exponential moving average with a factor of 0.1 per entry, regardless of the days between. (Walker, The Hacker’s Diet, chapter “Signal and Noise”, 1991) The rate is the slope of the least-squares line through the entries of the last days.`,
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  bodyWeightTrend(@Args(() => TrendArgs) args: TrendArgs, @Ctx() context: Context): Promise<Row[]> {
    const { days, unit } = args;

    if (days < 2 || days > MAX_RATE_PERIOD_DAYS) {
      throw invalidArgumentError('days', `Must be from 2 to ${MAX_RATE_PERIOD_DAYS}.`);
    }

    const accessConditions = ownerConditions(WeightEntry, context);

    return querySeries(
      (bind, dateRange) => ({
        select: `SELECT x."date", ${roundedMassInUnitSql(unit, 'x."mass"')} AS "weight",
          ${roundedMassInUnitSql(unit, 'x."trend"::numeric', DECIMAL_PLACES)} AS "trend",
          ${roundedMassInUnitSql(unit, `x."slope"::numeric * ${DAYS_PER_WEEK}`, DECIMAL_PLACES)} AS
          "ratePerWeek"
          FROM (SELECT w.*, "fitgraph_exponential_mean"(w."mass", ${SMOOTHING_FACTOR}) OVER
            (ORDER BY w."date") AS "trend",
            regr_slope(w."mass", w."date" - date '2000-01-01') OVER (ORDER BY w."date"
              RANGE BETWEEN make_interval(days => ${bind(days - 1)}::int) PRECEDING
                AND CURRENT ROW) AS "slope"
            FROM (SELECT t."date", t."weight" * ${kilogramsPerBodyWeightUnitSql('t')} AS "mass"
              FROM "weight_entry" t${whereClause(accessConditions, 't', bind)}) w) x
          WHERE ${dateRange.contains('x."date"')}`,
        orderTerms: ['"date"'],
      }),
      args,
      context,
    );
  }
}
