import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Children, Resource } from '../../engine/declare/resource';
import { Exercise } from './exercise';
import { ExerciseTranslation } from './exercise-translation';

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
    exclusiveTo: 'graphql',
    description: 'Exercises that need this equipment.',
  })
  declare exercises: Exercise[];
  @Children(() => ExerciseTranslation, 'equipmentIds', {
    isConnection: true,
    exclusiveTo: 'rest',
    description: 'Exercises that need this equipment.',
  })
  declare exerciseTranslations: ExerciseTranslation[];
}

export default createCrudResolver(Equipment);
