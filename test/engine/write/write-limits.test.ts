/** Limits of writes: the length of texts, and the budget. */
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let workout: string;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  workout = (await ann.ask('mutation { createWorkout(input: {}) { workout { id } } }'))
    .createWorkout.workout.id;
});

const MAX = 10_000;
const TOO_LONG = 'Ensure this field has no more than 10000 characters.';
const CREATE = `mutation ($input: WorkoutSessionInput!) {
  createWorkoutSession(input: $input) { workoutSession { id notes } errors { path message } }
}`;

test('rejects texts of more than 10,000 characters over GraphQL', async () => {
  const create = async (notes: string, date: string) =>
    (await ann.ask(CREATE, { input: { workoutId: workout, date, notes } })).createWorkoutSession;

  expect((await create('é'.repeat(MAX), '2024-01-01')).workoutSession.notes).toHaveLength(MAX);
  expect(await create('é'.repeat(MAX + 1), '2024-01-02')).toEqual({
    workoutSession: null,
    errors: [{ path: ['input', 'notes'], message: TOO_LONG }],
  });
});

test('rejects texts of more than 10,000 characters over REST, without a max_length in OPTIONS', async () => {
  const post = (notes: string, date: string) =>
    ann.post('/workoutsession/', { workout: Number(workout), date, notes, impression: '2' });

  expect((await post('x'.repeat(MAX), '2024-01-03')).status).toBe(201);
  expect(await post('x'.repeat(MAX + 1), '2024-01-04')).toMatchObject({
    status: 400,
    body: { notes: [TOO_LONG] },
  });
  expect((await ann.options('/workoutsession/')).body.actions.POST.notes).not.toHaveProperty(
    'max_length',
  );
});

test('reads a stored text that is too long and updates other fields of its row', async () => {
  const { body } = await ann.post('/workoutsession/', {
    workout: Number(workout),
    date: '2024-01-05',
    notes: 'old',
    impression: '2',
  });

  await fitgraph.sql(
    `UPDATE "workout_session" SET "notes" = repeat('y', 50000) WHERE "id" = ${body.id}`,
  );
  expect((await ann.get(`/workoutsession/${body.id}/`)).body.notes).toHaveLength(50_000);
  expect((await ann.patch(`/workoutsession/${body.id}/`, { impression: '3' })).body).toMatchObject({
    impression: '3',
    notes: expect.stringMatching(/^y{50000}$/),
  });
});

describe('the budget of a user', () => {
  const COST_PER_SECOND = 1_000;
  let withSmallBudget: Fitgraph;

  beforeAll(async () => {
    withSmallBudget = await Fitgraph.start({
      environment: { BUDGET_USER: String(COST_PER_SECOND) },
      sameDatabaseAs: fitgraph,
    });
  });
  afterAll(() => withSmallBudget.stop());

  const rateLimitOf = async (person: Person) =>
    (await person.ask('{ rateLimit { remaining limit } }')).rateLimit;
  const entries = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      date: new Date(Date.UTC(1990, 0, from + index)).toISOString().slice(0, 10),
      weight: '80',
    }));
  const CREATE_MANY =
    'mutation ($inputs: [WeightEntryInput!]!) { createWeightEntries(inputs: $inputs) { weightEntries { id } } }';

  test('is charged per written row, and limits further writes as RATE_LIMITED', async () => {
    const bob = await withSmallBudget.user('bob');
    const { limit } = await rateLimitOf(bob);
    const began = performance.now();
    let written = 0;

    for (let batch = 0; batch < 20; batch += 1) {
      const { code, data } = await bob.query(CREATE_MANY, { inputs: entries(written, 100) });

      if (code) {
        expect(code).toBe('RATE_LIMITED');
        break;
      }

      written += data.createWeightEntries.weightEntries.length;
    }

    expect(written).toBeGreaterThan(0);
    const refilled = ((performance.now() - began) / 1000) * COST_PER_SECOND;

    expect(written).toBeLessThanOrEqual((limit + refilled) / 200);
  });

  test('is charged by the length of texts over REST', async () => {
    const cy = await withSmallBudget.user('cy');
    const { body } = await cy.post('/workout/', {});
    const session = {
      workout: body.id,
      date: '2024-01-01',
      notes: 'x'.repeat(MAX),
      impression: '2',
    };
    const { status, headers } = await cy.post('/workoutsession/', session);

    expect(status).toBe(201);
    expect(Number(/;c=(\d+)/.exec(headers.get('ratelimit')!)![1])).toBeGreaterThan(
      200 * (MAX / 1024),
    );
  });
});
