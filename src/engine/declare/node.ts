/**
 * The `Node` interface: one opaque id for the rows of all types
 * (https://graphql.org/learn/global-object-identification/).
 */
import { Field, ID, InterfaceType } from 'type-graphql';
import { invalidInputError, type InputPath } from './errors';
import { MAX_INTEGER } from '../../shared/bounds';

/** Parses a row id, a positive 32-bit integer. Returns undefined for anything else. */
export function parseRowId(value: unknown): number | undefined {
  const text = String(value);

  if (!/^\d{1,10}$/.test(text)) return undefined;
  const id = Number(text);

  return id <= MAX_INTEGER ? id : undefined;
}

export const NODE_ID_DESCRIPTION = 'Opaque; unique among rows of all types.';

@InterfaceType({ description: 'An object that `node(nodeId:)` can fetch.' })
export abstract class Node {
  @Field(() => ID, { description: NODE_ID_DESCRIPTION })
  declare nodeId: string;
}

export const nodeIdOf = (typeName: string, id: number | string): string =>
  Buffer.from(`${typeName}:${id}`).toString('base64url');

/** Parses an opaque node id. Only strings that `nodeIdOf` produces are valid. */
export function parseNodeId(nodeId: string): { type: string; id: string } | undefined {
  const match = /^([A-Za-z]+):(\d+)$/.exec(Buffer.from(nodeId, 'base64url').toString());

  if (!match) return undefined;
  const [type, id] = [match[1]!, match[2]!];

  return nodeIdOf(type, id) === nodeId ? { type, id } : undefined;
}

export const ROW_ID_DESCRIPTION = 'The `id` of the row, or its `nodeId`.';

/**
 * Parses the `id` or `nodeId` of a row to its numeric id. The `nodeId` of another type is invalid.
 */
export function resolveRowId(typeName: string, id: unknown): number | undefined {
  const rowId = parseRowId(id);

  if (rowId !== undefined) return rowId;
  const node = parseNodeId(String(id));

  return node?.type === typeName ? parseRowId(node.id) : undefined;
}

/** Error message for the `nodeId` of a row of another type. */
export function nodeTypeMismatchMessage(typeName: string, id: unknown): string | undefined {
  const node = parseNodeId(String(id));

  if (!node || node.type === typeName) return undefined;

  return `This is the id of a row of ${node.type}, not of ${typeName}.`;
}

/**
 * Rejects the `nodeId` of a row of another type. `argumentPath` locates the id among the arguments.
 */
export function rejectNodeIdOfOtherType(
  typeName: string,
  id: unknown,
  argumentPath: InputPath,
): void {
  const message = nodeTypeMismatchMessage(typeName, id);

  if (message) throw invalidInputError(argumentPath, message);
}
