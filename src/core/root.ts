/** Queries over rows of every type. */
import { Arg, Ctx, Extensions, ID, Info, Query, Resolver } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from './context';
import { badArgument, notFound } from './errors';
import { Node, parseNodeId } from './node';
import { entityNamed } from './resource';
import { readOne } from './row';
import { knownIds } from './validation';

@Resolver()
export class RootResolver {
  @Query(() => Node, {
    nullable: true,
    description: 'Any row by its `nodeId`. Null and NOT_FOUND if there is none that the viewer may see.',
  })
  async node(
    @Arg('nodeId', () => ID, { description: 'As a row shows it.' }) nodeId: string,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const parsed = parseNodeId(nodeId);
    const entity = parsed && entityNamed(parsed.type);
    if (!entity) throw notFound();
    const row = await readOne(entity, parsed.id, context, info);
    return { ...row, __typename: entity.name };
  }

  @Query(() => [ID], {
    description: 'Of these ids of one type, those that the viewer may refer to: any row of a public type, their own of an owned one.',
  })
  @Extensions({ only: 'rest' })
  known(
    @Arg('type', () => String, { description: 'Name of a type that implements Node.' }) type: string,
    @Arg('ids', () => [ID], { description: 'The ids to look up.' }) ids: string[],
    @Ctx() context: Context,
  ): Promise<number[]> {
    const entity = entityNamed(type);
    if (!entity) throw badArgument('type', `"${type}" is not a type that implements Node.`);
    return knownIds(entity, ids, context);
  }
}
