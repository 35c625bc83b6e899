/** Validates the amount of an ingredient, with the error messages of the reference service. */
import { REQUIRED_MESSAGE } from '../../shared/messages';
import { limitViolationMessages } from '../../engine/declare/field-validation';
import { parseDecimal } from '../../rest/drf/python-scalars';

/** Validates an amount and describes its first error. Negative amounts are valid. */
export function amountErrorMessage(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined || text === '') return REQUIRED_MESSAGE;
  const number = parseDecimal(text);

  if (number === undefined) return 'Enter a number.';

  return limitViolationMessages(number, {
    kind: 'decimal',
    maxDigits: 5,
    decimalPlaces: 2,
    allowBlank: false,
  })[0];
}
