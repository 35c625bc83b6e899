import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, IntegerField } from '../../engine/declare/fields';
import { Owner, Ref, Resource } from '../../engine/declare/resource';
import { Schedule } from './schedule';
import { User } from '../../accounts/user';
import { Workout } from './workout';

@Resource({
  restName: 'schedulestep',
  inReference: { apiRootPosition: 3 },
  dumpModelName: 'manager.schedulestep',
  description: 'A step of a schedule: a workout and its number of weeks.',
  isOwned: true,
  scopeGroup: 'training',
  ordering: ['position'],
  labelFieldPaths: ['workout.name'],
  filters: ['scheduleId', 'workoutId', 'duration', 'position'],
})
export class ScheduleStep extends Model<ScheduleStep> {
  @Id() declare id: number;
  @Ref(() => Schedule, { label: 'Schedule' }) declare scheduleId: number;
  @Ref(() => Workout, { label: 'Workout' }) declare workoutId: number;
  @IntegerField({
    label: 'Duration',
    helpText: 'The duration in weeks.',
    min: 1,
    max: 25,
    default: 4,
  })
  declare duration: number;
  @IntegerField({
    label: 'Order',
    columnAndRestKey: 'order',
    isPosition: true,
    helpText: 'Place in the order of the steps.',
    default: 1,
    hiddenInRest: true,
  })
  declare position: number;
  @Owner(() => User, { hiddenInRest: true, restSortable: false }) declare userId: number;
}

export default createCrudResolver(ScheduleStep);
