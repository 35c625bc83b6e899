import { Model } from 'sequelize-typescript';
import { MAX_INTEGER, MIN_INTEGER } from '../../shared/bounds';
import { createCrudResolver } from '../../engine/schema/crud';
import {
  ChoiceField,
  DecimalField,
  Id,
  TextField,
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
import { SetGroup } from './set-group';

@Resource({
  restName: 'setting',
  title: 'Setting',
  table: 'setting',
  inReference: { apiRootPosition: 7 },
  dumpModelName: 'manager.setting',
  description: 'A planned set of an exercise: repetitions, weight, repetitions in reserve.',
  isOwned: true,
  scopeGroup: 'training',
  ordering: ['position', 'id'],
  groupKeyPaths: EXERCISE_GROUP_KEY_PATHS,
  labelFieldPaths: ['translation.name'],
  crossFieldRules: [MASS_UNIT_RULE, ...TRANSLATION_RULES],
  filters: ['translationId', 'position', 'reps', 'targetWeight', 'setGroupId'],
})
export class PlannedSet extends Model<PlannedSet> {
  @Id() declare id: number;
  @Ref(() => SetGroup, { label: 'Sets', restKey: 'set', column: 'set_id' })
  declare setGroupId: number;
  @Ref(() => ExerciseTranslation, {
    label: 'Exercises',
    graphqlDescription: TRANSLATION_ID_DESCRIPTION,
    column: 'exercise_id',
    restKey: 'exercise',
    setByTriggerIn: 'graphql',
  })
  declare translationId: number;
  @Ref(() => Exercise, EXERCISE_REFERENCE_OPTIONS) declare exerciseId: number;
  @Ref(() => RepetitionUnit, { label: 'Unit', default: 1, defaultDescription: 'repetitions' })
  declare repetitionUnitId: number;
  @IntegerField({
    label: 'Reps',
    description: 'The planned number, in the repetition unit.',
    min: 0,
    max: 600,
  })
  declare reps: number;
  @DecimalField({
    label: 'Weight',
    description: 'The planned weight, in the weight unit; null if it is left open.',
    columnAndRestKey: 'weight',
    maxDigits: 6,
    decimalPlaces: 2,
    min: 0,
    max: 1500,
    allowNull: true,
  })
  declare targetWeight: string | null;
  @DecimalField(TRAINING_WEIGHT_KG_FIELD_OPTIONS) declare targetWeightKg: string | null;
  @Ref(() => WeightUnit, TRAINING_WEIGHT_UNIT_FIELD_OPTIONS) declare weightUnitId: number;
  @ChoiceField(MASS_UNIT_FIELD_OPTIONS) declare massUnit: string | null;
  @ChoiceField({
    label: 'RiR',
    description: 'The planned number of repetitions in reserve.',
    choices: RIR_CHOICES,
    allowNull: true,
    allowBlank: true,
    max: 3,
  })
  declare rir: string | null;
  @IntegerField({
    label: 'Order',
    columnAndRestKey: 'order',
    isPosition: true,
    description: 'Position among the planned sets of the group.',
    min: MIN_INTEGER,
    max: MAX_INTEGER,
    default: 1,
    restIgnoredOnCreate: true,
  })
  declare position: number;
  @TextField({
    label: 'Comment',
    columnAndRestKey: 'comment',
    description: 'A comment by the user.',
    max: 100,
    allowBlank: true,
  })
  declare notes: string;
  @Owner(() => User, { hiddenInRest: true, restSortable: false }) declare userId: number;
}

export default createCrudResolver(PlannedSet);
