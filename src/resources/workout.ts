import { Model } from 'sequelize-typescript';
import { crud } from '../core/crud';
import { Children, Day, defaults, Id, Owner, Text } from '../core/fields';
import { Resource } from '../core/resource';
import { ScheduleStep } from './schedulestep';
import { TrainingDay } from './trainingday';
import { User } from './user';
import { WorkoutLog } from './workoutlog';
import { WorkoutSession } from './workoutsession';

@Resource({
  rest: 'workout',
  position: 1,
  dump: 'manager.workout',
  description: 'A training plan; its days hang below it.',
  owned: true,
  ordering: ['-creationDate'],
  filters: ['comment', 'creationDate'],
})
export class Workout extends Model<Workout> {
  @Id() declare id: number;
  @Day({ label: 'Creation date', readOnly: true, default: defaults.today }) declare creationDate: string;
  @Text({ label: 'Description', help: 'A short description or goal of the workout, e.g. "Focus on back".', max: 100, blank: true })
  declare comment: string;
  @Owner(() => User, { hidden: true }) declare userId: number;
  @Children(() => TrainingDay, 'workoutId', { help: 'The days of the plan.' }) declare days: TrainingDay[];
  @Children(() => WorkoutSession, 'workoutId', { connection: true, help: 'The days on which it was trained.' })
  declare sessions: WorkoutSession[];
  @Children(() => WorkoutLog, 'workoutId', { connection: true, help: 'What was logged for it.' }) declare logs: WorkoutLog[];
  @Children(() => ScheduleStep, 'workoutId', { help: 'Where schedules use it.' }) declare scheduleSteps: ScheduleStep[];
}

export default crud(Workout);
