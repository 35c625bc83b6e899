import { Model } from 'sequelize-typescript';
import { MAX_INTEGER } from '../../shared/bounds';
import { createCrudResolver } from '../../engine/schema/crud';
import {
  ChoiceField,
  DateField,
  DecimalField,
  Id,
  IntegerField,
} from '../../engine/declare/fields';
import { Owner, Ref, Resource } from '../../engine/declare/resource';
import { Exercise } from '../catalogue/exercise';
import { ExerciseTranslation } from '../catalogue/exercise-translation';
import { RepetitionUnit } from './repetition-unit';
import { RIR_CHOICES } from './rir';
import {
  MASS_UNIT_FIELD_OPTIONS,
  MASS_UNIT_RULE,
  TRAINING_WEIGHT_KG_FIELD_OPTIONS,
  TRAINING_WEIGHT_UNIT_FIELD_OPTIONS,
} from './kilograms';
import {
  EXERCISE_GROUP_KEY_PATHS,
  EXERCISE_REFERENCE_OPTIONS,
  TRANSLATION_ID_DESCRIPTION,
  TRANSLATION_RULES,
} from './exercise-reference';
import { User } from '../../accounts/user';
import { WeightUnit } from './weight-unit';
import { Workout } from './workout';
import { WorkoutSession } from './workout-session';

/**
 * Maximum plausible number of repetitions in a log: the seconds of a day, because repetitions can
 * be logged in seconds.
 */
const MAX_PLAUSIBLE_REPETITIONS = 86_400;

/** Columns that link a log to its session. A user has at most one session per day. */
const SESSION_KEY_COLUMNS = ['user_id', 'workout_id', 'date'] as const;
const sameSessionSql = (logAlias: string, sessionAlias: string) =>
  SESSION_KEY_COLUMNS.map((column) => `${logAlias}."${column}" = ${sessionAlias}."${column}"`).join(
    ' AND ',
  );

@Resource({
  restName: 'workoutlog',
  inReference: { apiRootPosition: 8 },
  dumpModelName: 'manager.workoutlog',
  description: 'A performed set of an exercise.',
  isOwned: true,
  hasBulkMutations: true,
  scopeGroup: 'training',
  ordering: ['date', 'reps'],
  groupKeyPaths: { ...EXERCISE_GROUP_KEY_PATHS, sessionImpression: 'session.impression' },
  labelFieldPaths: ['translation.name'],
  crossFieldRules: [MASS_UNIT_RULE, ...TRANSLATION_RULES],
  filters: ['date', 'translationId', 'reps', 'weight', 'workoutId'],
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
  @Ref(() => ExerciseTranslation, {
    label: 'Exercise',
    graphqlDescription: TRANSLATION_ID_DESCRIPTION,
    column: 'exercise_id',
    restKey: 'exercise',
    setByTriggerIn: 'graphql',
  })
  declare translationId: number;
  @Ref(() => Exercise, EXERCISE_REFERENCE_OPTIONS) declare exerciseId: number;
  @Ref(() => Workout, { label: 'Workout' }) declare workoutId: number;
  @Ref(() => RepetitionUnit, { label: 'Unit', default: 1, defaultDescription: 'repetitions' })
  declare repetitionUnitId: number;
  @Ref(() => WeightUnit, TRAINING_WEIGHT_UNIT_FIELD_OPTIONS) declare weightUnitId: number;
  @ChoiceField(MASS_UNIT_FIELD_OPTIONS) declare massUnit: string | null;
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
