/** Nutritional values of portions of food: meal items and diary entries. */
import type { Context } from '../../engine/context';
import { loadRowFields, loadRowEvenIfHidden } from '../../engine/read/loaders';
import {
  amountInGrams,
  NUTRIENTS,
  computePortionNutrition,
  type ExactNutritionalValues,
  type NutrientMassUnit,
} from './values';
import { Ingredient, HOUSEHOLD_MEASURE_FIELDS } from '../catalogue/ingredient';
import { IngredientUnit } from '../catalogue/ingredient-unit';

/** The fields of a meal item or diary entry that determine its nutritional values. */
export interface Portion {
  ingredientId: number;
  ingredientUnitId: number | null;
  amount: string;
}

/**
 * Computes the nutritional values of a portion, even if its ingredient has not been accepted by
 * review.
 */
export async function loadPortionNutrition(
  { ingredientId, ingredientUnitId, amount }: Portion,
  context: Context,
  unit: NutrientMassUnit = 'g',
): Promise<ExactNutritionalValues> {
  const loadMeasure = async () => {
    if (ingredientUnitId === null) return null;

    return loadRowFields(IngredientUnit, HOUSEHOLD_MEASURE_FIELDS, ingredientUnitId, context);
  };

  const [ingredient, measure] = await Promise.all([
    loadRowEvenIfHidden(Ingredient, NUTRIENTS, ingredientId, context),
    loadMeasure(),
  ]);

  return computePortionNutrition(ingredient!, amountInGrams(amount, measure), unit);
}
