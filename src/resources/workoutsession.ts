import { Model } from 'sequelize-typescript';
import { registerChoices } from '../core/model/choices';
import { createCrudResolver } from '../core/schema/crud';
import { ChoiceField, TimeField, DateField, Id, TextField } from '../core/model/fields';
import { Children, Owner, Ref } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { User } from './user';
import { Workout } from './workout';
import { WorkoutLog } from './workoutlog';

const IMPRESSION_CHOICES = registerChoices(
  'WorkoutImpression',
  'How well a session went, in the opinion of the user.',
  [
    ['BAD', '1', 'Bad', 'Worse than usual.'],
    ['NEUTRAL', '2', 'Neutral', 'Neither well nor badly.'],
    ['GOOD', '3', 'Good', 'As well as possible.'],
  ],
);

/** Pads a time of day to microseconds, so that comparing strings compares times. */
const withMicroseconds = (time: unknown) =>
  String(time) + '00:00:00.000000'.slice(String(time).length);

@Resource({
  restName: 'workoutsession',
  apiRootPosition: 2,
  dumpModelName: 'manager.workoutsession',
  description: 'A training session: the day on which a workout was trained, and how it went.',
  isOwned: true,
  hasBulkMutations: true,
  scopeGroup: 'training',
  ordering: ['date'],
  groupKeyPaths: {},
  labelFieldPaths: ['date'],
  uniqueFields: ['date', 'userId'],
  crossFieldRules: [
    {
      fields: ['startTime', 'endTime'],
      message: 'The session ends before it starts.',
      violatedBy: (rows) =>
        rows.map(
          ({ startTime, endTime }) => withMicroseconds(endTime) < withMicroseconds(startTime),
        ),
    },
  ],
  filters: ['date', 'workoutId', 'notes', 'impression', 'startTime', 'endTime'],
})
export class WorkoutSession extends Model<WorkoutSession> {
  @Id() declare id: number;
  @Owner(() => User) declare userId: number;
  @Ref(() => Workout, { label: 'Workout' }) declare workoutId: number;
  @DateField({
    label: 'Date',
    description: 'The day of the training; a user has one session a day.',
  })
  declare date: string;
  @TextField({
    label: 'Notes',
    helpText: 'Any notes you might want to save about this workout session.',
    allowNull: true,
    allowBlank: true,
  })
  declare notes: string | null;
  @ChoiceField({
    label: 'General impression',
    helpText: 'Your impression about this workout session: did you exercise as well as you could?',
    choices: IMPRESSION_CHOICES,
    default: '2',
    max: 2,
  })
  declare impression: string;
  @TimeField({
    label: 'Start time',
    columnAndRestKey: 'time_start',
    description: 'When the training began.',
    allowNull: true,
  })
  declare startTime: string | null;
  @TimeField({
    label: 'Finish time',
    columnAndRestKey: 'time_end',
    description: 'When the training ended.',
    allowNull: true,
  })
  declare endTime: string | null;
  @Children(() => WorkoutLog, 'sessionId', {
    isConnection: true,
    readOnly: true,
    description: 'The logs of the workout on that day.',
  })
  declare logs: WorkoutLog[];
}

export default createCrudResolver(WorkoutSession);
