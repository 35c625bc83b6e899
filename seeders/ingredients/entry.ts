import type { HouseholdUnit } from '../reference';

/**
 * Why the energy differs from what protein, carbohydrates and fat add up to: alcohol has 7 kcal/g, fibre 2 kcal/g, and neither has a column
 * in that sum (carbohydrates are without fibre).
 */
export type EnergyFrom = 'alcohol' | 'fibre';

/** Per 100 g: name, kcal, protein, carbohydrates, of which sugar, fat, of which saturated, fibre, sodium (all in grams); grams per unit. */
export type IngredientEntry = [
  name: string,
  energy: number,
  protein: number,
  carbohydrates: number,
  sugar: number,
  fat: number,
  saturated: number,
  fibres: number,
  sodium: number,
  units?: Partial<Record<HouseholdUnit, number>>,
  energyFrom?: EnergyFrom,
];
