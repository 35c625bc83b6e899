import { Model } from 'sequelize-typescript';
import { crud } from '../core/crud';
import { Children, Id, Owner, Ref, Whole } from '../core/fields';
import { Resource } from '../core/resource';
import { Setting } from './setting';
import { TrainingDay } from './trainingday';
import { User } from './user';

@Resource({
  rest: 'set',
  position: 6,
  title: 'Set',
  dump: 'manager.set',
  description: 'A group of sets on a training day; its exercises are those of its settings.',
  owned: true,
  ordering: ['order'],
  filters: ['trainingDayId', 'order', 'sets'],
})
export class WorkoutSet extends Model<WorkoutSet> {
  @Id() declare id: number;
  @Ref(() => TrainingDay, { label: 'Exercise day', rest: 'exerciseday' }) declare trainingDayId: number;
  @Whole({ label: 'Number of sets', min: 0, max: 10, default: 4 }) declare sets: number;
  @Whole({
    label: 'Order',
    note: 'Place among the sets of the day; rows without one come last.',
    min: -2147483648,
    max: 2147483647,
    null: true,
  })
  declare order: number | null;
  @Owner(() => User, { hidden: true }) declare userId: number;
  @Children(() => Setting, 'setId', { help: 'Its settings, in their order.' }) declare settings: Setting[];
}

export default crud(WorkoutSet);
