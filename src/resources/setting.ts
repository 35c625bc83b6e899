import { Model } from 'sequelize-typescript';
import { MAX_INTEGER, MIN_INTEGER } from '../contract/bounds';
import { crud } from '../core/schema/crud';
import { Choose, Decimal, Id, Text, Whole } from '../core/model/fields';
import { Owner, Ref } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { Exercise } from './exercise';
import { RepetitionUnit } from './repetitionunit';
import { RIR } from './rir';
import { byUnit } from './kilograms';
import { KEYS_OF_EXERCISE } from './keysofexercise';
import { User } from './user';
import { WeightUnit } from './weightunit';
import { WorkoutSet } from './workoutset';

@Resource({
  rest: 'setting',
  position: 7,
  dump: 'manager.setting',
  description: 'How an exercise is done in a set: repetitions, weight, repetitions in reserve.',
  owned: true,
  group: 'training',
  ordering: ['order', 'id'],
  grouped: KEYS_OF_EXERCISE,
  names: ['exercise.name'],
  filters: ['exerciseId', 'order', 'reps', 'targetWeight', 'setId'],
})
export class Setting extends Model<Setting> {
  @Id() declare id: number;
  @Ref(() => WorkoutSet, { label: 'Sets' }) declare setId: number;
  @Ref(() => Exercise, { label: 'Exercises' }) declare exerciseId: number;
  @Ref(() => RepetitionUnit, { label: 'Unit', default: 1 }) declare repetitionUnitId: number;
  @Whole({ label: 'Reps', note: 'How many repetitions are planned, in their unit.', min: 0, max: 600 }) declare reps: number;
  @Decimal({
    label: 'Weight',
    note: 'How much is to be lifted, in its unit; null where it is left open.',
    rest: 'weight',
    column: 'weight',
    digits: 6,
    places: 2,
    min: 0,
    max: 1500,
    null: true,
  })
  declare targetWeight: string | null;
  @Decimal(byUnit) declare targetWeightKg: string | null;
  @Ref(() => WeightUnit, { label: 'Unit', default: 1 }) declare weightUnitId: number;
  @Choose({ label: 'RiR', note: 'How many more repetitions are to be left.', choices: RIR, null: true, blank: true, max: 3 }) declare rir:
    string | null;
  @Whole({
    label: 'Order',
    note: 'Place among the settings of the set.',
    min: MIN_INTEGER,
    max: MAX_INTEGER,
    default: 1,
    restIgnoredOnCreate: true,
  })
  declare order: number;
  @Text({ label: 'Comment', note: 'A remark of the user.', max: 100, blank: true }) declare comment: string;
  @Owner(() => User, { hidden: true, inherited: true }) declare userId: number;
}

export default crud(Setting);
