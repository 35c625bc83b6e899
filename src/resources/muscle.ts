import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../core/schema/crud';
import { ComputedField, BooleanField, Id, TextField } from '../core/model/fields';
import { Children } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { Exercise } from './exercise';

const imageUrlSql = (kind: string) => (alias: string) =>
  `('/static/images/muscles/${kind}/muscle-' || ${alias}."id" || '.svg')`;

@Resource({
  restName: 'muscle',
  apiRootPosition: 21,
  dumpModelName: 'exercises.muscle',
  description: 'A muscle, with its Latin name.',
  ordering: ['name'],
  filters: ['name', 'isFront'],
  isCachedInMemory: true,
  lookupTableSize: 16,
})
export class Muscle extends Model<Muscle> {
  @Id() declare id: number;
  @TextField({ label: 'Name', helpText: 'In Latin, e.g. "Pectoralis major".', max: 50 })
  declare name: string;
  @BooleanField({ label: 'Is front', helpText: 'On the front of the body.', default: true })
  declare isFront: boolean;
  @ComputedField<string>(() => String, {
    label: 'Image url main',
    helpText: 'Drawing of the muscle as a primary one, relative to the host.',
    sql: imageUrlSql('main'),
  })
  declare imageUrlMain: string;
  @ComputedField<string>(() => String, {
    label: 'Image url secondary',
    helpText: 'Drawing of the muscle as a secondary one, relative to the host.',
    sql: imageUrlSql('secondary'),
  })
  declare imageUrlSecondary: string;
  @Children(() => Exercise, 'muscleIds', {
    isConnection: true,
    description: 'Exercises with it as a primary muscle.',
  })
  declare exercises: Exercise[];
  @Children(() => Exercise, 'muscleSecondaryIds', {
    isConnection: true,
    description: 'Exercises with it as a secondary muscle.',
  })
  declare exercisesSecondary: Exercise[];
}

export default createCrudResolver(Muscle);
