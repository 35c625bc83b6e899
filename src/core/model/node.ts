/** The `Node` interface: one opaque id for every row of every type. */
import { Field, ID, InterfaceType } from 'type-graphql';
import { badArgument } from './errors';
import { parseId } from './ids';

export const NODE_ID = 'Opaque; unique among rows of all types.';

@InterfaceType({ description: 'Anything that `node(nodeId:)` can find again.' })
export abstract class Node {
  @Field(() => ID, { description: NODE_ID })
  declare nodeId: string;
}

export const nodeIdOf = (type: string, id: number | string): string => Buffer.from(`${type}:${id}`).toString('base64url');

/** Undefined for anything that `nodeIdOf` did not make. */
export function parseNodeId(nodeId: string): { type: string; id: string } | undefined {
  const parts = /^([A-Za-z]+):(\d+)$/.exec(Buffer.from(nodeId, 'base64url').toString());
  return parts && nodeIdOf(parts[1]!, parts[2]!) === nodeId ? { type: parts[1]!, id: parts[2]! } : undefined;
}

export const WHICH_ROW = 'The `id` of the row, or its `nodeId`.';

/** The number of a row of this type, from its `id` or its `nodeId`; undefined for anything else, the `nodeId` of another type included. */
export function rowIdOf(type: string, id: unknown): number | undefined {
  const number = parseId(id);
  if (number !== undefined) return number;
  const node = parseNodeId(String(id));
  return node?.type === type ? parseId(node.id) : undefined;
}

/** A message if this is the `nodeId` of a row of another type. */
export function wrongType(type: string, id: unknown): string | undefined {
  const node = parseNodeId(String(id));
  return node && node.type !== type ? `This is the id of a row of ${node.type}, not of ${type}.` : undefined;
}

/** Throws if this is the `nodeId` of a row of another type; `at` is its place among the arguments. */
export function refuseOtherType(type: string, id: unknown, at: string): void {
  const message = wrongType(type, id);
  if (message) throw badArgument(at, message);
}
