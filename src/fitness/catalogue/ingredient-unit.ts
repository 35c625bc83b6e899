import { Model } from 'sequelize-typescript';
import { MAX_INTEGER, MIN_INTEGER } from '../../shared/bounds';
import { createCrudResolver } from '../../engine/schema/crud';
import { DecimalField, Id, IntegerField } from '../../engine/declare/fields';
import { Ref, Resource } from '../../engine/declare/resource';
import { HouseholdUnit } from './household-unit';
import { Ingredient } from './ingredient';

const filterFieldNames = ['amount', 'gram', 'ingredientId', 'householdUnitId'];
const title = 'Ingredient Weight Unit';

export const MAX_PORTIONS = 1000;

@Resource({
  restName: 'ingredientweightunit',
  inReference: { apiRootPosition: 24 },
  title,
  dumpModelName: 'nutrition.ingredientweightunit',
  partKeyFieldNames: ['householdUnitId', 'amount'],
  description: 'The weight of a household unit of an ingredient.',
  ordering: ['id'],
  labelFieldPaths: ['ingredient.name', 'householdUnit.name', 'amount'],
  filters: filterFieldNames,
  // A second REST endpoint of this resource: the public documentation of the reference service
  // calls it `ingredienttoweightunit`.
  views: { ingredienttoweightunit: { title, filters: filterFieldNames, inReference: {} } },
})
export class IngredientUnit extends Model<IngredientUnit> {
  @Id() declare id: number;
  @DecimalField({
    label: 'Amount',
    helpText: 'Unit amount, e.g. "1 cup" or "1/2 spoon".',
    maxDigits: 5,
    decimalPlaces: 2,
    default: '1',
  })
  declare amount: string;
  @IntegerField({
    label: 'Amount in grams',
    description: 'The weight of this amount of the unit.',
    min: MIN_INTEGER,
    max: MAX_INTEGER,
    exclusiveTo: 'rest',
    readOnly: 'graphql',
  })
  declare gram: number;
  @DecimalField({
    label: 'Amount in grams',
    description: 'The weight of this amount of the unit, in grams.',
    restKey: 'gram',
    maxDigits: 10,
    decimalPlaces: 0,
    min: 0,
    readOnly: false,
    exclusiveTo: 'graphql',
    sql: (alias) => `${alias}."gram"::numeric`,
    readWithColumns: true,
  })
  declare grams: string;
  @IntegerField({
    label: 'Portions',
    description:
      'Number of these units that a recipe gives. If set, the weight is computed from its parts.',
    min: 1,
    max: MAX_PORTIONS,
    allowNull: true,
    hiddenInRest: true,
    restSortable: false,
  })
  declare portions: number | null;
  @Ref(() => Ingredient, { label: 'Ingredient', readOnly: 'rest' }) declare ingredientId: number;
  @Ref(() => HouseholdUnit, { label: 'Weight unit', restKey: 'unit', column: 'unit_id' })
  declare householdUnitId: number;
}

export default createCrudResolver(IngredientUnit, {
  addDerivedValues(values) {
    if (values.grams !== undefined) values.gram = values.grams;
  },
});
