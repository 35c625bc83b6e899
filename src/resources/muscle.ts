import { Model } from 'sequelize-typescript';
import { crud } from '../core/schema/crud';
import { Computed, Flag, Id, Text } from '../core/model/fields';
import { Children } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { Exercise } from './exercise';

const imageUrlSql = (kind: string) => (alias: string) => `('/static/images/muscles/${kind}/muscle-' || ${alias}."id" || '.svg')`;

@Resource({
  rest: 'muscle',
  position: 21,
  dump: 'exercises.muscle',
  description: 'A muscle, with its Latin name.',
  ordering: ['name'],
  filters: ['name', 'isFront'],
  inMemory: true,
  dictionary: 16,
})
export class Muscle extends Model<Muscle> {
  @Id() declare id: number;
  @Text({ label: 'Name', help: 'In Latin, e.g. "Pectoralis major".', max: 50 }) declare name: string;
  @Flag({ label: 'Is front', help: 'On the front of the body.', default: true }) declare isFront: boolean;
  @Computed<string>(() => String, {
    label: 'Image url main',
    help: 'Drawing of the muscle as a primary one, relative to the host.',
    sql: imageUrlSql('main'),
  })
  declare imageUrlMain: string;
  @Computed<string>(() => String, {
    label: 'Image url secondary',
    help: 'Drawing of the muscle as a secondary one, relative to the host.',
    sql: imageUrlSql('secondary'),
  })
  declare imageUrlSecondary: string;
  @Children(() => Exercise, 'muscleIds', { connection: true, help: 'Exercises with it as a primary muscle.' })
  declare exercises: Exercise[];
  @Children(() => Exercise, 'muscleSecondaryIds', { connection: true, help: 'Exercises with it as a secondary muscle.' })
  declare exercisesSecondary: Exercise[];
}

export default crud(Muscle);
