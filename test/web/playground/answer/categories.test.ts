/** Categories of axes in their natural order. */
import { categoriesOf } from '../../../../src/web/playground/answer/categories';
import { chartDataOf } from '../../../../src/web/playground/answer/chart';
import { tableOf, resultListsOf } from '../../../../src/web/playground/answer/table';

const numbers = (name: string, ...values: unknown[]) =>
  categoriesOf({ name, kind: 'number' }, values);

test('complete the hours of the day and the weekdays', () => {
  expect(numbers('keys.hour.number', 20, 7, 12)).toEqual(
    Array.from({ length: 24 }, (_, hour) => String(hour)),
  );
  expect(numbers('keys.dateBucket.weekday', 6, 1)).toEqual(['1', '2', '3', '4', '5', '6', '7']);
});

test('sort numbers and times, and fill the gaps of evenly spaced numbers', () => {
  expect(numbers('keys.repsBin.from', 21, 1, 11, 6)).toEqual(['1', '6', '11', '16', '21']);
  expect(numbers('rir', '2.5', '0', null, '10')).toEqual(['0', '2.5', '10', '–']);
  expect(numbers('hour', 30, 29)).toEqual(['29', '30']);
  expect(
    categoriesOf({ name: 'start', kind: 'time' }, ['2026-03-09', '2026-03-02', '2026-03-09']),
  ).toEqual(['2026-03-02', '2026-03-09']);
});

test('do not fill large gaps, and keep the order of texts', () => {
  expect(numbers('amount', 1, 1_000, 2)).toEqual(['1', '2', '1000']);
  expect(categoriesOf({ name: 'name', kind: 'text' }, ['b', 'a', 'b'])).toEqual(['b', 'a']);
});

test('give a heat map one row per weekday from Monday at the top, and one column per hour', () => {
  const rows = [
    { hour: 20, weekday: 6, entries: 2 },
    { hour: 7, weekday: 1, entries: 1 },
  ];
  const table = tableOf({ rows }, resultListsOf({ rows })[0]);
  const { x, y, series } = chartDataOf(table, {
    kind: 'heatmap',
    x: 'hour',
    y: ['weekday'],
    by: 'entries',
  });

  expect(y.categories).toEqual(['7', '6', '5', '4', '3', '2', '1']);
  expect(x.categories).toHaveLength(24);
  expect(series[0]!.points).toEqual([
    [20, 1, '2'],
    [7, 6, '1'],
  ]);
});
