import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../core/model/fieldextensions';
import { Model } from 'sequelize-typescript';
import type { Context } from '../core/context';
import { createCrudResolver } from '../core/schema/crud';
import { DecimalField, Id, IntegerField } from '../core/model/fields';
import { Owner, Ref } from '../core/model/relationfields';
import { RequiresFields } from '../core/read/queryplan';
import { Resource } from '../core/model/resource';
import { NutritionalValues } from '../nutrition/types';
import { formatNutritionalValues } from '../nutrition/values';
import { Ingredient } from './ingredient';
import { portionNutritionalValues, type Portion } from './portionvalues';
import { IngredientUnit } from './ingredientunit';
import { Meal } from './meal';
import { INGREDIENT_UNIT_FIELD_OPTIONS, UNIT_BELONGS_TO_INGREDIENT_RULE } from './unitofingredient';
import { User } from './user';

@Resource({
  restName: 'mealitem',
  apiRootPosition: 27,
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
    description: 'Position among the items of the meal.',
    default: 1,
    readOnly: 'rest',
  })
  declare position: number;
  @DecimalField({
    label: 'Amount',
    description: 'In `ingredientUnit`, or grams if that is null.',
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
  @FieldExtensions({ cost: { weight: 2 }, action: { name: 'nutritional_values' } })
  @RequiresFields(() => MealItem, 'ingredientId', 'ingredientUnitId', 'amount')
  async nutritionalValues(@Root() item: Portion, @Ctx() context: Context) {
    return formatNutritionalValues(await portionNutritionalValues(item, context));
  }
}
