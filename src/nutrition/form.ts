/** Validates and parses the strings of form fields, such as the amount of an ingredient, with the error messages of the reference service. */
import { REQUIRED_MESSAGE } from '../contract/messages';
import { limitViolationMessages } from '../core/model/fieldvalidation';
import { parseDecimal, parseInteger } from '../platform/pythonscalars';

/** Returns the error message for an amount; undefined if it is valid. Negative amounts are valid. */
export function amountErrorMessage(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined || text === '') return REQUIRED_MESSAGE;
  const number = parseDecimal(text);
  return number === undefined
    ? 'Enter a number.'
    : limitViolationMessages(number, {
        kind: 'decimal',
        maxDigits: 5,
        decimalPlaces: 2,
        allowBlank: false,
      })[0];
}

/** Parses an integer. Returns undefined for a missing or empty string, and NaN for an invalid one. */
export const parseFormInteger = (text: string | null | undefined): number | undefined =>
  text ? (parseInteger(text) ?? NaN) : undefined;
