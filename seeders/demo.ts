import { Catalogue } from './demo/catalogue';
import { addNutrition } from './demo/nutrition';
import { addTraining } from './demo/training';
import { addWeights } from './demo/weight';
import { RowList, type SeedRow } from './row';

/**
 * The data of one user who trains and writes down everything, up to `today`. Ids count from 1 per model and mean nothing outside this list;
 * exercises, ingredients and units are referred to by the ids of their own seeds.
 */
export function demo(today: string, userId: number): SeedRow[] {
  const list = new RowList();
  const catalogue = new Catalogue(today);
  addWeights(list, today, userId);
  addTraining(list, catalogue, today, userId);
  addNutrition(list, catalogue, today, userId);
  return list.rows;
}
