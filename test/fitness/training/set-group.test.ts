/**
 * Sets in REST. The rules are those of test/system/contract/CONTRACT.md, section 9
 * (computed_settings, smart_text), and of D-500 in DEVIATIONS.md.
 */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
});

const createRow = async (path: string, body: object): Promise<number> =>
  (await ann.post(path, body)).body.id;

/** Creates a set of `sets` rounds, with settings of the exercises in this order. */
async function setOf(sets: number, exercises: readonly number[]): Promise<number> {
  const training = await createRow('/workout/', { comment: '' });
  const exerciseday = await createRow('/day/', { training, description: 'Legs', day: [1] });
  const set = await createRow('/set/', { exerciseday, sets });

  for (const [index, exercise] of exercises.entries()) {
    await createRow('/setting/', { set, exercise, reps: index + 1, order: index + 1 });
  }

  return set;
}

describe('the computed settings of a set', () => {
  const computedSettings = async (set: number) =>
    (await ann.get(`/set/${set}/computed_settings/`)).body.results.map(
      ({ exercise, reps }: any) => [exercise, reps],
    );

  test.each<[string, number, number[], number[][]]>([
    ['no settings', 3, [], []],
    ['one setting, repeated for each set', 3, [1], Array(3).fill([1, 1])],
    [
      'two settings of one exercise, once each',
      4,
      [1, 1],
      [
        [1, 1],
        [1, 2],
      ],
    ],
    [
      'two exercises, alternating',
      2,
      [1, 2],
      [
        [1, 1],
        [2, 2],
        [1, 1],
        [2, 2],
      ],
    ],
    [
      'as many rounds as the exercise with fewer settings',
      4,
      [1, 2, 1, 2, 1],
      [
        [1, 1],
        [2, 2],
        [1, 3],
        [2, 4],
      ],
    ],
  ])('are in training order: %s', async (_name, sets, exercises, expected) => {
    const set = await setOf(sets, exercises);

    expect(await computedSettings(set)).toEqual(expected);
    const { setGroup } = await ann.ask(
      'query ($set: ID!) { setGroup(id: $set) { sequence { exerciseId reps } } }',
      { set },
    );
    const found = setGroup.sequence as { exerciseId: string; reps: number }[];

    expect(found.map(({ exerciseId, reps }) => [Number(exerciseId), reps])).toEqual(expected);
  });

  test('are hidden from other users and anonymous clients', async () => {
    const set = await setOf(1, [1]);
    const bob = await fitgraph.user('bob');

    for (const person of [bob, fitgraph.anonymous]) {
      const { status, body } = await person.get(`/set/${set}/computed_settings/`);

      expect([status, Object.keys(body)]).toEqual([person === bob ? 404 : 403, ['detail']]);
    }
  });
});

test.each([
  ['?exercise=abc', 'A valid integer is required.'],
  ['?exercise=1.5', 'A valid integer is required.'],
  ['?exercise=', 'This field is required.'],
  ['', 'This field is required.'],
])('smart_text/%s names the query parameter in its error (D-500)', async (query, message) => {
  const set = await setOf(1, [1]);

  expect(await ann.get(`/set/${set}/smart_text/${query}`)).toMatchObject({
    status: 400,
    body: { exercise: [message] },
  });
});
