/**
 * The order of days, exercises and settings in REST. The rules are those of
 * test/system/contract/CONTRACT.md, section 9.
 */
import {
  groupByExercise,
  sortByWeekday,
  arrangeInRounds,
} from '../../../src/fitness/training/sequence';

/** Parses settings such as `a1 b1 a2`. The letter stands for the exercise. */
const settings = (text: string) =>
  text
    ? text.split(' ').map((name) => {
        const id = name.charCodeAt(0);

        return { name, exerciseId: id, translationId: -id };
      })
    : [];
const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name).join(' ');

const table: [rule: string, sets: number, given: string, expected: string][] = [
  ['none without settings', 4, '', ''],
  ['a single setting in every set', 3, 'a1', 'a1 a1 a1'],
  ['several settings of one exercise as one set each', 4, 'a1 a2 a3', 'a1 a2 a3'],
  ['alternating exercises', 2, 'a1 b1', 'a1 b1 a1 b1'],
  ['as many rounds as the exercise with the fewest settings', 3, 'a1 b1 b2', 'a1 b1 a1 b2'],
  ['as many rounds as a repeated single setting, if that is the shortest', 1, 'a1 b1 b2', 'a1 b1'],
  ['settings of an exercise that are not adjacent', 4, 'a1 b1 a2 b2', 'a1 b1 a2 b2'],
  ['no round for zero sets', 0, 'a1', ''],
  ['no round of other exercises for zero sets', 0, 'a1 b1 b2', ''],
];

test.each(table)('arranges settings in rounds: %s', (_rule, sets, dayText, expected) => {
  expect(names(arrangeInRounds(sets, settings(dayText), 'exerciseId'))).toBe(expected);
});

test('groups settings by exercise in order of first appearance', () => {
  const groups = groupByExercise(settings('b1 a1 b2 c1 a2'), 'translationId');

  expect(groups.map(names)).toEqual(['b1 b2', 'a1 a2', 'c1']);
});

test('sorts days by their first weekday, then by id', () => {
  const days = [
    { id: 1, weekdays: [3, 5] },
    { id: 2, weekdays: [] },
    { id: 3, weekdays: [1] },
    { id: 5, weekdays: [3] },
    { id: 4, weekdays: [7, 3] },
  ];

  expect(sortByWeekday(days).map(({ id }) => id)).toEqual([3, 1, 4, 5, 2]);
});
