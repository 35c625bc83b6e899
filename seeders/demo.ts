import { Catalogue } from './demo/catalogue';
import { addNutrition } from './demo/nutrition';
import { addTraining } from './demo/training';
import { addWeights } from './demo/weight';
import { RowList, type SeedRow } from './row';

/**
 * Returns the data of a demo user who logs training, nutrition and weight up to `today`. Ids count
 * from 1 per model and are valid in this list only; exercises, ingredients and units are referenced
 * by the ids of their own seeds.
 */
export function demo(today: string, userId: number): SeedRow[] {
  const list = new RowList();
  const catalogue = new Catalogue(today);

  addWeights(list, today, userId);
  addTraining(list, catalogue, today, userId);
  addNutrition(list, catalogue, today, userId);
  return list.rows;
}
