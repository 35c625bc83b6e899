/** Parses arguments that are row ids, with the error messages that REST clients expect. */
import { NOT_AN_INTEGER_MESSAGE, REQUIRED_MESSAGE } from '../shared/messages';
import { invalidArgumentError } from '../engine/declare/errors';
import { parseRowId, rejectNodeIdOfOtherType, resolveRowId } from '../engine/declare/node';
import type { Context } from '../engine/context';
import { parseInteger } from '../rest/drf/python-scalars';

/**
 * Parses a row id or, where the interface accepts them, a global id (`nodeId`). The result is
 * undefined for an integer that no row can have as its id. Any other invalid text throws
 * BAD_USER_INPUT.
 */
export function parseIdArgument(
  argumentName: string,
  typeName: string,
  value: string,
  { policies: { acceptsNodeIds } }: Pick<Context, 'policies'>,
): number | undefined {
  if (value === '') throw invalidArgumentError(argumentName, REQUIRED_MESSAGE);
  if (acceptsNodeIds) rejectNodeIdOfOtherType(typeName, value, [argumentName]);
  const id = (acceptsNodeIds ? resolveRowId(typeName, value) : undefined) ?? parseInteger(value);

  if (id === undefined) throw invalidArgumentError(argumentName, NOT_AN_INTEGER_MESSAGE);

  return parseRowId(id);
}
