import { exercises } from '../exercises';
import { ingredients } from '../ingredients';
import { householdUnitId, type HouseholdUnit } from '../reference';
import { ENGLISH } from '../row';

/**
 * Finds the ids of seeded rows by name. Throws if a name does not exist, because that is a mistake
 * in the tables of the demo.
 */
export class Catalogue {
  private readonly ids = new Map<string, number>();

  constructor(today: string) {
    for (const { model, pk, fields } of exercises(today)) {
      if (model === 'exercises.exercise' && fields.language === ENGLISH) {
        this.ids.set(`exercise ${fields.name}`, Number(pk));
      }
    }

    for (const { model, pk, fields } of ingredients()) {
      if (model === 'nutrition.ingredient') this.ids.set(`ingredient ${fields.name}`, Number(pk));

      if (model === 'nutrition.ingredientweightunit') {
        this.ids.set(`unit ${fields.ingredient} ${fields.unit}`, Number(pk));
      }
    }
  }

  exercise(name: string): number {
    return this.find(`exercise ${name}`);
  }

  ingredient(name: string): number {
    return this.find(`ingredient ${name}`);
  }

  ingredientUnit(ingredient: number, unit: HouseholdUnit): number {
    return this.find(`unit ${ingredient} ${householdUnitId(unit)}`);
  }

  private find(key: string): number {
    const id = this.ids.get(key);

    if (id === undefined) throw new Error(`There is no seeded ${key}`);

    return id;
  }
}
