import { Model } from 'sequelize-typescript';
import { MAX_INTEGER } from '../contract/bounds';
import { createCrudResolver } from '../core/schema/crud';
import { ChoiceField, DateField, DecimalField, Id, IntegerField } from '../core/model/fields';
import { Owner, Ref } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { Exercise } from './exercise';
import { RepetitionUnit } from './repetitionunit';
import { RIR_CHOICES } from './rir';
import { TRAINING_WEIGHT_KG_FIELD_OPTIONS, TRAINING_WEIGHT_UNIT_FIELD_OPTIONS } from './kilograms';
import { GROUP_PATHS_VIA_EXERCISE } from './grouppathsviaexercise';
import { User } from './user';
import { WeightUnit } from './weightunit';
import { Workout } from './workout';
import { WorkoutSession } from './workoutsession';

/** Maximum plausible number of repetitions of a log: the seconds of a day, because seconds are the repetition unit with the largest numbers. */
const MAX_PLAUSIBLE_REPETITIONS = 86_400;

/** Columns whose equality links a log and its session; a user has at most one session a day. */
const SESSION_KEY_COLUMNS = ['user_id', 'workout_id', 'date'] as const;
const sameSessionSql = (logAlias: string, sessionAlias: string) =>
  SESSION_KEY_COLUMNS.map((column) => `${logAlias}."${column}" = ${sessionAlias}."${column}"`).join(
    ' AND ',
  );

@Resource({
  restName: 'workoutlog',
  apiRootPosition: 8,
  dumpModelName: 'manager.workoutlog',
  description: 'A performed set of an exercise.',
  isOwned: true,
  hasBulkMutations: true,
  scopeGroup: 'training',
  ordering: ['date', 'reps'],
  groupKeyPaths: { ...GROUP_PATHS_VIA_EXERCISE, sessionImpression: 'session.impression' },
  labelFieldPaths: ['exercise.name'],
  filters: ['date', 'exerciseId', 'reps', 'weight', 'workoutId'],
})
export class WorkoutLog extends Model<WorkoutLog> {
  @Id() declare id: number;
  @IntegerField({
    label: 'Repetitions',
    description: 'The number performed, in the repetition unit.',
    min: 0,
    max: MAX_INTEGER,
    plausibleMax: MAX_PLAUSIBLE_REPETITIONS,
  })
  declare reps: number;
  @DecimalField({
    label: 'Weight',
    description: 'The weight lifted, in the weight unit.',
    maxDigits: 5,
    decimalPlaces: 2,
    min: 0,
  })
  declare weight: string;
  @DecimalField(TRAINING_WEIGHT_KG_FIELD_OPTIONS) declare weightKg: string | null;
  @DateField({ label: 'Date', description: 'The day of the training.' }) declare date: string;
  @ChoiceField({
    label: 'RiR',
    description: 'Repetitions in reserve: how many more could have been done.',
    choices: RIR_CHOICES,
    allowNull: true,
    allowBlank: true,
    max: 3,
  })
  declare rir: string | null;
  @Ref(() => Exercise, { label: 'Exercise' }) declare exerciseId: number;
  @Ref(() => Workout, { label: 'Workout' }) declare workoutId: number;
  @Ref(() => RepetitionUnit, { label: 'Unit', default: 1, defaultDescription: 'repetitions' })
  declare repetitionUnitId: number;
  @Ref(() => WeightUnit, TRAINING_WEIGHT_UNIT_FIELD_OPTIONS) declare weightUnitId: number;
  @Ref(() => WorkoutSession, {
    label: 'Session',
    description: 'Id of the session of that workout on that day, if there is one.',
    allowNull: true,
    exclusiveTo: 'graphql',
    sql: (alias) => `(SELECT s."id" FROM "workout_session" s WHERE ${sameSessionSql(alias, 's')})`,
    matchingColumns: SESSION_KEY_COLUMNS,
  })
  declare sessionId: number | null;
  @Owner(() => User, { hiddenInRest: true }) declare userId: number;
}

export default createCrudResolver(WorkoutLog);
