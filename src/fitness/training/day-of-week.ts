import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Resource } from '../../engine/declare/resource';

@Resource({
  writeOperations: [],
  restName: 'daysofweek',
  inReference: { apiRootPosition: 11 },
  title: 'Days Of Week',
  dumpModelName: 'core.daysofweek',
  description: 'A day of the week; 1 is Monday.',
  exclusiveTo: 'rest',
  pluralName: 'daysOfWeek',
  ordering: ['id'],
  filters: ['dayOfWeek'],
  isCachedInMemory: true,
})
export class DayOfWeek extends Model<DayOfWeek> {
  @Id() declare id: number;
  @TextField({ label: 'Day of the week', description: 'The name of the day in English.', max: 9 })
  declare dayOfWeek: string;
}

export default createCrudResolver(DayOfWeek);
