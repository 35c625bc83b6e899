/** Parses arguments that are row ids, with the error messages that REST clients expect. */
import { NOT_AN_INTEGER_MESSAGE, REQUIRED_MESSAGE } from '../../contract/messages';
import { parseInteger } from '../../platform/pythonscalars';
import { invalidArgumentError } from '../model/errors';
import { parseRowId } from '../model/ids';
import { rejectOtherNodeType, resolveRowId } from '../model/node';
import type { Context } from '../context';

/**
 * Parses a row id, and a global id (`nodeId`) where the policies accept them. Returns undefined for an integer that cannot be a row id. Throws
 * BAD_USER_INPUT for anything else.
 */
export function parseIdArgument(
  argument: string,
  type: string,
  value: string,
  { policies: { acceptsNodeIds } }: Pick<Context, 'policies'>,
): number | undefined {
  if (value === '') throw invalidArgumentError(argument, REQUIRED_MESSAGE);
  if (acceptsNodeIds) rejectOtherNodeType(type, value, argument);
  const id = (acceptsNodeIds ? resolveRowId(type, value) : undefined) ?? parseInteger(value);
  if (id === undefined) throw invalidArgumentError(argument, NOT_AN_INTEGER_MESSAGE);
  return parseRowId(id);
}
