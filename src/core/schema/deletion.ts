/** The payload of all deletions: both ids of each deleted row, or the rows as they are now if other versions of them were meant. */
import { Ctx, Field, ID, Info, ObjectType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { OtherVersion } from '../model/errors';
import type { Entity } from '../model/fields';
import { Node, nodeIdOf } from '../model/node';
import { loadLinked } from '../read/loaders';
import { FieldError, versionErrors } from './payload';

@ObjectType({
  description: 'Rows that were deleted, in the order in which they were named. Caches evict them by `deletedNodeIds`.',
  simpleResolvers: true,
})
export class DeletePayload {
  @Field(() => [ID], { description: 'The `id`s of the rows; empty if nothing was deleted.' })
  readonly deletedIds: readonly number[];

  @Field(() => [ID], { description: 'Their `nodeId`s.' })
  readonly deletedNodeIds: readonly string[];

  @Field(() => [FieldError], { description: 'One `CONFLICT` for each row whose version did not match; then nothing was deleted.' })
  readonly fieldErrors: readonly FieldError[];

  constructor(
    private readonly entity: Entity,
    ids: readonly number[],
    private readonly clash?: OtherVersion,
  ) {
    this.deletedIds = ids;
    this.deletedNodeIds = ids.map((id) => nodeIdOf(entity.name, id));
    this.fieldErrors = clash ? versionErrors(clash) : [];
  }

  @Field(() => [Node], { description: 'The current rows whose versions did not match.' })
  async conflicts(@Ctx() context: Context, @Info() info: GraphQLResolveInfo): Promise<Row[]> {
    const { entity, clash } = this;
    const rows = await loadLinked(entity, clash?.ids ?? [], context, info);
    return rows.map((row) => ({ ...row, __typename: entity.name }));
  }
}

export async function deleted(entity: Entity, remove: () => Promise<number[]>): Promise<DeletePayload> {
  try {
    return new DeletePayload(entity, await remove());
  } catch (error) {
    if (error instanceof OtherVersion) return new DeletePayload(entity, [], error);
    throw error;
  }
}
