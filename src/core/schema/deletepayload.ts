/** Payload of all delete mutations: ids of the deleted rows, or validation issues. */
import { Ctx, Field, ID, Info, ObjectType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { InvalidInput } from '../model/errors';
import type { Entity } from '../model/fields';
import { ListSize } from '../model/fieldextensions';
import { Node, nodeIdOf } from '../model/node';
import { loadRowsById } from '../read/loaders';
import type { InputIssue } from '../model/validationissues';
import { InputError, TYPICAL_ISSUE_COUNT } from './payload';

const TYPICAL_DELETED_ROW_COUNT = 1;

@ObjectType({
  description:
    'The deleted rows, in the order of the input. Caches can evict them by `deletedNodeIds`.',
  simpleResolvers: true,
})
export class DeletePayload {
  @ListSize(TYPICAL_DELETED_ROW_COUNT)
  @Field(() => [ID], {
    description: 'The `id`s of the deleted rows; empty if nothing was deleted.',
  })
  readonly deletedIds: readonly number[];

  @ListSize(TYPICAL_DELETED_ROW_COUNT)
  @Field(() => [ID], { description: 'The `nodeId`s of the deleted rows.' })
  readonly deletedNodeIds: readonly string[];

  @ListSize(TYPICAL_ISSUE_COUNT)
  @Field(() => [InputError], {
    description:
      'One error for each row that was not found or had another version. If there are any, nothing was deleted.',
  })
  readonly errors: readonly InputIssue[];

  constructor(
    private readonly entity: Entity,
    ids: readonly number[],
    private readonly invalidInput?: InvalidInput,
  ) {
    this.deletedIds = ids;
    this.deletedNodeIds = ids.map((id) => nodeIdOf(entity.name, id));
    this.errors = invalidInput?.issues ?? [];
  }

  @ListSize(TYPICAL_ISSUE_COUNT)
  @Field(() => [Node], { description: 'The current rows with other versions than expected.' })
  async conflicts(@Ctx() context: Context, @Info() info: GraphQLResolveInfo): Promise<Row[]> {
    const { entity, invalidInput } = this;
    const rows = await loadRowsById(entity, invalidInput?.conflictingIds ?? [], context, info);
    return rows.map((row) => ({ ...row, __typename: entity.name }));
  }
}

/** Runs a deletion and returns its payload; validation issues become its errors. */
export async function runDeletion(
  entity: Entity,
  deleteRows: () => Promise<number[]>,
): Promise<DeletePayload> {
  try {
    return new DeletePayload(entity, await deleteRows());
  } catch (error) {
    if (error instanceof InvalidInput) return new DeletePayload(entity, [], error);
    throw error;
  }
}
