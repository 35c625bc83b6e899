import { Model } from 'sequelize-typescript';
import { crud } from '../core/schema/crud';
import { Id, Text } from '../core/model/fields';
import { Children, Ref } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { IngredientUnit } from './ingredientunit';
import { Language } from './language';

@Resource({
  rest: 'weightunit',
  position: 23,
  title: 'Weight Unit',
  dump: 'nutrition.weightunit',
  description: 'A household unit of ingredients, e.g. cup or slice.',
  ordering: ['name'],
  filters: ['languageId', 'name'],
  inMemory: true,
})
export class HouseholdUnit extends Model<HouseholdUnit> {
  @Id() declare id: number;
  @Ref(() => Language, { label: 'Language', readOnly: true }) declare languageId: number;
  @Text({ label: 'Name', note: 'What it is called in its language.', max: 200, sorted: true }) declare name: string;
  @Children(() => IngredientUnit, 'householdUnitId', {
    connection: true,
    help: 'The ingredients measured in it, and what it weighs of each.',
  })
  declare ingredientUnits: IngredientUnit[];
}

export default crud(HouseholdUnit);
