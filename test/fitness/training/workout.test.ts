/**
 * Workouts in REST. The rules are those of test/system/contract/CONTRACT.md, section 9
 * (canonical_representation, log_data), and of D-CANON and D-500 in DEVIATIONS.md.
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

/** Creates a workout of `days` days, each with `sets` sets of two exercises. */
async function workout(days: number, sets: number): Promise<number> {
  const id = await createRow('/workout/', { comment: '' });

  for (let day = days; day > 0; day -= 1) {
    const training = await createRow('/day/', {
      training: id,
      description: `Day ${day}`,
      day: [day],
    });

    for (let n = 0; n < sets; n += 1) {
      const set = await createRow('/set/', { exerciseday: training, sets: 2 });

      for (const exercise of [1, 2]) {
        await createRow('/setting/', { set, exercise, reps: 8, weight: '12.50' });
      }
    }
  }

  return id;
}

test('computes the canonical representation with a constant number of statements', async () => {
  const [small, large] = [await workout(1, 1), await workout(5, 4)];
  const [little, much] = [small, large].map((id) =>
    ann.get(`/workout/${id}/canonical_representation/`),
  );

  expect((await much)!.statements).toBe((await little)!.statements);
  expect((await much)!.statements).toBeLessThanOrEqual(10);
  const { day_list: days, muscles } = (await much)!.body;

  expect(days.map((day: any) => day.days_of_week.text)).toEqual([
    'Monday',
    'Tuesday',
    'Wednesday',
    'Thursday',
    'Friday',
  ]);
  expect(days[0].set_list[0]).toMatchObject({
    is_superset: true,
    exercise_list: [{ setting_text: '2 × 8 (12.5 kg)' }, { has_weight: true }],
  });
  expect(days[0].set_list[0].settings_computed.map(({ exercise }: any) => exercise)).toEqual([
    1, 2, 1, 2,
  ]);
  const ids = (list: { id: number }[]) => list.map(({ id }) => id);

  expect(ids([...muscles.front, ...muscles.back]).sort()).toEqual([1, 2]);
  expect(ids([...muscles.frontsecondary, ...muscles.backsecondary])).toEqual([3]);
});

test('updates the canonical representation when a setting changes', async () => {
  const id = await workout(1, 1);
  const text = async () =>
    (await ann.get(`/workout/${id}/canonical_representation/`)).body.day_list[0].set_list[0]
      .exercise_list[0].setting_text;

  expect(await text()).toBe('2 × 8 (12.5 kg)');
  const { body } = await ann.get(`/workout/${id}/canonical_representation/`);

  await ann.patch(
    `/setting/${body.day_list[0].set_list[0].exercise_list[0].setting_obj_list[0].id}/`,
    { reps: 9 },
  );
  expect(await text()).toBe('2 × 9 (12.5 kg)');
});

const NO_EXERCISE = "Please provide an exercise ID in the 'id' GET parameter";

test.each([
  ['', 200, NO_EXERCISE],
  ['?', 200, NO_EXERCISE],
  ['?id=', 200, NO_EXERCISE],
  ['?id=1&id=', 200, NO_EXERCISE],
  ['?id=abc', 400, { id: ['A valid integer is required.'] }],
  ['?id=1.5', 400, { id: ['A valid integer is required.'] }],
  ['?id=999', 404, { detail: 'Not found.' }],
  ['?id=-1', 404, { detail: 'Not found.' }],
  ['?id=99999999999999999999', 404, { detail: 'Not found.' }],
  ['?id=%201%20', 200, { chart_data: [], logs: {} }],
])('answers log_data%s with status %i', async (query, status, body) => {
  const id = await workout(0, 0);

  expect(await ann.get(`/workout/${id}/log_data/${query}`)).toMatchObject({ status, body });
});

test('includes all fields of the workout in the canonical representation', async () => {
  const ann = await fitgraph.user('ann');
  const { id } = (await ann.post('/workout/', { comment: 'Whole' })).body;
  const { body } = await ann.get(`/workout/${id}/canonical_representation/`);

  expect(body.obj).toEqual((await ann.get(`/workout/${id}/`)).body);
});

test('answers log_data without an exercise id before it looks up the workout', async () => {
  expect(await ann.get('/workout/99999/log_data/')).toMatchObject({
    status: 200,
    body: NO_EXERCISE,
  });
  expect(await fitgraph.anonymous.get('/workout/99999/log_data/')).toMatchObject({ status: 403 });
});
