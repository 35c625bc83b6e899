/** Arguments whose mistakes are told in words of our own. */
import { NOT_AN_INTEGER, REQUIRED } from '../../contract/messages';
import { integerOf } from '../../platform/reading';
import { badArgument } from '../model/errors';
import { parseId } from '../model/ids';
import { refuseOtherType, rowIdOf } from '../model/node';
import type { Context } from '../context';

/** The number of a row of this type that an argument names; undefined for a number that can be no id. REST knows numbers only. */
export function requiredId(argument: string, type: string, value: string, { api }: Pick<Context, 'api'>): number | undefined {
  if (value === '') throw badArgument(argument, REQUIRED);
  if (api === 'graphql') refuseOtherType(type, value, argument);
  const id = (api === 'graphql' ? rowIdOf(type, value) : undefined) ?? integerOf(value);
  if (id === undefined) throw badArgument(argument, NOT_AN_INTEGER);
  return parseId(id);
}
