/** Dates in the nutrition endpoints of REST (test/system/contract/DEVIATIONS.md, D-DATE). */
import { parseDateParts } from '../../../src/rest/drf/date-parts';
import { parseFormInteger } from '../../../src/rest/drf/python-scalars';

test.each([
  ['7', 7],
  [' 07 ', 7],
  ['', undefined],
  [null, undefined],
  ['1.5', NaN],
  ['abc', NaN],
])('parses the form value %j as the integer %s', (text, integer) => {
  expect(parseFormInteger(text)).toBe(integer);
});

test.each([
  [{ year: '2021', month: '03', day: '12' }, '2021-03-12'],
  [{}, '2024-01-31'],
  [{ year: '', month: '', day: '' }, '2024-01-31'],
  [{ year: '2020' }, '2020-01-31'],
  [{ month: '2', day: '29' }, '2024-02-29'],
  [{ year: '9999', month: '12', day: '31' }, '9999-12-31'],
  [{ year: '1', month: '1', day: '1' }, '0001-01-01'],
  // The day defaults to the 31st, which does not exist in February.
  [{ month: '2' }, undefined],
  [{ year: '2021', month: '2', day: '30' }, undefined],
  [{ year: '0' }, undefined],
  [{ year: '-5' }, undefined],
  [{ year: 'abc' }, undefined],
  [{ year: '99999999999999999999' }, undefined],
  [{ month: '13' }, undefined],
])('completes the date parts %j on 2024-01-31 to %s', (parts, day) => {
  expect(parseDateParts(parts, '2024-01-31')).toBe(day);
});
