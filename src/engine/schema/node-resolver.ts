/**
 * Queries for rows of any type: `node` and `nodes`
 * (https://relay.dev/graphql/objectidentification.htm), and `referenceableIds` for the validation
 * of references in REST.
 */
import { Arg, Ctx, ID, Info, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../declare/field-extensions';
import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { atMostElementsMessage } from '../../shared/messages';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { invalidArgumentError, ClientError } from '../declare/errors';
import type { Entity } from '../declare/fields';
import { parseRowId, Node, parseNodeId } from '../declare/node';
import { findEntity } from '../declare/registry';
import { readRowById, readRowsById } from '../read/rows';
import { findReferenceableIds } from '../write/validation';
import { addToList } from '../../shared/multimap';

const MAX_NODES = 100;

/** Decodes a `nodeId`. Invalid ids and types that are not in the schema yield no entity. */
function resolveNodeId(schema: GraphQLSchema, nodeId: string): { entity?: Entity; id?: number } {
  const parsedNodeId = parseNodeId(nodeId);

  if (!parsedNodeId || !schema.getType(parsedNodeId.type)) return {};

  return { entity: findEntity(parsedNodeId.type), id: parseRowId(parsedNodeId.id) };
}

@Resolver()
export class NodeResolver {
  @Query(() => Node, {
    nullable: true,
    description:
      'Any row by its `nodeId`. Null if it does not exist or is not visible to the viewer.',
  })
  async node(
    @Arg('nodeId', () => ID, { description: 'The `nodeId` of the row.' }) nodeId: string,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { entity, id } = resolveNodeId(info.schema, nodeId);

    const row = entity && (await readRowById(entity, id, context, info));

    return row ? { ...row, __typename: entity.name } : null;
  }

  @Query(() => [Node], {
    nullable: 'items',
    description: `Rows by their \`nodeId\`s, in the given order, at most ${MAX_NODES}. Null for each row that \`node\` would not find.`,
  })
  async nodes(
    @Arg('nodeIds', () => [ID], { description: 'The `nodeId`s of the rows.' }) nodeIds: string[],
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<(Row | Error | null)[]> {
    if (nodeIds.length > MAX_NODES) {
      throw invalidArgumentError('nodeIds', atMostElementsMessage(MAX_NODES));
    }

    const resolvedNodeIds = nodeIds.map((nodeId) => resolveNodeId(info.schema, nodeId));
    const idsByEntity = new Map<Entity, number[]>();

    for (const { entity, id } of resolvedNodeIds) {
      if (entity && id !== undefined) addToList(idsByEntity, entity, id);
    }

    const rowsByEntity = new Map<Entity, Map<number, Row> | Error>();

    const readRows = async ([entity, entityIds]: [Entity, number[]]) => {
      const rows = readRowsById(entity, entityIds, context, info).catch((error: unknown) => {
        // Rows of other types are still returned if the viewer may not read one type.
        if (error instanceof ClientError) return error;
        throw error;
      });

      rowsByEntity.set(entity, await rows);
    };

    await Promise.all([...idsByEntity].map(readRows));
    return resolvedNodeIds.map(({ entity, id }) => {
      const rows = entity && rowsByEntity.get(entity);

      if (rows instanceof Error) return rows;
      const row = rows?.get(id!);

      return row ? { ...row, __typename: entity!.name } : null;
    });
  }

  @Query(() => [ID], {
    description:
      'Those of the given ids to which the viewer may refer: all rows of a public type, or the viewer’s own rows of an owned type.',
  })
  @FieldExtensions({ exclusiveTo: 'rest' })
  referenceableIds(
    @Arg('type', () => String, { description: 'Name of a type that implements Node.' })
    type: string,
    @Arg('ids', () => [ID], { description: 'The ids to look up.' }) ids: string[],
    @Ctx() context: Context,
  ): Promise<number[]> {
    const entity = findEntity(type);

    if (!entity) {
      throw invalidArgumentError('type', `"${type}" is not a type that implements Node.`);
    }

    return findReferenceableIds(entity, ids, context);
  }
}
