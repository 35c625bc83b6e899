import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../core/schema/crud';
import { Id, TextField } from '../core/model/fields';
import { Children } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { Exercise } from './exercise';

@Resource({
  restName: 'equipment',
  apiRootPosition: 17,
  dumpModelName: 'exercises.equipment',
  description: 'Equipment that an exercise needs.',
  pluralName: 'equipmentItems',
  ordering: ['name'],
  filters: ['name'],
  isCachedInMemory: true,
  lookupTableSize: 10,
})
export class Equipment extends Model<Equipment> {
  @Id() declare id: number;
  @TextField({ label: 'Name', description: 'The name in English.', max: 50 }) declare name: string;
  @Children(() => Exercise, 'equipmentIds', {
    isConnection: true,
    description: 'Exercises that need this equipment.',
  })
  declare exercises: Exercise[];
}

export default createCrudResolver(Equipment);
