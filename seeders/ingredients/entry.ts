import type { HouseholdUnit } from '../reference';

/**
 * Reason why the energy differs from the sum over protein, carbohydrates and fat: alcohol has 7
 * kcal/g and fibre 2 kcal/g, and the sum includes neither (carbohydrates exclude fibre).
 */
export type EnergyFrom = 'alcohol' | 'fibre';

/**
 * Per 100 g: name, kcal, protein, carbohydrates, of which sugar, fat, of which saturated, fibre,
 * sodium (all in grams); grams per unit.
 */
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
