import { Arg, Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import { FieldExtensions, listSizeExtensions } from '../../engine/declare/field-extensions';
import { Model } from 'sequelize-typescript';
import { MAX_INTEGER, MIN_INTEGER } from '../../shared/bounds';
import type { Context } from '../../engine/context';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, IntegerField, type RowFields, type RowOf } from '../../engine/declare/fields';
import { Children, Owner, Ref, Resource } from '../../engine/declare/resource';
import { loadRowEvenIfHidden } from '../../engine/read/loaders';
import { missingRow } from '../../engine/read/rows';
import { RequiresFields } from '../../engine/read/query-plan';
import { loadPlannedSets, summarizePlannedSets } from './workout/loaders';
import { arrangeInRounds } from './sequence';
import { exerciseEntity, exerciseIdField } from './exercise-reference';
import { parseIdArgument } from '../id-argument';
import { PlannedSet } from './planned-set';
import { TrainingDay } from './training-day';
import { User } from '../../accounts/user';

@Resource({
  restName: 'set',
  inReference: { apiRootPosition: 6 },
  title: 'Set',
  table: 'workout_set',
  dumpModelName: 'manager.set',
  description: 'A group of planned sets on a training day, trained together.',
  isOwned: true,
  scopeGroup: 'training',
  ordering: ['position'],
  filters: ['trainingDayId', 'position', 'sets'],
  labelFieldPaths: ['plannedSets[].translation.name'],
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
    isPosition: true,
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
    action: {
      name: 'computed_settings',
      graphqlSelection: '...setting',
      wrapperKey: 'results',
      hiddenOnPages: true,
    },
    ...listSizeExtensions(10),
  })
  @RequiresFields(() => SetGroup, 'sets')
  async sequence(
    @Root() setGroup: RowFields<SetGroup, 'id' | 'sets'>,
    @Ctx() context: Context,
  ): Promise<RowOf<PlannedSet>[]> {
    return arrangeInRounds(
      setGroup.sets,
      await loadPlannedSets(setGroup, context),
      exerciseIdField(context),
    );
  }

  @FieldResolver(() => String, {
    nullable: true,
    description:
      'The planned sets of one exercise in words, e.g. `4 × 10 (20 kg)`; empty if the group has none, null if there is no such exercise. Always English.',
  })
  @FieldExtensions({ action: { name: 'smart_text', wrapperKey: 'results', hiddenOnPages: true } })
  @RequiresFields(() => SetGroup, 'sets')
  async summary(
    @Root() setGroup: RowFields<SetGroup, 'id' | 'sets'>,
    @Arg('exerciseId', () => ID, { description: 'Id of the exercise.' }) exerciseId: string,
    @Ctx() context: Context,
  ): Promise<string | null> {
    const target = exerciseEntity(context);
    const id = parseIdArgument('exerciseId', target.name, exerciseId, context);

    if (id === undefined || !(await loadRowEvenIfHidden(target, ['id'], id, context))) {
      return missingRow(context);
    }

    const plannedSets = await loadPlannedSets(setGroup, context);

    return summarizePlannedSets(
      setGroup,
      plannedSets.filter((plannedSet) => plannedSet[exerciseIdField(context)] === id),
      context,
    );
  }
}
