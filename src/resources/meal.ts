import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../core/model/fieldextensions';
import { Model } from 'sequelize-typescript';
import type { Context } from '../core/context';
import { createCrudResolver } from '../core/schema/crud';
import { TimeField, Id, IntegerField, type RowFields } from '../core/model/fields';
import { Children, Owner, Ref } from '../core/model/relationfields';
import { loadChildFields } from '../core/read/loaders';
import { RequiresFields } from '../core/read/queryplan';
import { Resource } from '../core/model/resource';
import { NutritionalValues } from '../nutrition/types';
import {
  formatNutritionalValues,
  sumNutritionalValues,
  type MassUnit,
  type ExactNutritionalValues,
} from '../nutrition/values';
import { portionNutritionalValues } from './portionvalues';
import { MealItem } from './mealitem';
import { NutritionPlan } from './nutritionplan';
import { User } from './user';

@Resource({
  restName: 'meal',
  apiRootPosition: 26,
  dumpModelName: 'nutrition.meal',
  description: 'A meal of a nutrition plan.',
  isOwned: true,
  scopeGroup: 'nutrition',
  ordering: ['time'],
  filters: ['position', 'planId', 'time'],
})
export class Meal extends Model<Meal> {
  @Id() declare id: number;
  @Ref(() => NutritionPlan, { label: 'Nutrition plan' }) declare planId: number;
  @IntegerField({
    label: 'Order',
    columnAndRestKey: 'order',
    description: 'Position among the meals of the plan.',
    default: 1,
    readOnly: 'rest',
  })
  declare position: number;
  @TimeField({
    label: 'Time (approx)',
    description: 'The approximate time at which it is eaten.',
    allowNull: true,
  })
  declare time: string | null;
  @Owner(() => User, { hiddenInRest: true, restSortable: false }) declare userId: number;
  @Children(() => MealItem, 'mealId', {
    isSavedWithParent: true,
    assumedSize: 6,
    description: 'Its ingredients and their amounts.',
  })
  declare items: MealItem[];
}

/** Computes the nutritional values of a meal: the sum of the rounded values of its items. A request computes them once for each meal. */
export function mealNutritionalValues(
  id: number,
  context: Context,
  unit: MassUnit = 'g',
): Promise<ExactNutritionalValues> {
  const sumOfItems = async (mealId: number) => {
    const items = await loadChildFields(
      MealItem,
      'mealId',
      ['ingredientId', 'ingredientUnitId', 'amount'],
      mealId,
      context,
    );
    return sumNutritionalValues(
      await Promise.all(items.map((item) => portionNutritionalValues(item, context, unit))),
    );
  };
  return context.loaders
    .getOrCreate(`values of meals in ${unit}`, (ids) =>
      Promise.all((ids as number[]).map(sumOfItems)),
    )
    .load(id);
}

@Resolver(() => Meal)
export default class MealResolver extends createCrudResolver(Meal) {
  @FieldResolver(() => NutritionalValues, {
    description: 'Nutritional values of all items together.',
  })
  @FieldExtensions({ cost: { weight: 10 }, action: { name: 'nutritional_values' } })
  @RequiresFields(() => Meal, 'id')
  async nutritionalValues(@Root() meal: RowFields<Meal, 'id'>, @Ctx() context: Context) {
    return formatNutritionalValues(await mealNutritionalValues(meal.id, context));
  }
}
