import { animals } from './ingredients/animals';
import { drinks } from './ingredients/drinks';
import type { EnergyFrom, IngredientEntry } from './ingredients/entry';
import { plants } from './ingredients/plants';
import { staples } from './ingredients/staples';
import { householdUnitId, type HouseholdUnit } from './reference';
import {
  CATALOGUE_AUTHOR,
  CATALOGUE_DATE,
  DEFAULT_LICENSE,
  ENGLISH,
  RowList,
  type SeedRow,
} from './row';

const ENTRIES: IngredientEntry[] = [...plants, ...staples, ...animals, ...drinks];

/** Ingredients that get energy from other sources than protein, carbohydrates and fat, by name. */
export const energyExceptions: ReadonlyMap<string, EnergyFrom> = new Map(
  ENTRIES.flatMap((entry) => (entry[10] === undefined ? [] : [[entry[0], entry[10]] as const])),
);

/** Returns the ingredients with their household units. */
export function ingredients(): SeedRow[] {
  const list = new RowList();

  for (const [
    name,
    energy,
    protein,
    carbohydrates,
    sugar,
    fat,
    saturated,
    fibres,
    sodium,
    units,
  ] of ENTRIES) {
    const ingredient = list.add('nutrition.ingredient', {
      license: DEFAULT_LICENSE,
      license_author: CATALOGUE_AUTHOR,
      status: '2',
      language: ENGLISH,
      creation_date: CATALOGUE_DATE,
      update_date: CATALOGUE_DATE,
      name,
      energy,
      protein: protein.toFixed(3),
      carbohydrates: carbohydrates.toFixed(3),
      carbohydrates_sugar: sugar.toFixed(3),
      fat: fat.toFixed(3),
      fat_saturated: saturated.toFixed(3),
      fibres: fibres.toFixed(3),
      sodium: sodium.toFixed(3),
      code: null,
      source_name: null,
      source_url: null,
      last_imported: `${CATALOGUE_DATE}T00:00:00Z`,
      common_name: null,
      category: null,
      brand: null,
    });

    for (const [unit, gram] of Object.entries(units ?? {})) {
      list.add('nutrition.ingredientweightunit', {
        ingredient,
        unit: householdUnitId(unit as HouseholdUnit),
        gram,
        amount: '1.00',
      });
    }
  }

  return list.rows;
}
