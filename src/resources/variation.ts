import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../core/schema/crud';
import { Id } from '../core/model/fields';
import { Children } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { ExerciseBase } from './exercisebase';

@Resource({
  dumpModelName: 'exercises.variation',
  description: 'A group of exercises that are variations of each other.',
  ordering: ['id'],
  lookupTableSize: 25,
})
export class Variation extends Model<Variation> {
  @Id() declare id: number;
  @Children(() => ExerciseBase, 'variationId', {
    assumedSize: 4,
    description: 'The exercises of the group.',
  })
  declare exerciseBases: ExerciseBase[];
}

export default createCrudResolver(Variation);
