/**
 * The muscles of sets, days and workouts in REST. The rules are those of D-CANON in
 * test/system/contract/DEVIATIONS.md.
 */
import { groupMuscles } from '../../../src/fitness/catalogue/muscles';

/** Creates a muscle. Those with odd ids are on the front of the body; ids above 90 do not exist. */
const muscle = (id: number) => (id > 90 ? null : { id, isFront: id % 2 === 1 });
const ids = (rows: { id: number }[]) => rows.map(({ id }) => id);

type Exercise = [primary: number[], secondary: number[]];
const table: [
  rule: string,
  exercises: Exercise[],
  front: number[],
  back: number[],
  frontSecondary: number[],
  backSecondary: number[],
][] = [
  ['none without exercises', [], [], [], [], []],
  [
    'front and back muscles separately',
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
    'in order of first appearance',
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
    'without duplicates',
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
    'without primary muscles among the secondary ones',
    [
      [[1], [3]],
      [[3], [1]],
    ],
    [1, 3],
    [],
    [],
    [],
  ],
  ['without unknown muscles', [[[1, 91], [92]]], [1], [], [], []],
];

test.each(table)(
  'lists muscles: %s',
  (_rule, exercises, front, back, frontSecondary, backSecondary) => {
    const trained = exercises.map(([muscleIds, musclesSecondaryIds]) => ({
      muscleIds,
      musclesSecondaryIds,
    }));
    const groups = groupMuscles(trained, muscle);

    expect(ids(groups.front)).toEqual(front);
    expect(ids(groups.back)).toEqual(back);
    expect(ids(groups.frontSecondary)).toEqual(frontSecondary);
    expect(ids(groups.backSecondary)).toEqual(backSecondary);
  },
);
