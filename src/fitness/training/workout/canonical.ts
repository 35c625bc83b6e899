/**
 * Canonical representation of a workout, for REST and HTML pages: all its parts in training order,
 * with summaries and muscles. A query reads only the parts that it selects. They are cached until
 * rows of the workout's owner change.
 */
import { Ctx, Field, Info, ObjectType } from 'type-graphql';
import { FieldExtensions, ListSize } from '../../../engine/declare/field-extensions';
import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from '../../../engine/context';
import type { RowOf } from '../../../engine/declare/fields';
import { loadReferencedRow, loadChildFields } from '../../../engine/read/loaders';
import { LazyDerivedValue } from '../../../engine/changes/derived-values';
import { selectionCacheKey } from '../../../engine/declare/selections';
import { UNREVIEWED_REFERENCE_NOTE } from '../../../engine/schema/crud';
import { mediaUrl } from '../../../files/paths';
import { DayOfWeek } from '../day-of-week';
import { ExerciseTranslation } from '../../catalogue/exercise-translation';
import { ExerciseComment } from '../../catalogue/exercise-comment';
import { ExerciseImage } from '../../catalogue/exercise-image';
import { Muscle } from '../../catalogue/muscle';
import { PlannedSet } from '../planned-set';
import { TrainingDay } from '../training-day';
import { Workout } from '.';
import { SetGroup } from '../set-group';
import { groupMuscles, type MuscleGroups, type ExerciseMuscles } from '../../catalogue/muscles';
import * as loaders from './loaders';
import { arrangeInRounds } from '../sequence';
import { hasNonzeroWeight } from '../summary';

@ObjectType({
  description:
    'The muscles that exercises train, each once, in the order of their first appearance. A muscle that is trained as a primary one is not listed as a secondary one.',
  simpleResolvers: true,
})
export class TrainedMuscles {
  @ListSize(3)
  @Field(() => [Muscle], { description: 'Primary muscles on the front of the body.' })
  declare front: RowOf<Muscle>[];
  @ListSize(3)
  @Field(() => [Muscle], { description: 'Primary muscles on the back of the body.' })
  declare back: RowOf<Muscle>[];
  @ListSize(2)
  @Field(() => [Muscle], { description: 'Secondary muscles on the front of the body.' })
  declare frontSecondary: RowOf<Muscle>[];
  @ListSize(2)
  @Field(() => [Muscle], { description: 'Secondary muscles on the back of the body.' })
  declare backSecondary: RowOf<Muscle>[];
}

const trainedMuscles = (
  exercises: readonly ExerciseMuscles[],
  { services: { catalogue } }: Context,
): MuscleGroups<RowOf<Muscle>> => groupMuscles(exercises, (id) => catalogue.get(Muscle, id));

@ObjectType({ description: 'An image of an exercise in a workout.', simpleResolvers: true })
export class CanonicalImage {
  @Field(() => String, { description: 'URL of the image, without scheme and host.' })
  declare image: string;
  @Field(() => Boolean, { description: 'Whether this is the main image of the exercise.' })
  declare isMain: boolean;
}

@ObjectType({
  description: 'An exercise of a set group, with its planned sets.',
  simpleResolvers: true,
})
export class CanonicalExercise extends LazyDerivedValue {
  @ListSize(2)
  @Field(() => [PlannedSet], { description: 'The planned sets, in order.' })
  readonly plannedSets: RowOf<PlannedSet>[];
  private readonly translationId: number;

  constructor(
    private readonly setGroup: RowOf<SetGroup>,
    plannedSets: RowOf<PlannedSet>[],
    parent: CanonicalSetGroup,
  ) {
    super(parent);
    this.plannedSets = plannedSets;
    this.translationId = plannedSets[0]!.translationId;
    this.addToObjectCount(plannedSets.length);
  }

  @Field(() => String, {
    description: 'The planned sets in words, e.g. `4 × 10 (20 kg)`. Always English.',
  })
  summary(@Ctx() context: Context): string {
    return loaders.summarizePlannedSets(this.setGroup, this.plannedSets, context);
  }

  @Field(() => Boolean, {
    description: 'Whether one of the planned sets has a weight other than zero.',
  })
  hasWeight(): boolean {
    return this.plannedSets.some(({ targetWeight }) => hasNonzeroWeight({ weight: targetWeight }));
  }

  @ListSize(3)
  @Field(() => [String], { description: 'Short hints on performing the exercise.' })
  comments(@Ctx() context: Context): Promise<string[]> {
    return this.computeOnce('comments', async () => {
      const comments = await loadChildFields(
        ExerciseComment,
        'translationId',
        ['comment'],
        this.translationId,
        context,
      );

      return comments.map(({ comment }) => comment);
    });
  }

  @ListSize(3)
  @Field(() => [CanonicalImage], {
    description: 'The images of the exercise, pending ones included, main image first.',
  })
  images(@Ctx() context: Context): Promise<CanonicalImage[]> {
    return this.computeOnce('images', async () => {
      const translation = await loaders.loadTranslation(this.translationId, context);

      if (!translation) return [];
      const images = await loadChildFields(
        ExerciseImage,
        'exerciseId',
        ['image', 'isMain'],
        translation.exerciseId,
        context,
      );

      const { basePath } = context.request;

      return images.map(({ image, isMain }) => ({ image: mediaUrl(basePath, image), isMain }));
    });
  }

  @Field(() => ExerciseTranslation, {
    nullable: true,
    description: `The exercise. ${UNREVIEWED_REFERENCE_NOTE}`,
  })
  @FieldExtensions({ neverNullInRest: true })
  exercise(@Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    return this.computeOnce(selectionCacheKey(info.fieldNodes), async () =>
      loadReferencedRow(ExerciseTranslation, this.translationId, context, info),
    );
  }
}

@ObjectType({
  description: 'A set group of a training day, fully resolved.',
  simpleResolvers: true,
})
export class CanonicalSetGroup extends LazyDerivedValue {
  @Field(() => SetGroup, { description: 'The set group itself.' })
  readonly setGroup: RowOf<SetGroup>;

  constructor(setGroup: RowOf<SetGroup>, parent: CanonicalDay) {
    super(parent);
    this.setGroup = setGroup;
  }

  @ListSize(3)
  @Field(() => [CanonicalExercise], {
    description: 'The exercises of the planned sets, in the order in which they first appear.',
  })
  exercises(@Ctx() context: Context): Promise<CanonicalExercise[]> {
    return this.computeOnce('exercises', async () =>
      (await loaders.loadPlannedSetsByExercise(this.setGroup, context)).map(
        (plannedSets) => new CanonicalExercise(this.setGroup, plannedSets, this),
      ),
    );
  }

  @Field(() => Boolean, { description: 'Whether the group has more than one exercise.' })
  async isSuperset(@Ctx() context: Context): Promise<boolean> {
    return (await this.exercises(context)).length > 1;
  }

  @ListSize(10)
  @Field(() => [PlannedSet], { description: 'The planned sets in training order, round by round.' })
  sequence(@Ctx() context: Context): Promise<RowOf<PlannedSet>[]> {
    return this.computeOnce('sequence', async () =>
      arrangeInRounds(
        this.setGroup.sets,
        await loaders.loadPlannedSets(this.setGroup, context),
        'translationId',
      ),
    );
  }

  @Field(() => TrainedMuscles, { description: 'The muscles trained by the group.' })
  muscles(@Ctx() context: Context): Promise<TrainedMuscles> {
    return this.computeOnce('muscles', async () =>
      trainedMuscles(await loaders.loadExercisesOfSetGroup(this.setGroup, context), context),
    );
  }
}

@ObjectType({
  description: 'The days of the week on which a training day is trained.',
  simpleResolvers: true,
})
export class CanonicalWeekdays {
  @Field(() => String, { description: 'The English names of the days, e.g. `Wednesday, Friday`.' })
  declare text: string;
  @Field(() => [DayOfWeek], { description: 'The days, Monday first.' })
  declare days: RowOf<DayOfWeek>[];
}

@ObjectType({ description: 'A training day, fully resolved.', simpleResolvers: true })
export class CanonicalDay extends LazyDerivedValue {
  @Field(() => TrainingDay, { description: 'The training day itself.' })
  readonly day: RowOf<TrainingDay>;

  constructor(day: RowOf<TrainingDay>, parent: CanonicalWorkout) {
    super(parent);
    this.day = day;
  }

  @ListSize(8)
  @Field(() => [CanonicalSetGroup], { description: 'The set groups, in order.' })
  setGroups(@Ctx() context: Context): Promise<CanonicalSetGroup[]> {
    return this.computeOnce('set groups', async () =>
      (await loaders.loadSetGroups(this.day, context)).map(
        (setGroup) => new CanonicalSetGroup(setGroup, this),
      ),
    );
  }

  @Field(() => CanonicalWeekdays, { description: 'The days of the week of the training day.' })
  weekdays(@Ctx() { services: { catalogue } }: Context): CanonicalWeekdays {
    const days = this.day.weekdays
      .map((id) => catalogue.get(DayOfWeek, id))
      .filter((day) => day !== null);

    return { text: days.map(({ dayOfWeek }) => dayOfWeek).join(', '), days };
  }

  @Field(() => TrainedMuscles, { description: 'The muscles trained on the day.' })
  muscles(@Ctx() context: Context): Promise<TrainedMuscles> {
    return this.computeOnce('muscles', async () =>
      trainedMuscles(await loaders.loadExercisesOfDay(this.day, context), context),
    );
  }
}

@ObjectType({
  description:
    'A workout, fully resolved: days in the order of the week, set groups, exercises, summaries and muscles.',
  simpleResolvers: true,
})
export class CanonicalWorkout extends LazyDerivedValue {
  @Field(() => Workout, { description: 'The workout itself.' }) readonly workout: RowOf<Workout>;

  constructor(workout: RowOf<Workout>) {
    super();
    this.workout = workout;
  }

  @ListSize(4)
  @Field(() => [CanonicalDay], {
    description: 'The training days, ordered by their first day of the week.',
  })
  days(@Ctx() context: Context): Promise<CanonicalDay[]> {
    return this.computeOnce('days', async () =>
      (await loaders.loadDays(this.workout, context)).map((day) => new CanonicalDay(day, this)),
    );
  }

  @Field(() => TrainedMuscles, { description: 'The muscles trained by the workout.' })
  muscles(@Ctx() context: Context): Promise<TrainedMuscles> {
    return this.computeOnce('muscles', async () =>
      trainedMuscles(await loaders.loadExercisesOfWorkout(this.workout, context), context),
    );
  }
}

const MUSCLES_SELECTION = `muscles { front { ...muscle } back { ...muscle } frontsecondary: frontSecondary { ...muscle }
  backsecondary: backSecondary { ...muscle } }`;

export const CANONICAL_WORKOUT_SELECTION = `obj: workout { ...workout } day_list: days {
  obj: day { ...day }
  set_list: setGroups {
    obj: setGroup { ...set }
    exercise_list: exercises {
      setting_obj_list: plannedSets { ...setting } setting_text: summary has_weight: hasWeight comment_list: comments
      image_list: images { image is_main: isMain } obj: exercise { ...exercise }
    }
    is_superset: isSuperset settings_computed: sequence { ...setting } ${MUSCLES_SELECTION}
  }
  days_of_week: weekdays { text day_list: days { ...daysofweek } } ${MUSCLES_SELECTION}
} ${MUSCLES_SELECTION}`;
