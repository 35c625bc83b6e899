/**
 * The household unit of an amount: options of the relation, and the rule that the unit belongs to
 * the ingredient.
 */
import type { CrossFieldRule } from '../../engine/declare/registry';

export const INGREDIENT_UNIT_FIELD_OPTIONS = {
  label: 'Weight unit',
  description: 'Unit of `amount`; null means grams.',
  restKey: 'weight_unit',
  column: 'weight_unit_id',
  allowNull: true,
} as const;

export const UNIT_BELONGS_TO_INGREDIENT_RULE: CrossFieldRule = {
  fields: ['ingredientId', 'ingredientUnitId'],
  message: 'The weight unit is not one of the ingredient.',
  async violatedBy(rows, { session }) {
    const ids = rows.map(({ ingredientUnitId }) => Number(ingredientUnitId));
    const units = await session.query(
      'SELECT "id", "ingredient_id" FROM "ingredient_unit" WHERE "id" = ANY($1::int[])',
      [ids],
    );
    const ingredientIdByUnitId = new Map(
      units.map((unit) => [unit.id as number, unit.ingredient_id as number]),
    );

    return rows.map(
      ({ ingredientId }, index) => ingredientIdByUnitId.get(ids[index]!) !== Number(ingredientId),
    );
  },
};
