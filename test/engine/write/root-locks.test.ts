/** Concurrent writes of a tree of rows wait for each other; they do not deadlock. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Answer, Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
const ROUNDS = 12;

/** PostgreSQL publishes statistics of a session at most once a second. */
const STATISTICS_DELAY_MS = 1_500;

async function countDeadlocks(): Promise<number> {
  await sleep(STATISTICS_DELAY_MS);
  const [row] = await fitgraph.sql(
    'SELECT "deadlocks"::int FROM pg_stat_database WHERE datname = current_database()',
  );

  return row!.deadlocks as number;
}

/** Statuses of writes in a tree that is deleted meanwhile: done, or its rows do not exist. */
const EXPECTED_STATUSES = [200, 201, 204, 400, 403, 404];

type Write = () => Promise<Answer>;

/** Runs the writes of each round together. `prepare` creates a tree. */
async function hammer(name: string, prepare: (person: Person) => Promise<Write[]>): Promise<void> {
  const before = await countDeadlocks();
  const statuses = new Set<number>();

  for (let round = 0; round < ROUNDS; round += 1) {
    // Each round has its own budget.
    const writes = await prepare(await fitgraph.user(`${name}-${round}`));
    const answers = await Promise.all(writes.map((write) => write()));

    for (const { status } of answers) statuses.add(status);
  }

  expect([...statuses].filter((status) => !EXPECTED_STATUSES.includes(status))).toEqual([]);
  expect(statuses).toContain(204);
  expect(await countDeadlocks()).toBe(before);
}

const repeat = (count: number, write: (index: number) => Promise<Answer>): Write[] =>
  Array.from({ length: count }, (_, index) => () => write(index));

async function created(person: Person, path: string, values: object): Promise<number> {
  const { status, body } = await person.post(path, values);

  expect(status).toBe(201);
  return body.id;
}

test('of the items of a nutrition plan, when the plan or a meal is deleted', async () => {
  await hammer('plan', async (person) => {
    const plan = await created(person, '/nutritionplan/', {});
    const meals = [
      await created(person, '/meal/', { plan }),
      await created(person, '/meal/', { plan }),
    ];
    const item = { ingredient: 1, amount: '1' };
    const items: number[] = [];

    for (const meal of meals) items.push(await created(person, '/mealitem/', { ...item, meal }));
    const deletions = [
      () => person.delete(`/nutritionplan/${plan}/`),
      () => person.delete(`/meal/${meals[0]}/`),
    ];

    return [
      ...repeat(6, (index) => person.post('/mealitem/', { ...item, meal: meals[index % 2] })),
      ...repeat(2, (index) => person.patch(`/mealitem/${items[index]}/`, { amount: '2' })),
      ...repeat(2, (index) => person.patch(`/meal/${meals[index]}/`, { time: '08:00' })),
      () => person.delete(`/mealitem/${items[1]}/`),
      ...deletions,
      ...repeat(6, (index) => person.post('/mealitem/', { ...item, meal: meals[index % 2] })),
    ];
  });
});

test('of the sets of a workout, when the workout or a day is deleted', async () => {
  await hammer('workout', async (person) => {
    const workout = await created(person, '/workout/', {});
    const day = await created(person, '/day/', { training: workout, description: 'd', day: [1] });
    const set = await created(person, '/set/', { exerciseday: day });
    const setting = await created(person, '/setting/', { set, exercise: 1, reps: 5 });

    return [
      ...repeat(5, () => person.post('/setting/', { set, exercise: 1, reps: 5 })),
      ...repeat(3, () => person.post('/set/', { exerciseday: day })),
      ...repeat(2, () => person.patch(`/setting/${setting}/`, { reps: 6 })),
      () => person.patch(`/set/${set}/`, { sets: 3 }),
      () => person.patch(`/day/${day}/`, { description: 'e', day: [2] }),
      () => person.delete(`/set/${set}/`),
      () => person.delete(`/workout/${workout}/`),
      () => person.delete(`/day/${day}/`),
      ...repeat(5, () => person.post('/setting/', { set, exercise: 1, reps: 5 })),
    ];
  });
});

test('of the steps of a schedule, when a workout of it is deleted', async () => {
  await hammer('schedule', async (person) => {
    const workouts = [
      await created(person, '/workout/', {}),
      await created(person, '/workout/', {}),
    ];
    const schedule = await created(person, '/schedule/', { name: 's' });
    const step = (index: number) => ({ schedule, workout: workouts[index % 2], duration: 1 });
    const steps = [
      await created(person, '/schedulestep/', step(0)),
      await created(person, '/schedulestep/', step(1)),
    ];

    return [
      ...repeat(4, (index) => person.post('/schedulestep/', step(index))),
      ...repeat(2, (index) => person.patch(`/schedulestep/${steps[index]}/`, { duration: 2 })),
      ...repeat(2, (index) => person.patch(`/schedulestep/${steps[index]}/`, step(index + 1))),
      () => person.delete(`/workout/${workouts[0]}/`),
      () => person.patch(`/schedule/${schedule}/`, { name: 't' }),
      () => person.delete(`/workout/${workouts[1]}/`),
      ...repeat(4, (index) => person.post('/schedulestep/', step(index))),
      () => person.delete(`/schedule/${schedule}/`),
    ];
  });
});
