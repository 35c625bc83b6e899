/** The `Node` interface: one opaque id for every row of every type. */
import { Field, ID, InterfaceType } from 'type-graphql';
import { parseId } from './ids';

@InterfaceType({ description: 'Anything that `node(nodeId:)` can find again.' })
export abstract class Node {
  @Field(() => ID, { description: 'Identifies the row among all of every type; opaque.' })
  declare nodeId: string;
}

export const nodeIdOf = (type: string, id: number | string): string => Buffer.from(`${type}:${id}`).toString('base64url');

/** Undefined for anything that `nodeIdOf` did not make. */
export function parseNodeId(nodeId: string): { type: string; id: string } | undefined {
  const parts = /^([A-Za-z]+):(\d+)$/.exec(Buffer.from(nodeId, 'base64url').toString());
  return parts && nodeIdOf(parts[1]!, parts[2]!) === nodeId ? { type: parts[1]!, id: parts[2]! } : undefined;
}

export const WHICH_ROW = 'The `id` of the row, or its `nodeId`.';

/** The id of a row of this type by either of its names; undefined for anything else, another type's `nodeId` too. */
export function rowIdOf(type: string, name: unknown): number | undefined {
  const id = parseId(name);
  if (id !== undefined) return id;
  const node = parseNodeId(String(name));
  return node?.type === type ? parseId(node.id) : undefined;
}
