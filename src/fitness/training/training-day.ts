import { Model } from 'sequelize-typescript';
import { WEEKDAY_ENUM } from '../../engine/grouping/time-buckets';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Children, Links, Owner, Ref, Resource } from '../../engine/declare/resource';
import { DayOfWeek } from './day-of-week';
import { User } from '../../accounts/user';
import { Workout } from './workout';
import { SetGroup } from './set-group';

@Resource({
  restName: 'day',
  inReference: { apiRootPosition: 5 },
  title: 'Day',
  dumpModelName: 'manager.day',
  description: 'A day of a workout: the days of the week on which it is trained, and its sets.',
  isOwned: true,
  scopeGroup: 'training',
  ordering: ['id'],
  filters: ['name', 'workoutId', { field: 'weekdays', syntax: 'ids' }],
})
export class TrainingDay extends Model<TrainingDay> {
  @Id() declare id: number;
  @Ref(() => Workout, { label: 'Workout', restKey: 'training' }) declare workoutId: number;
  @TextField({
    label: 'Description',
    columnAndRestKey: 'description',
    helpText: 'What is done on this day, e.g. "Pull day" or "Chest".',
    max: 100,
    graphqlAllowBlank: true,
  })
  declare name: string;
  @Links(() => DayOfWeek, {
    label: 'Day',
    restKey: 'day',
    description: 'Ids of the days of the week, at least one.',
    graphqlDescription: 'Days of the week, at least one; returned Monday first.',
    relationFieldName: 'weekdayRows',
    assumedSize: 2,
    enum: WEEKDAY_ENUM,
    link: {
      table: 'training_day_weekday',
      ownColumn: 'training_day_id',
      otherColumn: 'day_of_week_id',
    },
  })
  declare weekdays: number[];
  @Owner(() => User, { hiddenInRest: true, restSortable: false }) declare userId: number;
  @Children(() => SetGroup, 'trainingDayId', {
    isSavedWithParent: true,
    assumedSize: 8,
    description: 'The set groups, in order.',
  })
  declare setGroups: SetGroup[];
}

export default createCrudResolver(TrainingDay);
