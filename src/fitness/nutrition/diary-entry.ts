import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { Model } from 'sequelize-typescript';
import { ownerConditions } from '../../engine/access/access';
import { columnIsOneOf, createParameterBinder, whereClause } from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { createCrudResolver } from '../../engine/schema/crud';
import {
  DecimalField,
  defaultValues,
  Id,
  DateTimeField,
  TextField,
} from '../../engine/declare/fields';
import type { CrossFieldRule } from '../../engine/declare/registry';
import { Owner, Ref, Resource } from '../../engine/declare/resource';
import { RequiresFields } from '../../engine/read/query-plan';
import { NutritionalValues, NUTRITIONAL_VALUES_SELECTION, formatNutritionalValues } from './values';
import { Ingredient } from '../catalogue/ingredient';
import { loadPortionNutrition, type Portion } from './portion-values';
import { IngredientUnit } from '../catalogue/ingredient-unit';
import { Meal } from './meal';
import { NutritionPlan } from './nutrition-plan';
import {
  INGREDIENT_UNIT_FIELD_OPTIONS,
  UNIT_BELONGS_TO_INGREDIENT_RULE,
} from './unit-of-ingredient';
import { User } from '../../accounts/user';

const MEAL_BELONGS_TO_PLAN_RULE: CrossFieldRule = {
  fields: ['planId', 'mealId'],
  message: 'The meal is not one of the plan.',
  async violatedBy(rows, context) {
    const mealIds = rows.map(({ mealId }) => Number(mealId));
    const { bind, values } = createParameterBinder();
    const where = whereClause(
      [columnIsOneOf('id', mealIds), ...ownerConditions(Meal, context)],
      't',
      bind,
    );
    const meals = await context.session.query(
      `SELECT t."id", t."plan_id" FROM "meal" t${where}`,
      values,
    );
    const planIdByMealId = new Map(
      meals.map((meal) => [meal.id as number, meal.plan_id as number]),
    );

    return rows.map(({ planId }, index) => planIdByMealId.get(mealIds[index]!) !== Number(planId));
  },
};

@Resource({
  restName: 'nutritiondiary',
  inReference: { apiRootPosition: 31 },
  title: 'Log Item',
  dumpModelName: 'nutrition.logitem',
  description: 'An entry of the food diary: an ingredient, the amount eaten and the time.',
  pluralName: 'diaryEntries',
  isOwned: true,
  hasBulkMutations: true,
  scopeGroup: 'nutrition',
  ordering: ['eatenAt'],
  groupKeyPaths: {},
  labelFieldPaths: ['ingredient.name'],
  crossFieldRules: [UNIT_BELONGS_TO_INGREDIENT_RULE, MEAL_BELONGS_TO_PLAN_RULE],
  filters: ['amount', 'ingredientId', 'planId', 'ingredientUnitId'],
})
export class DiaryEntry extends Model<DiaryEntry> {
  @Id() declare id: number;
  @Ref(() => NutritionPlan, { label: 'Nutrition plan' }) declare planId: number;
  @Ref(() => Ingredient, { label: 'Ingredient' }) declare ingredientId: number;
  @Ref(() => IngredientUnit, INGREDIENT_UNIT_FIELD_OPTIONS)
  declare ingredientUnitId: number | null;
  @DateTimeField({
    label: 'Datetime',
    columnAndRestKey: 'datetime',
    description: 'When it was eaten.',
    default: defaultValues.now,
  })
  declare eatenAt: string;
  @TextField({
    label: 'Comment',
    description: 'A comment by the user.',
    columnAndRestKey: 'comment',
    allowNull: true,
    allowBlank: true,
    hiddenInRest: true,
  })
  declare notes: string | null;
  @DecimalField({
    label: 'Amount',
    description: 'In `weight_unit`, or grams if that is null.',
    graphqlDescription: 'In `ingredientUnit`, or grams if that is null.',
    maxDigits: 6,
    decimalPlaces: 2,
    min: 1,
    max: 1000,
  })
  declare amount: string;
  @Ref(() => Meal, {
    label: 'Meal',
    description:
      'The meal of the plan to which it belongs, if any; null once that meal is deleted or moved.',
    allowNull: true,
    hiddenInRest: true,
    restSortable: false,
  })
  declare mealId: number | null;
  @Owner(() => User, { hiddenInRest: true, restSortable: false }) declare userId: number;
}

@Resolver(() => DiaryEntry)
export default class DiaryEntryResolver extends createCrudResolver(DiaryEntry) {
  @FieldResolver(() => NutritionalValues, {
    description: 'Nutritional values of this amount of the ingredient.',
  })
  @FieldExtensions({
    cost: { weight: 2 },
    action: { name: 'nutritional_values', graphqlSelection: NUTRITIONAL_VALUES_SELECTION },
  })
  @RequiresFields(() => DiaryEntry, 'ingredientId', 'ingredientUnitId', 'amount')
  async nutritionalValues(@Root() entry: Portion, @Ctx() context: Context) {
    return formatNutritionalValues(await loadPortionNutrition(entry, context));
  }
}
