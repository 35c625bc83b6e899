/** Parses arguments that are row ids, with the error messages that REST clients expect. */
import { NOT_AN_INTEGER, REQUIRED } from '../../contract/messages';
import { integerOf } from '../../platform/reading';
import { badArgument } from '../model/errors';
import { parseId } from '../model/ids';
import { refuseOtherType, rowIdOf } from '../model/node';
import type { Context } from '../context';

/** Parses a row id; undefined if it is out of range. GraphQL also accepts a global id (`nodeId`). Throws BAD_USER_INPUT for anything else. */
export function requiredId(argument: string, type: string, value: string, { api }: Pick<Context, 'api'>): number | undefined {
  if (value === '') throw badArgument(argument, REQUIRED);
  if (api === 'graphql') refuseOtherType(type, value, argument);
  const id = (api === 'graphql' ? rowIdOf(type, value) : undefined) ?? integerOf(value);
  if (id === undefined) throw badArgument(argument, NOT_AN_INTEGER);
  return parseId(id);
}
