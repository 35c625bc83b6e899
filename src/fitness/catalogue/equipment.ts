import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Children, Resource } from '../../engine/declare/resource';
import { Exercise } from './exercise';

@Resource({
  restName: 'equipment',
  inReference: { apiRootPosition: 17 },
  dumpModelName: 'exercises.equipment',
  description: 'Equipment that an exercise needs.',
  pluralName: 'equipmentList',
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
