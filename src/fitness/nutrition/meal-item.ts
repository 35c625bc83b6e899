import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { Model } from 'sequelize-typescript';
import type { Context } from '../../engine/context';
import { createCrudResolver } from '../../engine/schema/crud';
import { DecimalField, Id, IntegerField } from '../../engine/declare/fields';
import { Owner, Ref, Resource } from '../../engine/declare/resource';
import { RequiresFields } from '../../engine/read/query-plan';
import { NutritionalValues, NUTRITIONAL_VALUES_SELECTION, formatNutritionalValues } from './values';
import { Ingredient } from '../catalogue/ingredient';
import { loadPortionNutrition, type Portion } from './portion-values';
import { IngredientUnit } from '../catalogue/ingredient-unit';
import { Meal } from './meal';
import {
  INGREDIENT_UNIT_FIELD_OPTIONS,
  UNIT_BELONGS_TO_INGREDIENT_RULE,
} from './unit-of-ingredient';
import { User } from '../../accounts/user';

@Resource({
  restName: 'mealitem',
  inReference: { apiRootPosition: 27 },
  dumpModelName: 'nutrition.mealitem',
  description: 'An ingredient of a meal and its amount.',
  isOwned: true,
  scopeGroup: 'nutrition',
  ordering: ['id'],
  labelFieldPaths: ['ingredient.name'],
  crossFieldRules: [UNIT_BELONGS_TO_INGREDIENT_RULE],
  filters: ['amount', 'ingredientId', 'mealId', 'position', 'ingredientUnitId'],
})
export class MealItem extends Model<MealItem> {
  @Id() declare id: number;
  @Ref(() => Meal, { label: 'Nutrition plan' }) declare mealId: number;
  @Ref(() => Ingredient, { label: 'Ingredient' }) declare ingredientId: number;
  @Ref(() => IngredientUnit, INGREDIENT_UNIT_FIELD_OPTIONS)
  declare ingredientUnitId: number | null;
  @IntegerField({
    label: 'Order',
    columnAndRestKey: 'order',
    isPosition: true,
    description: 'Position among the items of the meal.',
    default: 1,
    readOnly: 'rest',
  })
  declare position: number;
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
  @Owner(() => User, { hiddenInRest: true, restSortable: false }) declare userId: number;
}

@Resolver(() => MealItem)
export default class MealItemResolver extends createCrudResolver(MealItem) {
  @FieldResolver(() => NutritionalValues, {
    description: 'Nutritional values of this amount of the ingredient.',
  })
  @FieldExtensions({
    cost: { weight: 2 },
    action: { name: 'nutritional_values', graphqlSelection: NUTRITIONAL_VALUES_SELECTION },
  })
  @RequiresFields(() => MealItem, 'ingredientId', 'ingredientUnitId', 'amount')
  async nutritionalValues(@Root() item: Portion, @Ctx() context: Context) {
    return formatNutritionalValues(await loadPortionNutrition(item, context));
  }
}
