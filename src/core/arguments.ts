/** Arguments whose mistakes are told in words of our own. */
import { badArgument } from './errors';
import { parseId } from './ids';

/** The id that an argument holds; undefined for a number that can be no id. */
export function requiredId(argument: string, value: string): number | undefined {
  if (value === '') throw badArgument(argument, 'This field is required.');
  const [, sign, digits] = /^([+-]?)0*(\d+)$/.exec(value.trim()) ?? [];
  if (digits === undefined) throw badArgument(argument, 'A valid integer is required.');
  return sign === '-' ? undefined : parseId(digits);
}
