/** Arguments whose mistakes are told in words of our own. */
import { NOT_AN_INTEGER, REQUIRED } from '../../contract/messages';
import { integerOf } from '../../platform/reading';
import { badArgument } from '../model/errors';
import { parseId } from '../model/ids';

/** The id that an argument holds; undefined for a number that can be no id. */
export function requiredId(argument: string, value: string): number | undefined {
  if (value === '') throw badArgument(argument, REQUIRED);
  const id = integerOf(value);
  if (id === undefined) throw badArgument(argument, NOT_AN_INTEGER);
  return parseId(id);
}
