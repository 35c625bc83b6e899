/**
 * The data of progress charts in REST. The rules are those of test/system/contract/CONTRACT.md,
 * section 9 (log_data).
 */
import {
  groupByDay,
  progressChartLines,
  type LogEntry,
} from '../../../src/fitness/training/progress';

const entry = (text: string): LogEntry => {
  const [date = '', reps, weight = ''] = text.split(' ');

  return { date: `2021-03-${date}`, reps: Number(reps), weight };
};

const table: [rule: string, given: string[], lines: string[][]][] = [
  ['none without logs', [], []],
  [
    'one per number of repetitions, in order of first appearance',
    ['03 8 22.50', '03 10 20.00', '05 8 25.00'],
    [['03 8 22.50', '05 8 25.00'], ['03 10 20.00']],
  ],
  [
    'only the heaviest log of a day',
    ['05 10 21.00', '05 10 25.00', '05 10 9.50'],
    [['05 10 25.00']],
  ],
  ['the heaviest log by number, not by text', ['05 10 9.00', '05 10 100.00'], [['05 10 100.00']]],
  ['one point for a day of zero weights', ['05 10 0.00', '05 10 0.00'], [['05 10 0.00']]],
];

test.each(table)('draws chart lines: %s', (_rule, logTexts, lines) => {
  expect(progressChartLines(logTexts.map(entry))).toEqual(lines.map((line) => line.map(entry)));
});

test('groups logs by day in the given order', () => {
  const logs = ['03 8 22.50', '03 10 20.00', '05 10 21.00'].map(entry);

  expect(groupByDay(logs)).toEqual([
    { date: '2021-03-03', logs: logs.slice(0, 2) },
    { date: '2021-03-05', logs: logs.slice(2) },
  ]);
});
