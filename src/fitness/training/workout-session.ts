import { Model } from 'sequelize-typescript';
import { registerChoices } from '../../engine/declare/choices';
import { createCrudResolver } from '../../engine/schema/crud';
import { ChoiceField, TimeField, DateField, Id, TextField } from '../../engine/declare/fields';
import { Children, Owner, Ref, Resource } from '../../engine/declare/resource';
import { User } from '../../accounts/user';
import { Workout } from './workout';
import { WorkoutLog } from './workout-log';

const IMPRESSION_CHOICES = registerChoices(
  'WorkoutImpression',
  'How well a session went, in the opinion of the user.',
  [
    ['BAD', '1', 'Bad', 'Worse than usual.'],
    ['NEUTRAL', '2', 'Neutral', 'Neither well nor badly.'],
    ['GOOD', '3', 'Good', 'As well as possible.'],
  ],
);

const SECONDS_PER_HOUR = 3_600;
const SECONDS_PER_DAY = 24 * SECONDS_PER_HOUR;

/** Maximum duration of a session that ends on the next day, so that swapped times are noticed. */
const MAX_HOURS_OVER_MIDNIGHT = 12;

/** Seconds since midnight of a time such as `23:10` or `23:10:00.500000`. */
function secondsOf(time: unknown): number {
  const [hours, minutes, seconds = 0] = String(time).split(':').map(Number) as [
    number,
    number,
    number?,
  ];

  return hours * SECONDS_PER_HOUR + minutes * 60 + seconds;
}

@Resource({
  restName: 'workoutsession',
  inReference: { apiRootPosition: 2 },
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
      message: `The session ends before it starts, or takes more than ${MAX_HOURS_OVER_MIDNIGHT} hours over midnight.`,
      violatedBy: (rows) =>
        rows.map(({ startTime, endTime }) => {
          const seconds = secondsOf(endTime) - secondsOf(startTime);

          return (
            seconds < 0 && seconds + SECONDS_PER_DAY > MAX_HOURS_OVER_MIDNIGHT * SECONDS_PER_HOUR
          );
        }),
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
    graphqlDescription: 'A comment by the user.',
    allowNull: true,
    allowBlank: true,
  })
  declare notes: string | null;
  @ChoiceField({
    label: 'General impression',
    helpText: 'Your impression about this workout session: did you exercise as well as you could?',
    graphqlDescription: 'How well the training went.',
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
    description: 'When the training ended. An end before the start is on the next day.',
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
