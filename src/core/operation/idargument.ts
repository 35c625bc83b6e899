/** Parses arguments that are row ids, with the error messages that REST clients expect. */
import { NOT_AN_INTEGER_MESSAGE, REQUIRED_MESSAGE } from '../../contract/messages';
import { parseInteger } from '../../platform/pythonscalars';
import { invalidArgumentError } from '../model/errors';
import { parseRowId } from '../model/ids';
import { rejectNodeIdOfOtherType, resolveRowId } from '../model/node';
import type { Context } from '../context';

/**
 * Parses a row id, and a global id (`nodeId`) where the policies accept them. Returns undefined for an integer that cannot be a row id. Throws
 * BAD_USER_INPUT for anything else.
 */
export function parseIdArgument(
  argumentName: string,
  typeName: string,
  value: string,
  { policies: { acceptsNodeIds } }: Pick<Context, 'policies'>,
): number | undefined {
  if (value === '') throw invalidArgumentError(argumentName, REQUIRED_MESSAGE);
  if (acceptsNodeIds) rejectNodeIdOfOtherType(typeName, value, argumentName);
  const id = (acceptsNodeIds ? resolveRowId(typeName, value) : undefined) ?? parseInteger(value);
  if (id === undefined) throw invalidArgumentError(argumentName, NOT_AN_INTEGER_MESSAGE);
  return parseRowId(id);
}
