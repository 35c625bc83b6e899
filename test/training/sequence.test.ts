/** Rules: API contract, section 9 (settings_computed, the order of days and exercises). */
import { groupByExercise, sortByWeekday, arrangeInRounds } from '../../src/training/sequence';

/** `a1 b1 a2`: the letter is the exercise. */
const settings = (text: string) => (text ? text.split(' ').map((name) => ({ name, exerciseId: name.charCodeAt(0) })) : []);
const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name).join(' ');

const table: [rule: string, sets: number, given: string, expected: string][] = [
  ['no setting', 4, '', ''],
  ['one setting is done in every set', 3, 'a1', 'a1 a1 a1'],
  ['several settings of one exercise are a set each', 4, 'a1 a2 a3', 'a1 a2 a3'],
  ['exercises take turns', 2, 'a1 b1', 'a1 b1 a1 b1'],
  ['the shortest list ends all', 3, 'a1 b1 b2', 'a1 b1 a1 b2'],
  ['also where it is the repeated one', 1, 'a1 b1 b2', 'a1 b1'],
  ['settings of an exercise need not follow each other', 4, 'a1 b1 a2 b2', 'a1 b1 a2 b2'],
  ['no set, no round', 0, 'a1', ''],
  ['no set ends the others too', 0, 'a1 b1 b2', ''],
];

test.each(table)('%s', (_rule, sets, given, expected) => {
  expect(names(arrangeInRounds(sets, settings(given)))).toBe(expected);
});

test('exercises are in the order in which they first appear', () => {
  expect(groupByExercise(settings('b1 a1 b2 c1 a2')).map(names)).toEqual(['b1 b2', 'a1 a2', 'c1']);
});

test('days are in the order of their first day of the week, then of their ids', () => {
  const days = [
    { id: 1, weekdays: [3, 5] },
    { id: 2, weekdays: [] },
    { id: 3, weekdays: [1] },
    { id: 5, weekdays: [3] },
    { id: 4, weekdays: [7, 3] },
  ];
  expect(sortByWeekday(days).map(({ id }) => id)).toEqual([3, 1, 4, 5, 2]);
});
