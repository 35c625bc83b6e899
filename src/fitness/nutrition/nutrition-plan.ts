import { Arg, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { Model } from 'sequelize-typescript';
import { NOT_A_DATE_FILTER_MESSAGE } from '../../shared/messages';
import { todayIn } from '../../engine/declare/clock';
import type { Context } from '../../engine/context';
import { createCrudResolver } from '../../engine/schema/crud';
import { invalidArgumentError } from '../../engine/declare/errors';
import {
  ComputedField,
  DateField,
  defaultValues,
  BooleanField,
  Id,
  TextField,
  type RowFields,
} from '../../engine/declare/fields';
import { Children, Owner, Ref, Resource } from '../../engine/declare/resource';
import { hasReadScope } from '../../engine/access/access';
import {
  loadRowNearestToDay,
  loadChildFields,
  type NamedCondition,
} from '../../engine/read/loaders';
import { RequiresFields } from '../../engine/read/query-plan';
import {
  NUTRIENTS_SELECTION,
  DiaryDay,
  PLAN_VALUES_SELECTION,
  PlanValues,
  NUTRITIONAL_VALUES_SELECTION,
  formatNutritionalValues,
  macronutrientEnergyShares,
  NUTRIENTS,
  macronutrientsPerBodyWeight,
  sumNutritionalValues,
  type NutrientMassUnit,
  type ExactNutritionalValues,
} from './values';
import { parseDateParts } from '../../rest/drf/date-parts';
import { DiaryEntry } from './diary-entry';
import { loadPortionNutrition } from './portion-values';
import { assumesProfileUnits } from '../training/kilograms';
import { Language } from '../catalogue/language';
import { Meal, loadMealNutrition } from './meal';
import { UNIT_SYSTEM_CHOICES } from '../unit-system';
import { User } from '../../accounts/user';
import { WeightEntry } from '../body/weight-entry';
import { addToList } from '../../shared/multimap';

const ENGLISH_LANGUAGE_ID = 2;

const filterFieldNames = ['createdOn', 'languageId', 'name', 'hasGoalCalories'];

@Resource({
  restName: 'nutritionplan',
  inReference: { apiRootPosition: 25 },
  dumpModelName: 'nutrition.nutritionplan',
  description: 'A nutrition plan with its meals and diary. A user has at most one active plan.',
  isOwned: true,
  scopeGroup: 'nutrition',
  ordering: ['-createdOn'],
  historyFieldNames: ['diaryEntries'],
  uniqueFlag: { flagFieldName: 'isActive', parentFieldName: 'userId' },
  filters: filterFieldNames,
  views: {
    nutritionplaninfo: {
      inReference: { apiRootPosition: 30 },
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
    description: 'The meals of the plan, by position and time.',
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
 * Mass unit of a plan's nutritional values: ounces in REST for owners who prefer imperial units,
 * otherwise grams.
 */
const planMassUnit = (
  plan: RowFields<NutritionPlan, 'unitSystem'>,
  context: Context,
): NutrientMassUnit => (assumesProfileUnits(context) && plan.unitSystem === 'lb' ? 'oz' : 'g');

const toDiaryDay = (date: string, entries: readonly ExactNutritionalValues[]) => ({
  ...formatNutritionalValues(sumNutritionalValues(entries)),
  date,
});

/** Computes the nutritional values of the diary entries of a plan, grouped by date. */
async function loadNutritionByDate(
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
    diaryEntries.map((entry) => loadPortionNutrition(entry, context, planMassUnit(plan, context))),
  );
  const valuesByDay = new Map<string, ExactNutritionalValues[]>();

  // Timestamps are in the time zone of the server, so they begin with the date in that zone.
  diaryEntries.forEach(({ eatenAt }, index) => {
    addToList(valuesByDay, eatenAt.slice(0, 'YYYY-MM-DD'.length), values[index]!);
  });

  return valuesByDay;
}

/** SQL condition for the diary entries of one day in the time zone of the server. */
const eatenOnDayCondition = (date: string): NamedCondition => ({
  name: date,
  condition: (alias, bind) =>
    `${alias}."datetime" >= ${bind(date)}::date AND ${alias}."datetime" < ${bind(date)}::date + 1`,
});

/**
 * Values of a day without diary entries: the integer 0 instead of 0.0, as in the reference service.
 */
const EMPTY_DAY_VALUES = Object.fromEntries(NUTRIENTS.map((name) => [name, 0n]));

async function loadPlanNutrition(plan: PlanRow, context: Context) {
  const unit = planMassUnit(plan, context);
  // Like the reference service, REST divides by the logged weight without converting its unit to
  // kg.
  const bodyWeightFieldName = assumesProfileUnits(context) ? 'weight' : 'weightKg';

  const loadNearestWeightEntry = async () => {
    if (!hasReadScope(WeightEntry, context)) return null;

    return loadRowNearestToDay(WeightEntry, 'date', [bodyWeightFieldName], plan.createdOn, context);
  };

  const [nearestWeightEntry, meals] = await Promise.all([
    loadNearestWeightEntry(),
    loadChildFields(Meal, 'planId', ['id'], plan.id, context),
  ]);
  const total = sumNutritionalValues(
    await Promise.all(meals.map((meal) => loadMealNutrition(meal.id, context, unit))),
  );

  return {
    total: formatNutritionalValues(total),
    percent: formatNutritionalValues(macronutrientEnergyShares(total, unit)),
    perKg: formatNutritionalValues(
      macronutrientsPerBodyWeight(total, nearestWeightEntry?.[bodyWeightFieldName]),
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
    const preferredLanguageCode = languages.find((code) => languageIdByCode.has(code));

    values.languageId =
      (preferredLanguageCode && languageIdByCode.get(preferredLanguageCode)) ?? ENGLISH_LANGUAGE_ID;
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
      () => loadPlanNutrition(plan, context),
    );
  }

  @FieldResolver(() => [DiaryDay], {
    description: 'The days of the diary that have entries, newest first.',
  })
  @FieldExtensions({
    exclusiveTo: 'rest',
    cost: { weight: 50 },
    action: { name: 'get_log_overview', graphqlSelection: `${NUTRIENTS_SELECTION} date` },
  })
  @RequiresFields(() => NutritionPlan, 'unitSystem')
  async diaryDays(@Root() plan: DiaryPlanRow, @Ctx() context: Context) {
    const days = await loadNutritionByDate(plan, context);

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
    action: { name: 'log_summary', graphqlSelection: NUTRIENTS_SELECTION },
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
    const date = parseDateParts({ year, month, day }, todayIn(context.timeZone));

    if (date === undefined) throw invalidArgumentError('date', NOT_A_DATE_FILTER_MESSAGE);
    const entries = [
      ...(await loadNutritionByDate(plan, context, eatenOnDayCondition(date))).values(),
    ].flat();

    return entries.length > 0 ? toDiaryDay(date, entries) : EMPTY_DAY_VALUES;
  }
}
