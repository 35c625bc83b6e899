/**
 * Nutrition intake by day, week or another period, compared with the goals of the plan and the body
 * weight.
 */
import { Args, ArgsType, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { REQUESTED_UNIT_NOTE } from '../mass-units';
import { NOT_A_TIME_ZONE_MESSAGE } from '../../shared/messages';
import type { Row } from '../../database/rows';
import { hasReadScope, ownerConditions } from '../../engine/access/access';
import {
  createParameterBinder,
  whereClause,
  type ParameterBinder,
} from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { bucketSql, DayBucket, DayUnit, WEEKDAY_ENUM } from '../../engine/grouping/time-buckets';
import { invalidArgumentError } from '../../engine/declare/errors';
import { DecimalScalar } from '../../engine/declare/scalars';
import { RowField } from '../../engine/read/row-field';
import { NutritionalValues } from './values';
import { resolveTimeZone } from '../../shared/time-zones';
import { MASS_UNIT_CHOICES } from '../body/mass-unit';
import { Meal } from './meal';
import { MealItem } from './meal-item';
import { NutritionPlan } from './nutrition-plan';
import { UserProfile } from '../../accounts/user-profile';
import {
  BUCKET_UNIT_DESCRIPTION,
  FIRST_DAY_ARGUMENT_OPTIONS,
  createDayBucketMapper,
  SERIES_FIELD_EXTENSIONS,
  querySeries,
  SeriesArgs,
  type DateRangeSql,
} from '../queries';
import { bodyMassSql, OUTPUT_UNIT_ARGUMENT_OPTIONS, roundedMassInUnitSql } from '../masses';
import type { WhereInput } from '../training/workout-logs';
import {
  PORTION_JOINS_SQL,
  portionNutrientColumnsSql,
  nutrientColumnsSql,
  diaryEntriesSql,
  roundedNutrientColumnsSql,
  collectNutrients,
  DiaryEntryFilterField,
} from './portions';

const MAX_TOLERANCE_PERCENT = 100;

/**
 * Maximum number of meals with a time of day per plan. A query by meal compares each diary entry
 * with each of them.
 */
const MAX_TIMED_MEALS_PER_PLAN = 100;

@ArgsType()
class IntakeArgs extends SeriesArgs {
  @DiaryEntryFilterField declare where?: WhereInput;
  @Field(() => DayUnit, { defaultValue: DayUnit.DAY, description: BUCKET_UNIT_DESCRIPTION })
  declare by: DayUnit;
  @Field(() => WEEKDAY_ENUM.type, FIRST_DAY_ARGUMENT_OPTIONS) declare firstDay: number;
  @Field(() => String, {
    nullable: true,
    description:
      'IANA time zone that determines the day, such as `Europe/Berlin`; the time zone of the account if absent.',
  })
  declare timeZone?: string | null;
  @Field(() => Boolean, {
    defaultValue: false,
    description: `Returns one row per meal of the plan. An entry without a meal is assigned to the meal with the nearest time of day. A plan can have at most ${MAX_TIMED_MEALS_PER_PLAN} meals with a time.`,
  })
  declare perMeal: boolean;
  @Field(() => Boolean, {
    defaultValue: true,
    description:
      'Returns one row per plan. Otherwise the intake of all plans is added up, and goals are null, because they belong to a plan.',
  })
  declare perPlan: boolean;
  @Field(() => Int, { defaultValue: 5, description: 'Tolerance around the goal in percent.' })
  declare tolerance: number;
  @Field(() => MASS_UNIT_CHOICES.type, OUTPUT_UNIT_ARGUMENT_OPTIONS) declare unit: string;
}

@ObjectType({
  description: 'The nutrition intake in a period, of one plan or of all.',
  simpleResolvers: true,
})
export class NutritionIntake {
  @Field(() => DayBucket, { description: 'The period.' }) declare bucket: DayBucket;
  @Field(() => ID, {
    nullable: true,
    description: 'Id of the plan of the diary; null unless `perPlan`.',
  })
  declare planId: number | null;
  @Field(() => ID, {
    nullable: true,
    description: 'Id of the meal; null unless `perMeal`, and if no meal has a time.',
  })
  declare mealId: number | null;
  @Field(() => Int, {
    description: 'Number of days with entries. Means are computed over these days.',
  })
  declare days: number;
  @Field(() => NutritionalValues, { description: 'Sum of all entries.' })
  declare total: NutritionalValues;
  @Field(() => NutritionalValues, { description: 'Daily mean.' }) declare mean: NutritionalValues;
  @Field(() => NutritionalValues, {
    nullable: true,
    description:
      'Planned daily values of all meals of the plan, or of the meal; null if nothing is planned.',
  })
  declare goal: NutritionalValues | null;
  @Field(() => DecimalScalar, {
    nullable: true,
    description:
      'Daily energy goal in kcal: that of the plan, or of the profile if `hasGoalCalories`; with `perMeal` that of the meal.',
  })
  declare goalEnergy: string | null;
  @Field(() => Int, {
    description: 'Number of days with more energy than the goal plus the tolerance.',
  })
  declare daysOver: number;
  @Field(() => Int, {
    description: 'Number of days with less energy than the goal minus the tolerance.',
  })
  declare daysUnder: number;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: `Mean body weight, ${REQUESTED_UNIT_NOTE}.`,
  })
  declare bodyWeight: string | null;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Daily mean of protein in g per kg of body weight.',
  })
  declare proteinPerKg: string | null;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Daily mean of carbohydrates in g per kg of body weight.',
  })
  declare carbohydratesPerKg: string | null;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Daily mean of fat in g per kg of body weight.',
  })
  declare fatPerKg: string | null;
}

function nutrientGoalsSql(perMeal: boolean, context: Context, bind: ParameterBinder): string {
  return `SELECT m."plan_id", ${perMeal ? 'm."id"' : 'NULL::int'} AS "meal_id",
    ${nutrientColumnsSql((name) => `sum(x."${name}") AS "${name}"`)}
    FROM (SELECT t."meal_id", ${portionNutrientColumnsSql()}
      FROM "meal_item" t
      ${PORTION_JOINS_SQL}${whereClause(ownerConditions(MealItem, context), 't', bind)}) x
    JOIN "meal" m ON m."id" = x."meal_id"${whereClause(ownerConditions(Meal, context), 'm', bind)}
    GROUP BY 1, 2`;
}

function intakeSql(
  args: IntakeArgs & { timeZone: string },
  context: Context,
  bind: ParameterBinder,
  dateRange: DateRangeSql,
): string {
  const { where, by, firstDay, timeZone, perMeal, perPlan, tolerance, unit } = args;
  const localTimeSql = `(t."datetime" AT TIME ZONE ${bind(timeZone)}::text)`;
  const nearestMealIdSql = () => `(SELECT m."id"
      FROM "meal" m${whereClause([...ownerConditions(Meal, context), () => 'm."plan_id" = t."plan_id" AND m."time" IS NOT NULL'], 'm', bind)}
    ORDER BY abs(extract(epoch FROM m."time" - ${localTimeSql}::time)), m."id" LIMIT 1)`;
  const mealIdSql = perMeal ? `coalesce(t."meal_id", ${nearestMealIdSql()})` : 'NULL::int';
  const entriesSql = diaryEntriesSql(
    where,
    `, ${localTimeSql}::date AS "day", ${mealIdSql} AS "meal_id"`,
    context,
    bind,
  );
  const usesProfileGoal = !perMeal && hasReadScope(UserProfile, context);
  const profileConditions = () => [
    ...ownerConditions(UserProfile, context),
    () => 'p."has_goal_calories"',
  ];
  const profileCaloriesSql = usesProfileGoal
    ? `(SELECT f."calories" FROM "user_profile" f${whereClause(profileConditions(), 'f', bind)})`
    : 'NULL::int';
  const plansSql = `SELECT p."id", ${profileCaloriesSql} AS "calories"
    FROM "nutrition_plan" p${whereClause(ownerConditions(NutritionPlan, context), 'p', bind)}`;
  const energyGoalSql = 'coalesce(p."calories", g."energy")';
  const daysBeyondToleranceSql = (comparisonOperator: string, sign: string) =>
    `(count(*) FILTER (WHERE d."energy" ${comparisonOperator} ${energyGoalSql} *
      (1 ${sign} ${bind(tolerance)}::numeric / 100)))::int`;
  const perKgColumnSql = (name: string) =>
    `round(avg(d."${name}" / d."mass"), 2) AS "${name}PerKg"`;

  return `SELECT ${bucketSql(by, firstDay, 'd."day"', '')} AS "start", d."plan_id" AS "planId",
    d."meal_id" AS "mealId", count(*)::int AS "days",
    ${roundedNutrientColumnsSql('total', (name) => `sum(d."${name}")`)},
    ${roundedNutrientColumnsSql('mean', (name) => `avg(d."${name}")`)},
    ${roundedNutrientColumnsSql('goal', (name) => `avg(g."${name}")`)},
    round(avg(${energyGoalSql}), 2) AS "goalEnergy",
    ${daysBeyondToleranceSql('>', '+')} AS "daysOver",
    ${daysBeyondToleranceSql('<', '-')} AS "daysUnder",
    ${roundedMassInUnitSql(unit, 'avg(d."mass")')} AS "bodyWeight",
    ${['protein', 'carbohydrates', 'fat'].map(perKgColumnSql).join(', ')}
    FROM (SELECT ${perPlan ? 'e."plan_id"' : 'NULL::int AS "plan_id"'}, e."meal_id", e."day",
      ${nutrientColumnsSql((name) => `sum(e."${name}") AS "${name}"`)},
      ${bodyMassSql('e."day"', context, bind)} AS "mass"
      FROM (${entriesSql}) e WHERE ${dateRange.contains('e."day"')} GROUP BY 1, 2, 3) d
    ${perPlan ? 'JOIN' : 'LEFT JOIN'} (${plansSql}) p ON p."id" = d."plan_id"
    LEFT JOIN (${nutrientGoalsSql(perMeal, context, bind)}) g ON g."plan_id" = d."plan_id"
      AND g."meal_id" IS NOT DISTINCT FROM d."meal_id"
    GROUP BY 1, 2, 3`;
}

async function checkMealCount(context: Context): Promise<void> {
  const { bind, values } = createParameterBinder();
  const [largestPlan] = await context.session.query(
    `SELECT count(*)::int AS "meals"
      FROM "meal" m${whereClause([...ownerConditions(Meal, context), () => 'm."time" IS NOT NULL'], 'm', bind)}
      GROUP BY m."plan_id" ORDER BY 1 DESC LIMIT 1`,
    values,
  );
  const mealCount = (largestPlan?.meals ?? 0) as number;

  if (mealCount > MAX_TIMED_MEALS_PER_PLAN) {
    throw invalidArgumentError(
      'perMeal',
      `A plan can have at most ${MAX_TIMED_MEALS_PER_PLAN} meals with a time for this, but one of yours has ${mealCount}. Omit this argument.`,
    );
  }
}

@Resolver(() => NutritionIntake)
@RowField('plan', 'planId', () => NutritionPlan, {
  nullable: true,
  description: 'The plan of the diary; null unless `perPlan`.',
})
@RowField('meal', 'mealId', () => Meal, {
  nullable: true,
  description: 'The meal; null unless `perMeal`, and if no meal has a time.',
})
export class NutritionIntakeResolver {
  @Query(() => [NutritionIntake], {
    description:
      'Nutrition intake of the viewer by day, week or another period, oldest first: nutrients and goals of each plan, or of all plans together. Values are exact and rounded to two places at the end. The body weight is that of the weight entry nearest to the day, or the earlier of two equally near entries.',
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  async nutritionIntake(
    @Args(() => IntakeArgs) args: IntakeArgs,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    const { by, tolerance } = args;
    const timeZone = args.timeZone == null ? context.timeZone : resolveTimeZone(args.timeZone);

    if (timeZone === undefined) throw invalidArgumentError('timeZone', NOT_A_TIME_ZONE_MESSAGE);

    if (tolerance < 0 || tolerance > MAX_TOLERANCE_PERCENT) {
      throw invalidArgumentError('tolerance', `Must be from 0 to ${MAX_TOLERANCE_PERCENT}.`);
    }

    if (args.perMeal && !args.perPlan) {
      throw invalidArgumentError(
        'perPlan',
        'Must be true with `perMeal`: a meal belongs to a plan.',
      );
    }

    if (args.perMeal) await checkMealCount(context);
    const zonedArgs = { ...args, timeZone };
    const buildStatement = (bind: ParameterBinder, dateRange: DateRangeSql) => ({
      select: intakeSql(zonedArgs, context, bind, dateRange),
      orderTerms: ['"start"', '"planId"', '"mealId"'],
    });
    const rows = (await querySeries(buildStatement, zonedArgs, context)).map(
      createDayBucketMapper(by),
    );

    return rows.map((row) => ({
      ...row,
      total: collectNutrients(row, 'total'),
      mean: collectNutrients(row, 'mean'),
      goal: collectNutrients(row, 'goal'),
    }));
  }
}
