/**
 * Validation of amounts of ingredients. The messages are those of test/system/contract/CONTRACT.md,
 * section 9 "Nutrition".
 */
import { amountErrorMessage } from '../../../src/fitness/nutrition/amount';

test.each([
  ['100', undefined],
  ['-5', undefined],
  ['+5', undefined],
  ['.5', undefined],
  [' 1e1 ', undefined],
  ['', 'This field is required.'],
  [null, 'This field is required.'],
  [' ', 'Enter a number.'],
  ['1,5', 'Enter a number.'],
  ['NaN', 'Enter a number.'],
  ['Infinity', 'Enter a number.'],
  ['1.234', 'Ensure that there are no more than 2 decimal places.'],
  ['99999', 'Ensure that there are no more than 3 digits before the decimal point.'],
  ['123456', 'Ensure that there are no more than 5 digits in total.'],
])('validates the amount %j (message: %s)', (text, message) => {
  expect(amountErrorMessage(text)).toBe(message);
});
