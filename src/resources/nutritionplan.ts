import { Arg, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../core/model/fieldextensions';
import { Model } from 'sequelize-typescript';
import { NOT_A_DATE_FILTER_MESSAGE } from '../contract/messages';
import { todayIn } from '../core/model/clock';
import type { Context } from '../core/context';
import { createCrudResolver } from '../core/schema/crud';
import { invalidFieldsError } from '../core/model/errors';
import {
  ComputedField,
  DateField,
  defaultValues,
  BooleanField,
  Id,
  TextField,
  type RowFields,
} from '../core/model/fields';
import { Children, Owner, Ref } from '../core/model/relationfields';
import { hasReadScope } from '../core/access/access';
import { loadRowNearestInTime, loadChildFields, type NamedCondition } from '../core/read/loaders';
import { RequiresFields } from '../core/read/queryplan';
import { Resource } from '../core/model/resource';
import { parseDateParts } from '../nutrition/dateparts';
import {
  DIARY_DAY_VALUES_SELECTION,
  DiaryDay,
  PLAN_VALUES_SELECTION,
  PlanValues,
  NUTRITIONAL_VALUES_SELECTION,
} from '../nutrition/types';
import {
  formatNutritionalValues,
  macronutrientEnergyPercentages,
  NUTRIENTS,
  macronutrientsPerBodyWeight,
  sumNutritionalValues,
  type MassUnit,
  type ExactNutritionalValues,
} from '../nutrition/values';
import { DiaryEntry } from './diaryentry';
import { portionNutritionalValues } from './portionvalues';
import { Language } from './language';
import { Meal, mealNutritionalValues } from './meal';
import { UNIT_SYSTEM_CHOICES } from './unitsystem';
import { User } from './user';
import { WeightEntry } from './weightentry';

const ENGLISH_LANGUAGE_ID = 2;

const filterFieldNames = ['createdOn', 'languageId', 'name', 'hasGoalCalories'];

@Resource({
  restName: 'nutritionplan',
  apiRootPosition: 25,
  dumpModelName: 'nutrition.nutritionplan',
  description: 'A nutrition plan with its meals and diary. A user has at most one active plan.',
  isOwned: true,
  scopeGroup: 'nutrition',
  ordering: ['-createdOn'],
  uniqueFlag: { flagFieldName: 'isActive', parentFieldName: 'userId' },
  filters: filterFieldNames,
  views: {
    nutritionplaninfo: {
      apiRootPosition: 30,
      title: 'Nutrition Plan Info',
      description:
        'A nutrition plan with its meals, their items and the nutrition values. Read-only.',
      filters: filterFieldNames,
      graphqlSelection: `id language { ...language } creation_date: createdOn description: name
        get_nutritional_values: nutritionalValues { ${PLAN_VALUES_SELECTION} }
        meals { id plan: planId order: position time
          meal_items: items { id meal: mealId ingredient_obj: ingredient { ...ingredientinfo } ingredient: ingredientId
            weight_unit: ingredientUnit { id gram amount ingredient: ingredientId unit: householdUnitId } order: position amount }
          get_nutritional_values: nutritionalValues { ${NUTRITIONAL_VALUES_SELECTION} } }`,
    },
  },
})
export class NutritionPlan extends Model<NutritionPlan> {
  @Id() declare id: number;
  @DateField({
    label: 'Creation date',
    columnAndRestKey: 'creation_date',
    description: 'The day on which it was created.',
    readOnly: true,
    default: defaultValues.today,
  })
  declare createdOn: string;
  @TextField({
    label: 'Description',
    columnAndRestKey: 'description',
    helpText: 'A description of the goal of the plan, e.g. "Gain mass" or "Prepare for summer".',
    max: 80,
    allowBlank: true,
  })
  declare name: string;
  @BooleanField({
    label: 'Active',
    description: 'Whether this is the active plan. Activating it deactivates the others.',
    default: true,
    hiddenInRest: true,
    restSortable: false,
  })
  declare isActive: boolean;
  @BooleanField({
    label: 'Use daily calories',
    helpText: 'Compare the plan with the calories of the profile.',
    default: false,
  })
  declare hasGoalCalories: boolean;
  @Ref(() => Language, {
    label: 'Language',
    description: 'The language of the client that created the plan.',
    readOnly: true,
  })
  declare languageId: number;
  @Owner(() => User, { hiddenInRest: true }) declare userId: number;
  @ComputedField<string>(() => UNIT_SYSTEM_CHOICES.type, {
    label: 'Weight unit',
    restKey: 'weight_unit',
    description: 'The units that the owner prefers; totals and diary sums follow them.',
    hiddenInRest: true,
    exclusiveTo: 'rest',
    sql: (alias) =>
      `(SELECT p."weight_unit" FROM "user_profile" p WHERE p."user_id" = ${alias}."user_id")`,
  })
  declare unitSystem: string;
  @Children(() => Meal, 'planId', {
    isSavedWithParent: true,
    assumedSize: 5,
    description: 'The meals of the plan, ordered by time.',
  })
  declare meals: Meal[];
  @Children(() => DiaryEntry, 'planId', {
    isConnection: true,
    description: 'What the user has eaten.',
  })
  declare diaryEntries: DiaryEntry[];
}

type DiaryPlanRow = RowFields<NutritionPlan, 'id' | 'unitSystem'>;
type PlanRow = RowFields<NutritionPlan, 'id' | 'unitSystem' | 'createdOn' | 'userId'>;

/**
 * Returns the mass unit of a plan's nutritional values: ounces if the API is REST, which assumes the units of the profile, and the owner of the plan
 * prefers imperial units; otherwise grams.
 */
const massUnitOfPlan = (
  plan: RowFields<NutritionPlan, 'unitSystem'>,
  { policies }: Context,
): MassUnit => (policies.assumesProfileUnits && plan.unitSystem === 'lb' ? 'oz' : 'g');

const toDiaryDay = (date: string, entries: readonly ExactNutritionalValues[]) => ({
  ...formatNutritionalValues(sumNutritionalValues(entries)),
  date,
});

/** Computes the nutritional values of the diary entries of a plan, grouped by date. */
async function nutritionalValuesByDate(
  plan: DiaryPlanRow,
  context: Context,
  where?: NamedCondition,
): Promise<Map<string, ExactNutritionalValues[]>> {
  const diaryEntries = await loadChildFields(
    DiaryEntry,
    'planId',
    ['ingredientId', 'ingredientUnitId', 'eatenAt', 'amount'],
    plan.id,
    context,
    where,
  );
  const values = await Promise.all(
    diaryEntries.map((entry) =>
      portionNutritionalValues(entry, context, massUnitOfPlan(plan, context)),
    ),
  );
  const valuesByDay = new Map<string, ExactNutritionalValues[]>();
  // Timestamps are returned in the time zone of the server, so their prefix is the date in that zone.
  diaryEntries.forEach(({ eatenAt }, index) => {
    const date = eatenAt.slice(0, 'YYYY-MM-DD'.length);
    const valuesOfDay = valuesByDay.get(date);
    if (valuesOfDay) valuesOfDay.push(values[index]!);
    else valuesByDay.set(date, [values[index]!]);
  });
  return valuesByDay;
}

/** Returns the SQL condition for diary entries of one day in the time zone of the database session, which is that of the server. */
const eatenOnDayCondition = (date: string): NamedCondition => ({
  name: date,
  condition: (alias, bind) =>
    `${alias}."datetime" >= ${bind(date)}::date AND ${alias}."datetime" < ${bind(date)}::date + 1`,
});

/**
 * Nutrient sums of a day without diary entries: the integer 0 instead of the float 0.0, because the reference service starts each sum with the integer 0.
 */
const EMPTY_DAY_VALUES = Object.fromEntries(NUTRIENTS.map((name) => [name, 0n]));

async function planNutritionalValues(plan: PlanRow, context: Context) {
  const unit = massUnitOfPlan(plan, context);
  // Nutrients per kg of body weight: like the reference service, REST divides by the logged weight without converting its unit to kg.
  const bodyWeightFieldName = context.policies.assumesProfileUnits ? 'weight' : 'weightKg';
  const [nearest, meals] = await Promise.all([
    hasReadScope(WeightEntry, context)
      ? loadRowNearestInTime(WeightEntry, 'date', [bodyWeightFieldName], plan.createdOn, context)
      : null,
    loadChildFields(Meal, 'planId', ['id'], plan.id, context),
  ]);
  const total = sumNutritionalValues(
    await Promise.all(meals.map((meal) => mealNutritionalValues(meal.id, context, unit))),
  );
  return {
    total: formatNutritionalValues(total),
    percent: formatNutritionalValues(macronutrientEnergyPercentages(total, unit)),
    perKg: formatNutritionalValues(
      macronutrientsPerBodyWeight(total, nearest?.[bodyWeightFieldName]),
    ),
  };
}

@Resolver(() => NutritionPlan)
export default class NutritionPlanResolver extends createCrudResolver(NutritionPlan, {
  addDerivedValues(values, { request: { languages }, services: { catalogue } }, id) {
    if (id !== undefined) return;
    const languageIdByCode = new Map(
      catalogue.rowsOf(Language).map(({ shortName, id }) => [shortName, id]),
    );
    const preferredCode = languages.find((code) => languageIdByCode.has(code));
    values.languageId =
      (preferredCode && languageIdByCode.get(preferredCode)) ?? ENGLISH_LANGUAGE_ID;
  },
}) {
  @FieldResolver(() => PlanValues, { description: 'Nutritional values of all meals.' })
  @FieldExtensions({
    cost: { weight: 50 },
    action: { name: 'nutritional_values', graphqlSelection: PLAN_VALUES_SELECTION },
  })
  @RequiresFields(() => NutritionPlan, 'unitSystem', 'createdOn', 'userId')
  nutritionalValues(@Root() plan: PlanRow, @Ctx() context: Context) {
    return context.services.derivedValues.getOrCompute(
      `values ${plan.id}`,
      plan.userId,
      context,
      () => planNutritionalValues(plan, context),
    );
  }

  @FieldResolver(() => [DiaryDay], {
    description: 'The days of the diary that have entries, newest first.',
  })
  @FieldExtensions({
    exclusiveTo: 'rest',
    cost: { weight: 50 },
    action: { name: 'get_log_overview', graphqlSelection: `${DIARY_DAY_VALUES_SELECTION} date` },
  })
  @RequiresFields(() => NutritionPlan, 'unitSystem')
  async diaryDays(@Root() plan: DiaryPlanRow, @Ctx() context: Context) {
    const days = await nutritionalValuesByDate(plan, context);
    return [...days]
      .sort(([a], [b]) => (a < b ? 1 : -1))
      .map(([date, entries]) => toDiaryDay(date, entries));
  }

  @FieldResolver(() => DiaryDay, {
    description:
      'Nutritional values of one day of the diary, given as year, month and day; zeros without entries.',
  })
  @FieldExtensions({
    exclusiveTo: 'rest',
    action: { name: 'log_summary', graphqlSelection: DIARY_DAY_VALUES_SELECTION },
  })
  @RequiresFields(() => NutritionPlan, 'unitSystem')
  async logSummary(
    @Root() plan: DiaryPlanRow,
    @Arg('year', () => String, {
      nullable: true,
      description: 'An integer; today’s if absent or empty.',
    })
    year: string | null,
    @Arg('month', () => String, {
      nullable: true,
      description: 'An integer; today’s if absent or empty.',
    })
    month: string | null,
    @Arg('day', () => String, {
      nullable: true,
      description: 'An integer; today’s if absent or empty.',
    })
    day: string | null,
    @Ctx() context: Context,
  ) {
    const date = parseDateParts({ year, month, day }, todayIn(context.services.timeZone));
    if (date === undefined) throw invalidFieldsError({ date: [NOT_A_DATE_FILTER_MESSAGE] });
    const entries = [
      ...(await nutritionalValuesByDate(plan, context, eatenOnDayCondition(date))).values(),
    ].flat();
    return entries.length > 0 ? toDiaryDay(date, entries) : EMPTY_DAY_VALUES;
  }
}
