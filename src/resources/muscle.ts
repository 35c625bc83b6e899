import { Model } from 'sequelize-typescript';
import { crud } from '../core/crud';
import { Computed, Flag, Id, Text } from '../core/fields';
import { Resource } from '../core/resource';

const image = (kind: string) => (alias: string) => `('/static/images/muscles/${kind}/muscle-' || ${alias}."id" || '.svg')`;

@Resource({
  rest: 'muscle',
  position: 21,
  dump: 'exercises.muscle',
  description: 'A muscle, by its Latin name.',
  ordering: ['name'],
  filters: ['name', 'isFront'],
  inMemory: true,
})
export class Muscle extends Model<Muscle> {
  @Id() declare id: number;
  @Text({ label: 'Name', help: 'In Latin, e.g. "Pectoralis major".', max: 50 }) declare name: string;
  @Flag({ label: 'Is front', help: 'On the front of the body.', default: true }) declare isFront: boolean;
  @Computed<string>(() => String, {
    label: 'Image url main',
    help: 'Drawing of the muscle as a primary one, relative to the host.',
    sql: image('main'),
  })
  declare imageUrlMain: string;
  @Computed<string>(() => String, {
    label: 'Image url secondary',
    help: 'Drawing of the muscle as a secondary one, relative to the host.',
    sql: image('secondary'),
  })
  declare imageUrlSecondary: string;
}

export default crud(Muscle);
