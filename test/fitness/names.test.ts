/**
 * Names of plans of users and their parts may be empty over GraphQL, because REST stores workouts and
 * nutrition plans without one. REST requires the names of training days and schedules, like the
 * reference service.
 */
import { fitgraphForThisFile } from '../setup/fitgraph';
import { fieldsOf } from '../../src/engine/declare/fields';
import { allEntities, resourceOf } from '../../src/engine/declare/registry';
import type { Person } from '../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let inputs: Record<string, object>;

/** Types whose names are required over GraphQL, too. */
const TYPES_WITH_REQUIRED_NAMES = ['MeasurementCategory'];

const NAMED_TYPES = allEntities()
  .filter((entity) => resourceOf(entity)!.isOwned)
  .filter((entity) => resourceOf(entity)!.writeOperations.includes('create'))
  .filter((entity) => fieldsOf(entity).some(({ name }) => name === 'name'))
  .map(({ name }) => name)
  .filter((name) => !TYPES_WITH_REQUIRED_NAMES.includes(name));

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  const { id: workoutId } = (await ann.post('/workout/', {})).body;

  inputs = {
    NutritionPlan: {},
    Schedule: {},
    TrainingDay: { workoutId, weekdays: ['MONDAY'] },
    Workout: {},
  };
});

it('covers all types with a name', () => {
  expect([...NAMED_TYPES].sort()).toEqual(Object.keys(inputs));
});

describe.each(NAMED_TYPES)('a %s', (type) => {
  const row = type[0]!.toLowerCase() + type.slice(1);

  const create = async (values: object) =>
    (
      await ann.ask(
        `mutation ($input: ${type}Input!) { made: create${type}(input: $input) { ${row} { id name } errors { path code } } }`,
        { input: { ...inputs[type], ...values } },
      )
    ).made;

  const rename = async (id: string, name: string | null) =>
    (
      await ann.ask(
        `mutation ($id: ID!, $input: ${type}Patch!) { saved: update${type}(id: $id, input: $input) { ${row} { name } errors { path code } } }`,
        { id, input: { name } },
      )
    ).saved;

  it('is created without a name and with an empty one', async () => {
    for (const values of [{}, { name: '' }]) {
      expect(await create(values)).toEqual({
        [row]: { id: expect.any(String), name: '' },
        errors: [],
      });
    }
  });

  it('can lose its name', async () => {
    const { id } = (await create({ name: 'Push' }))[row];

    expect(await rename(id, '')).toEqual({ [row]: { name: '' }, errors: [] });
    expect(await rename(id, null)).toEqual({
      [row]: null,
      errors: [{ path: ['input', 'name'], code: 'NULL' }],
    });
  });
});

it('a kind of measurement needs a name', async () => {
  const { made } = await ann.ask(
    `mutation { made: createMeasurementCategory(input: { name: "", valueUnit: "cm" }) { errors { path code } } }`,
  );

  expect(made).toEqual({ errors: [{ path: ['input', 'name'], code: 'BLANK' }] });
});

it('a new training day in a tree needs no name', async () => {
  const { made } = await ann.ask(
    'mutation { made: createWorkout(input: { days: [{ weekdays: [MONDAY] }] }) { workout { name days { name } } errors { path } } }',
  );

  expect(made).toEqual({ workout: { name: '', days: [{ name: '' }] }, errors: [] });
});

it('REST returns empty names and requires those of training days and schedules', async () => {
  const { schedule } = (
    await ann.ask('mutation { made: createSchedule(input: {}) { schedule { id } } }')
  ).made;
  const path = `/schedule/${schedule.id}/`;
  const BLANK = ['This field may not be blank.'];

  expect((await ann.get(path)).body).toMatchObject({ name: '' });
  expect(await ann.patch(path, { name: '' })).toMatchObject({ status: 400, body: { name: BLANK } });
  expect(await ann.patch(path, { is_loop: true })).toMatchObject({
    status: 200,
    body: { name: '', is_loop: true },
  });
  expect(await ann.post('/day/', { training: 1, day: [1], description: '' })).toMatchObject({
    status: 400,
    body: { description: BLANK },
  });
  expect(await ann.post('/schedule/', {})).toMatchObject({
    status: 400,
    body: { name: ['This field is required.'] },
  });
});

it('a page shows a training day without a name by its number', async () => {
  const { workout } = (
    await ann.ask(
      'mutation { made: createWorkout(input: { days: [{ weekdays: [MONDAY] }] }) { workout { id days { id } } } }',
    )
  ).made;
  const { text } = await ann
    .withHeaders({ Accept: 'text/html' })
    .send('GET', `/api/v2/workout/${workout.id}/`);

  expect(text).toContain(`>Day ${workout.days[0].id}</a>`);
});
