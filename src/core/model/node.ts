/** The `Node` interface: one opaque id for the rows of all types (https://graphql.org/learn/global-object-identification/). */
import { Field, ID, InterfaceType } from 'type-graphql';
import { invalidArgumentError } from './errors';
import { parseRowId } from './ids';

export const NODE_ID_DESCRIPTION = 'Opaque; unique among rows of all types.';

@InterfaceType({ description: 'An object that `node(nodeId:)` can fetch.' })
export abstract class Node {
  @Field(() => ID, { description: NODE_ID_DESCRIPTION })
  declare nodeId: string;
}

export const nodeIdOf = (typeName: string, id: number | string): string =>
  Buffer.from(`${typeName}:${id}`).toString('base64url');

/** Parses an opaque node id. Returns undefined for a string that `nodeIdOf` did not produce. */
export function parseNodeId(nodeId: string): { type: string; id: string } | undefined {
  const match = /^([A-Za-z]+):(\d+)$/.exec(Buffer.from(nodeId, 'base64url').toString());
  return match && nodeIdOf(match[1]!, match[2]!) === nodeId
    ? { type: match[1]!, id: match[2]! }
    : undefined;
}

export const ROW_ID_DESCRIPTION = 'The `id` of the row, or its `nodeId`.';

/** Returns the numeric id of a row from its `id` or its `nodeId`; undefined for anything else, including the `nodeId` of another type. */
export function resolveRowId(typeName: string, id: unknown): number | undefined {
  const rowId = parseRowId(id);
  if (rowId !== undefined) return rowId;
  const node = parseNodeId(String(id));
  return node?.type === typeName ? parseRowId(node.id) : undefined;
}

/** Returns an error message if `id` is the `nodeId` of a row of another type, otherwise undefined. */
export function nodeTypeMismatchMessage(typeName: string, id: unknown): string | undefined {
  const node = parseNodeId(String(id));
  return node && node.type !== typeName
    ? `This is the id of a row of ${node.type}, not of ${typeName}.`
    : undefined;
}

/** Throws if `id` is the `nodeId` of a row of another type. `argumentPath` locates the id among the arguments. */
export function rejectNodeIdOfOtherType(typeName: string, id: unknown, argumentPath: string): void {
  const message = nodeTypeMismatchMessage(typeName, id);
  if (message) throw invalidArgumentError(argumentPath, message);
}
