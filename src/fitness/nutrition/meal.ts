import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { Model } from 'sequelize-typescript';
import type { Context } from '../../engine/context';
import { createCrudResolver } from '../../engine/schema/crud';
import { TimeField, Id, IntegerField, type RowFields } from '../../engine/declare/fields';
import { Children, Owner, Ref, Resource } from '../../engine/declare/resource';
import { loadChildFields } from '../../engine/read/loaders';
import { RequiresFields } from '../../engine/read/query-plan';
import {
  NutritionalValues,
  NUTRITIONAL_VALUES_SELECTION,
  formatNutritionalValues,
  sumNutritionalValues,
  type NutrientMassUnit,
  type ExactNutritionalValues,
} from './values';
import { loadPortionNutrition } from './portion-values';
import { MealItem } from './meal-item';
import { NutritionPlan } from './nutrition-plan';
import { User } from '../../accounts/user';

@Resource({
  restName: 'meal',
  inReference: { apiRootPosition: 26 },
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
    isPosition: true,
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
    description: 'Its ingredients and their amounts, by position.',
  })
  declare items: MealItem[];
}

/** Sums the rounded nutritional values of the items of a meal, once per request. */
export function loadMealNutrition(
  id: number,
  context: Context,
  unit: NutrientMassUnit = 'g',
): Promise<ExactNutritionalValues> {
  const sumItems = async (mealId: number) => {
    const items = await loadChildFields(
      MealItem,
      'mealId',
      ['ingredientId', 'ingredientUnitId', 'amount'],
      mealId,
      context,
    );

    return sumNutritionalValues(
      await Promise.all(items.map((item) => loadPortionNutrition(item, context, unit))),
    );
  };

  return context.loaders
    .getOrCreate(`values of meals in ${unit}`, (ids) =>
      Promise.all((ids as number[]).map(sumItems)),
    )
    .load(id);
}

@Resolver(() => Meal)
export default class MealResolver extends createCrudResolver(Meal) {
  @FieldResolver(() => NutritionalValues, {
    description: 'Nutritional values of all items together.',
  })
  @FieldExtensions({
    cost: { weight: 10 },
    action: { name: 'nutritional_values', graphqlSelection: NUTRITIONAL_VALUES_SELECTION },
  })
  @RequiresFields(() => Meal, 'id')
  async nutritionalValues(@Root() meal: RowFields<Meal, 'id'>, @Ctx() context: Context) {
    return formatNutritionalValues(await loadMealNutrition(meal.id, context));
  }
}
