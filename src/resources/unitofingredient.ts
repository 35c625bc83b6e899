import type { Rule } from '../core/model/registry';

/** The reference to the unit of an amount of an ingredient. */
export const AMOUNT_UNIT = {
  label: 'Weight unit',
  note: 'Unit of `amount`; null means grams.',
  rest: 'weight_unit',
  column: 'weight_unit_id',
  null: true,
} as const;

/** Of what is an amount of an ingredient in one of its units. */
export const UNIT_OF_INGREDIENT: Rule = {
  fields: ['ingredientId', 'ingredientUnitId'],
  message: 'The weight unit is not one of the ingredient.',
  async broken(rows, { session }) {
    const ids = rows.map(({ ingredientUnitId }) => Number(ingredientUnitId));
    const units = await session.query('SELECT "id", "ingredient_id" FROM "ingredient_unit" WHERE "id" = ANY($1::int[])', [ids]);
    const ingredients = new Map(units.map((unit) => [unit.id as number, unit.ingredient_id as number]));
    return rows.map(({ ingredientId }, index) => ingredients.get(ids[index]!) !== Number(ingredientId));
  },
};
