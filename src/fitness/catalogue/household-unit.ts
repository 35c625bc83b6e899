import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Children, Ref, Resource } from '../../engine/declare/resource';
import { IngredientUnit } from './ingredient-unit';
import { Language } from './language';

/** Name of the unit of a portion without a measure. */
export const PORTION = 'Portion';

@Resource({
  restName: 'weightunit',
  inReference: { apiRootPosition: 23 },
  title: 'Weight Unit',
  dumpModelName: 'nutrition.weightunit',
  description: 'A household unit for ingredients, e.g. cup or slice.',
  ordering: ['name'],
  filters: ['languageId', 'name'],
  isCachedInMemory: true,
})
export class HouseholdUnit extends Model<HouseholdUnit> {
  @Id() declare id: number;
  @Ref(() => Language, { label: 'Language', readOnly: 'rest' }) declare languageId: number;
  @TextField({
    label: 'Name',
    description: 'The name in its own language.',
    max: 200,
    indexedForSorting: true,
  })
  declare name: string;
  @Children(() => IngredientUnit, 'householdUnitId', {
    isConnection: true,
    description: 'The ingredients that can be measured in this unit, with its weight for each.',
  })
  declare ingredientUnits: IngredientUnit[];
}

export default createCrudResolver(HouseholdUnit);
