import { Arg, Ctx, Extensions, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import { Model } from 'sequelize-typescript';
import { MAX_INTEGER, MIN_INTEGER } from '../contract/bounds';
import { requiredId } from '../core/operation/arguments';
import type { Context } from '../core/context';
import { crud } from '../core/schema/crud';
import { notFound } from '../core/model/errors';
import { Id, Whole, type PartOf, type RowOf } from '../core/model/fields';
import { Children, Owner, Ref } from '../core/model/relationfields';
import { rowToCount } from '../core/read/loaders';
import { Needs } from '../core/read/plan';
import { Resource } from '../core/model/resource';
import { settingsOf, textOf } from './workout/rows';
import { rounds } from '../training/sequence';
import { Exercise } from './exercise';
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
  group: 'training',
  ordering: ['position'],
  filters: ['trainingDayId', 'position', 'sets'],
  names: ['settings[].exercise.name'],
  apart: 'trainingDay.description',
})
export class WorkoutSet extends Model<WorkoutSet> {
  @Id() declare id: number;
  @Ref(() => TrainingDay, { label: 'Exercise day', rest: 'exerciseday' }) declare trainingDayId: number;
  @Whole({ label: 'Number of sets', note: 'How often its settings are repeated.', min: 0, max: 10, default: 4 }) declare sets: number;
  @Whole({
    label: 'Order',
    rest: 'order',
    column: 'order',
    note: 'Place among the sets of the day; rows without one come last.',
    min: MIN_INTEGER,
    max: MAX_INTEGER,
    null: true,
  })
  declare position: number | null;
  @Owner(() => User, { hidden: true, inherited: true }) declare userId: number;
  @Children(() => Setting, 'setId', { part: true, size: 3, help: 'Its settings, in their order.' }) declare settings: Setting[];
}

@Resolver(() => WorkoutSet)
export default class WorkoutSetResolver extends crud(WorkoutSet) {
  @FieldResolver(() => [Setting], {
    description: 'The settings as they are trained, round by round: a single setting of an exercise is repeated for each set.',
  })
  @Extensions({ action: { name: 'computed_settings', selection: '...setting', key: 'results' } })
  @Needs(() => WorkoutSet, 'sets')
  async computedSettings(@Root() set: PartOf<WorkoutSet, 'id' | 'sets'>, @Ctx() context: Context): Promise<RowOf<Setting>[]> {
    return rounds(set.sets, await settingsOf(set, context));
  }

  @FieldResolver(() => String, {
    description: 'The settings of one exercise in words, e.g. `4 × 10 (20 kg)`; empty if the set has none. Always English.',
  })
  @Extensions({ action: { name: 'smart_text', key: 'results' } })
  @Needs(() => WorkoutSet, 'sets')
  async smartText(
    @Arg('exercise', () => ID, { description: 'Id of the exercise.' }) exercise: string,
    @Root() set: PartOf<WorkoutSet, 'id' | 'sets'>,
    @Ctx() context: Context,
  ): Promise<string> {
    const id = requiredId('exercise', Exercise.name, exercise, context);
    if (id === undefined || !(await rowToCount(Exercise, ['id'], id, context))) throw notFound();
    const settings = await settingsOf(set, context);
    return textOf(
      set,
      settings.filter(({ exerciseId }) => exerciseId === id),
      context,
    );
  }
}
