/** Nutritional values of portions of food: meal items and diary entries. */
import type { Context } from '../core/context';
import { loadRowFields, loadRowEvenIfHidden } from '../core/read/loaders';
import {
  gramsOfAmount,
  NUTRIENTS,
  nutritionalValuesOfPortion,
  type ExactNutritionalValues,
  type MassUnit,
} from '../nutrition/values';
import { Ingredient, HOUSEHOLD_MEASURE_FIELDS } from './ingredient';
import { IngredientUnit } from './ingredientunit';

/** The fields of a meal item or diary entry that determine its nutritional values. */
export interface Portion {
  ingredientId: number;
  ingredientUnitId: number | null;
  amount: string;
}

/** Computes the nutritional values of a portion, also for ingredients that have not passed the review. */
export async function portionNutritionalValues(
  { ingredientId, ingredientUnitId, amount }: Portion,
  context: Context,
  unit: MassUnit = 'g',
): Promise<ExactNutritionalValues> {
  const [ingredient, measure] = await Promise.all([
    loadRowEvenIfHidden(Ingredient, NUTRIENTS, ingredientId, context),
    ingredientUnitId === null
      ? null
      : loadRowFields(IngredientUnit, HOUSEHOLD_MEASURE_FIELDS, ingredientUnitId, context),
  ]);
  return nutritionalValuesOfPortion(ingredient!, gramsOfAmount(amount, measure), unit);
}
