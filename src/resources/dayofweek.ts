import { Model } from 'sequelize-typescript';
import { crud } from '../core/schema/crud';
import { Id, Text } from '../core/model/fields';
import { Resource } from '../core/model/resource';

@Resource({
  rest: 'daysofweek',
  position: 11,
  title: 'Days Of Week',
  dump: 'core.daysofweek',
  description: 'A day of the week; 1 is Monday.',
  only: 'rest',
  plural: 'daysOfWeek',
  ordering: ['id'],
  filters: ['dayOfWeek'],
  inMemory: true,
})
export class DayOfWeek extends Model<DayOfWeek> {
  @Id() declare id: number;
  @Text({ label: 'Day of the week', note: 'Its name in English.', max: 9 }) declare dayOfWeek: string;
}

export default crud(DayOfWeek);
