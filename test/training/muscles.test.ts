/** Rules: D-CANON of the API contract's deviations. */
import { groupMuscles } from '../../src/training/muscles';

/** Odd muscles are on the front. */
const muscle = (id: number) => (id > 90 ? null : { id, isFront: id % 2 === 1 });
const ids = (rows: { id: number }[]) => rows.map(({ id }) => id);

type Exercise = [primary: number[], secondary: number[]];
const table: [rule: string, exercises: Exercise[], front: number[], back: number[], frontSecondary: number[], backSecondary: number[]][] = [
  ['nothing', [], [], [], [], []],
  [
    'front and back',
    [
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [1],
    [2],
    [3],
    [4],
  ],
  [
    'first seen, first shown',
    [
      [[5], [7]],
      [[1], [3]],
    ],
    [5, 1],
    [],
    [7, 3],
    [],
  ],
  [
    'no repeats',
    [
      [[1], [2]],
      [[1], [2]],
    ],
    [1],
    [],
    [],
    [2],
  ],
  [
    'a primary muscle is no secondary one',
    [
      [[1], [3]],
      [[3], [1]],
    ],
    [1, 3],
    [],
    [],
    [],
  ],
  ['a muscle that is unknown is left out', [[[1, 91], [92]]], [1], [], [], []],
];

test.each(table)('%s', (_rule, exercises, front, back, frontSecondary, backSecondary) => {
  const trained = exercises.map(([muscleIds, muscleSecondaryIds]) => ({ muscleIds, muscleSecondaryIds }));
  const groups = groupMuscles(trained, muscle);
  expect(ids(groups.front)).toEqual(front);
  expect(ids(groups.back)).toEqual(back);
  expect(ids(groups.frontSecondary)).toEqual(frontSecondary);
  expect(ids(groups.backSecondary)).toEqual(backSecondary);
});
