/** Rules: API contract, section 9 (log_data). */
import { groupByDay, chartLines, type LogEntry } from '../../src/training/progress';

const entry = (text: string): LogEntry => {
  const [date = '', reps, weight = ''] = text.split(' ');
  return { date: `2021-03-${date}`, reps: Number(reps), weight };
};

const table: [rule: string, given: string[], lines: string[][]][] = [
  ['no logs, no lines', [], []],
  [
    'a line for each number of repetitions, as they first appear',
    ['03 8 22.50', '03 10 20.00', '05 8 25.00'],
    [['03 8 22.50', '05 8 25.00'], ['03 10 20.00']],
  ],
  ['the heaviest of a day', ['05 10 21.00', '05 10 25.00', '05 10 9.50'], [['05 10 25.00']]],
  ['weights compare as numbers', ['05 10 9.00', '05 10 100.00'], [['05 10 100.00']]],
  ['a day of zeros stays', ['05 10 0.00', '05 10 0.00'], [['05 10 0.00']]],
];

test.each(table)('%s', (_rule, given, lines) => {
  expect(chartLines(given.map(entry))).toEqual(lines.map((line) => line.map(entry)));
});

test('logs by day, in the order in which they come', () => {
  const logs = ['03 8 22.50', '03 10 20.00', '05 10 21.00'].map(entry);
  expect(groupByDay(logs)).toEqual([
    { date: '2021-03-03', logs: logs.slice(0, 2) },
    { date: '2021-03-05', logs: logs.slice(2) },
  ]);
});
