/** The exercise that a row of an answer is about, for the resolver of such rows to extend. */
import { Ctx, FieldResolver, Info, Resolver, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../database/rows';
import type { Context } from '../core/context';
import { loadParent } from '../core/read/loaders';
import { Exercise } from '../resources/exercise';

export function withExercise(row: ClassType, description: string): new () => object {
  @Resolver(() => row)
  class WithExercise {
    @FieldResolver(() => Exercise, { nullable: true, description })
    exercise(@Root() { exerciseId }: Row, @Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
      return loadParent(Exercise, exerciseId as number | null, context, info);
    }
  }
  return WithExercise;
}
