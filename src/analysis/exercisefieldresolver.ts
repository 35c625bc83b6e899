/** Base class for resolvers of analysis rows that refer to an exercise: adds the fields `exercise` and `exerciseBase`. */
import { Ctx, FieldResolver, Info, Resolver, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../database/rows';
import type { Context } from '../core/context';
import { loadReferencedRow } from '../core/read/loaders';
import { Exercise } from '../resources/exercise';
import { ExerciseBase } from '../resources/exercisebase';

/**
 * Creates the base class for the resolver of the row type `row`. `exerciseDescription` says which translation the field `exercise` returns;
 * `nullDescription` says when both fields are null.
 */
export function createExerciseFieldResolver(
  row: ClassType,
  exerciseDescription: string,
  nullDescription = 'Null until it has been accepted by review.',
): new () => object {
  @Resolver(() => row)
  class ExerciseFieldResolver {
    @FieldResolver(() => Exercise, { nullable: true, description: `${exerciseDescription} ${nullDescription}` })
    exercise(@Root() { exerciseId }: Row, @Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
      return loadReferencedRow(Exercise, exerciseId as number | null, context, info);
    }

    @FieldResolver(() => ExerciseBase, {
      nullable: true,
      description: `The base shared by the translations, which count as one exercise. ${nullDescription}`,
    })
    exerciseBase(@Root() { exerciseBaseId }: Row, @Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
      return loadReferencedRow(ExerciseBase, exerciseBaseId as number | null, context, info);
    }
  }
  return ExerciseFieldResolver;
}
