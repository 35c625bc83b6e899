import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../core/schema/crud';
import { Id, IntegerField } from '../core/model/fields';
import { Owner, Ref } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { Schedule } from './schedule';
import { User } from './user';
import { Workout } from './workout';

@Resource({
  rest: 'schedulestep',
  position: 3,
  dumpModel: 'manager.schedulestep',
  description: 'A step of a schedule: a workout and its number of weeks.',
  owned: true,
  scopeGroup: 'training',
  ordering: ['position'],
  labelPaths: ['workout.name'],
  filters: ['scheduleId', 'workoutId', 'duration', 'position'],
})
export class ScheduleStep extends Model<ScheduleStep> {
  @Id() declare id: number;
  @Ref(() => Schedule, { label: 'Schedule' }) declare scheduleId: number;
  @Ref(() => Workout, { label: 'Workout' }) declare workoutId: number;
  @IntegerField({ label: 'Duration', help: 'The duration in weeks.', min: 1, max: 25, default: 4 }) declare duration: number;
  @IntegerField({ label: 'Order', storedAs: 'order', help: 'Place in the order of the steps.', default: 1, hidden: true })
  declare position: number;
  @Owner(() => User, { hidden: true, restSortable: false }) declare userId: number;
}

export default createCrudResolver(ScheduleStep);
