/** Validation of page sizes. */
import { atLeastMessage, atMostMessage } from '../../shared/messages';
import { MAX_PAGE_SIZE } from '../../shared/page-size';
import { invalidArgumentError } from './errors';

export const ALL_OR_FIRST_DESCRIPTION = `The first n, at most ${MAX_PAGE_SIZE}. If absent, more are an error.`;

/**
 * Row limit of a list that is returned completely if `first` is absent: one more than the maximum
 * then, for `checkCompleteness`.
 */
export const rowLimit = (first: number | null | undefined): number =>
  validatePageSize('first', first, MAX_PAGE_SIZE) ?? MAX_PAGE_SIZE + 1;

export function checkCompleteness(rowCount: number, remedy: string): void {
  if (rowCount > MAX_PAGE_SIZE) {
    throw invalidArgumentError('first', `There are more than ${MAX_PAGE_SIZE}. ${remedy}`);
  }
}

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
