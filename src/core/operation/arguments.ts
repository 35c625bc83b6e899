/** Arguments whose mistakes are told in words of our own. */
import { integerOf } from '../../platform/reading';
import { badArgument } from '../model/errors';
import { parseId } from '../model/ids';

/** The id that an argument holds; undefined for a number that can be no id. */
export function requiredId(argument: string, value: string): number | undefined {
  if (value === '') throw badArgument(argument, 'This field is required.');
  const id = integerOf(value);
  if (id === undefined) throw badArgument(argument, 'A valid integer is required.');
  return parseId(id);
}
