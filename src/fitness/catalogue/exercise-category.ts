import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Children, Resource } from '../../engine/declare/resource';
import { Exercise } from './exercise';
import { ExerciseTranslation } from './exercise-translation';

@Resource({
  restName: 'exercisecategory',
  inReference: { apiRootPosition: 18 },
  dumpModelName: 'exercises.exercisecategory',
  description: 'An exercise category: the part of the body that is trained.',
  pluralName: 'exerciseCategories',
  ordering: ['name'],
  filters: ['name'],
  isCachedInMemory: true,
  lookupTableSize: 8,
})
export class ExerciseCategory extends Model<ExerciseCategory> {
  @Id() declare id: number;
  @TextField({ label: 'Name', description: 'The part of the body in English.', max: 100 })
  declare name: string;
  @Children(() => Exercise, 'categoryId', {
    isConnection: true,
    exclusiveTo: 'graphql',
    description: 'Exercises that train this part of the body.',
  })
  declare exercises: Exercise[];
  @Children(() => ExerciseTranslation, 'categoryId', {
    isConnection: true,
    exclusiveTo: 'rest',
    description: 'Exercises that train this part of the body.',
  })
  declare exerciseTranslations: ExerciseTranslation[];
}

export default createCrudResolver(ExerciseCategory);
