/** Default and maximum page sizes of both interfaces. */
import { atLeastMessage, atMostMessage } from '../../contract/messages';
import { invalidArgumentError } from './errors';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 10_000;

export function validatePageSize(
  argument: 'first' | 'last' | 'offset',
  value: number | null | undefined,
  max: number,
): number | undefined {
  if (value == null) return undefined;
  if (value < 0) throw invalidArgumentError(argument, atLeastMessage(0));
  if (value > max) throw invalidArgumentError(argument, atMostMessage(max));
  return value;
}
