/** Categories of a chart's axis in their natural order: numbers and times ascending, without gaps. */
import { plainCellText } from '../../../shared/csv';
import type { Column } from './table';

/** Label of a row without a value. It comes last. */
const NO_VALUE_LABEL = '–';

/** Larger gaps are not filled, because an axis would consist mostly of empty categories. */
const MAX_NUMERIC_CATEGORIES = 60;

/** Numbers of recurring times, all of which an axis shows: hours of the day and ISO weekdays. */
const CYCLES: readonly { namePattern: RegExp; first: number; last: number }[] = [
  { namePattern: /hour/i, first: 0, last: 23 },
  { namePattern: /weekday/i, first: 1, last: 7 },
];

export const cellText = (value: unknown) =>
  value === null || value === undefined ? NO_VALUE_LABEL : plainCellText(value);

const greatestCommonDivisor = (a: number, b: number): number =>
  b === 0 ? a : greatestCommonDivisor(b, a % b);

/** Integers from the smallest to the largest value, in the largest step that meets all of them. */
function withoutGaps(integers: readonly number[], columnName: string): readonly number[] {
  const cycle = CYCLES.find(
    ({ namePattern, first, last }) =>
      namePattern.test(columnName) && integers[0]! >= first && integers.at(-1)! <= last,
  );
  const [first, last] = cycle ? [cycle.first, cycle.last] : [integers[0]!, integers.at(-1)!];
  const step = cycle
    ? 1
    : integers.map((integer) => integer - first).reduce(greatestCommonDivisor, 0) || 1;
  const count = (last - first) / step + 1;

  if (count > MAX_NUMERIC_CATEGORIES) return integers;

  return Array.from({ length: count }, (_, index) => first + index * step);
}

function numericCategories(values: readonly unknown[], columnName: string): string[] {
  const labels = new Map(values.map((value) => [Number(value), cellText(value)]));
  const numbers = [...labels.keys()].sort((a, b) => a - b);
  const isInteger = numbers.every((number) => Number.isInteger(number));
  const completeNumbers = isInteger ? withoutGaps(numbers, columnName) : numbers;

  return completeNumbers.map((number) => labels.get(number) ?? String(number));
}

/** Distinct labels of a column. Those of a text column keep the order of the rows. */
export function categoriesOf({ kind, name }: Column, values: readonly unknown[]): string[] {
  const isMissing = (value: unknown) => value === null || value === undefined;
  const presentValues = values.filter((value) => !isMissing(value));
  const distinctLabels = [...new Set(values.map(cellText))];

  if (kind === 'text' || presentValues.length === 0) return distinctLabels;
  const labels =
    kind === 'number'
      ? numericCategories(presentValues, name)
      : distinctLabels
          .filter((label) => label !== NO_VALUE_LABEL)
          .sort((a, b) => Date.parse(a) - Date.parse(b));

  return values.some(isMissing) ? [...labels, NO_VALUE_LABEL] : labels;
}
