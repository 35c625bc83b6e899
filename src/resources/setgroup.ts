import { Arg, Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import { FieldExtensions, listSizeExtensions } from '../core/model/fieldextensions';
import { Model } from 'sequelize-typescript';
import { MAX_INTEGER, MIN_INTEGER } from '../contract/bounds';
import { parseIdArgument } from '../core/operation/idargument';
import type { Context } from '../core/context';
import { createCrudResolver } from '../core/schema/crud';
import { notFoundError } from '../core/model/errors';
import { Id, IntegerField, type RowFields, type RowOf } from '../core/model/fields';
import { Children, Owner, Ref } from '../core/model/relationfields';
import { loadRowEvenIfHidden } from '../core/read/loaders';
import { RequiresFields } from '../core/read/queryplan';
import { Resource } from '../core/model/resource';
import { loadPlannedSets, summarizePlannedSets } from './workout/loaders';
import { arrangeInRounds } from '../training/sequence';
import { Exercise } from './exercise';
import { PlannedSet } from './plannedset';
import { TrainingDay } from './trainingday';
import { User } from './user';

@Resource({
  restName: 'set',
  apiRootPosition: 6,
  title: 'Set',
  table: 'workout_set',
  dumpModelName: 'manager.set',
  description: 'A group of planned sets on a training day, trained together.',
  isOwned: true,
  scopeGroup: 'training',
  ordering: ['position'],
  filters: ['trainingDayId', 'position', 'sets'],
  labelFieldPaths: ['plannedSets[].exercise.name'],
  distinguishingFieldPath: 'trainingDay.name',
})
export class SetGroup extends Model<SetGroup> {
  @Id() declare id: number;
  @Ref(() => TrainingDay, { label: 'Exercise day', restKey: 'exerciseday' })
  declare trainingDayId: number;
  @IntegerField({
    label: 'Number of sets',
    description: 'How often its planned sets are repeated.',
    min: 0,
    max: 10,
    default: 4,
  })
  declare sets: number;
  @IntegerField({
    label: 'Order',
    columnAndRestKey: 'order',
    description: 'Position among the set groups of the day; groups without one come last.',
    min: MIN_INTEGER,
    max: MAX_INTEGER,
    allowNull: true,
  })
  declare position: number | null;
  @Owner(() => User, { hiddenInRest: true, restSortable: false }) declare userId: number;
  @Children(() => PlannedSet, 'setGroupId', {
    isSavedWithParent: true,
    assumedSize: 3,
    description: 'The planned sets of the group, in order.',
  })
  declare plannedSets: PlannedSet[];
}

@Resolver(() => SetGroup)
export default class SetGroupResolver extends createCrudResolver(SetGroup) {
  @FieldResolver(() => [PlannedSet], {
    description:
      'The planned sets in training order, round by round: a planned set that stands for several sets is repeated.',
  })
  @FieldExtensions({
    action: { name: 'computed_settings', graphqlSelection: '...setting', wrapperKey: 'results' },
    ...listSizeExtensions(10),
  })
  @RequiresFields(() => SetGroup, 'sets')
  async sequence(
    @Root() setGroup: RowFields<SetGroup, 'id' | 'sets'>,
    @Ctx() context: Context,
  ): Promise<RowOf<PlannedSet>[]> {
    return arrangeInRounds(setGroup.sets, await loadPlannedSets(setGroup, context));
  }

  @FieldResolver(() => String, {
    description:
      'The planned sets of one exercise in words, e.g. `4 × 10 (20 kg)`; empty if the set has none. Always English.',
  })
  @FieldExtensions({ action: { name: 'smart_text', wrapperKey: 'results' } })
  @RequiresFields(() => SetGroup, 'sets')
  async summary(
    @Root() setGroup: RowFields<SetGroup, 'id' | 'sets'>,
    @Arg('exerciseId', () => ID, {
      description: 'Id of the exercise; `NOT_FOUND` if it does not exist.',
    })
    exerciseId: string,
    @Ctx() context: Context,
  ): Promise<string> {
    const id = parseIdArgument('exerciseId', Exercise.name, exerciseId, context);
    if (id === undefined || !(await loadRowEvenIfHidden(Exercise, ['id'], id, context)))
      throw notFoundError();
    const plannedSets = await loadPlannedSets(setGroup, context);
    return summarizePlannedSets(
      setGroup,
      plannedSets.filter(({ exerciseId }) => exerciseId === id),
      context,
    );
  }
}
