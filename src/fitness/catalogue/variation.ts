import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id } from '../../engine/declare/fields';
import { Children, Resource } from '../../engine/declare/resource';
import { Exercise } from './exercise';

@Resource({
  dumpModelName: 'exercises.variation',
  writeOperations: ['create', 'remove'],
  description: 'A group of exercises that are variations of each other.',
  ordering: ['id'],
  lookupTableSize: 25,
})
export class Variation extends Model<Variation> {
  @Id() declare id: number;
  @Children(() => Exercise, 'variationId', {
    isConnection: true,
    description: 'The exercises of the group.',
  })
  declare exercises: Exercise[];
}

export default createCrudResolver(Variation);
