import { Model } from 'sequelize-typescript';
import { MAX_INTEGER, MIN_INTEGER } from '../contract/bounds';
import { createCrudResolver } from '../core/schema/crud';
import { DecimalField, Id, IntegerField } from '../core/model/fields';
import { Ref } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { HouseholdUnit } from './householdunit';
import { Ingredient } from './ingredient';

const filterFieldNames = ['amount', 'gram', 'ingredientId', 'householdUnitId'];
const title = 'Ingredient Weight Unit';

@Resource({
  restName: 'ingredientweightunit',
  apiRootPosition: 24,
  title,
  dumpModelName: 'nutrition.ingredientweightunit',
  description: 'The weight of a household unit of an ingredient.',
  ordering: ['id'],
  labelFieldPaths: ['ingredient.name', 'householdUnit.name', 'amount'],
  filters: filterFieldNames,
  // A second URL path of this REST resource, because the public documentation of the reference service uses the name `ingredienttoweightunit`.
  views: { ingredienttoweightunit: { title, filters: filterFieldNames, isListedInApiRoot: false } },
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
  })
  declare gram: number;
  @Ref(() => Ingredient, { label: 'Ingredient', readOnly: true }) declare ingredientId: number;
  @Ref(() => HouseholdUnit, { label: 'Weight unit', restKey: 'unit', column: 'unit_id' })
  declare householdUnitId: number;
}

export default createCrudResolver(IngredientUnit);
