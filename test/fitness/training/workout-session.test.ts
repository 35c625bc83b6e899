/** Workout sessions and their logs. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let bob: Person;

beforeAll(async () => {
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
});

const workoutOf = async (person: Person) =>
  (await person.post('/workout/', { comment: '' })).body.id as number;
const session = async (person: Person, workout: number, date: string) =>
  String((await person.post('/workoutsession/', { workout, date })).body.id);
const log = async (person: Person, workout: number, date: string) =>
  String(
    (await person.post('/workoutlog/', { workout, date, reps: 5, weight: '50', exercise: 1 })).body
      .id,
  );

test('links sessions and logs of the same user, workout and day', async () => {
  const [one, other, bobs] = [await workoutOf(ann), await workoutOf(ann), await workoutOf(bob)];
  const [first, second] = [
    await session(ann, one, '2021-01-01'),
    await session(ann, one, '2021-01-02'),
  ];
  const logs = [
    await log(ann, one, '2021-01-01'),
    await log(ann, one, '2021-01-01'),
    await log(ann, one, '2021-01-02'),
  ];
  const unrelatedLogs = [await log(ann, other, '2021-01-01'), await log(ann, one, '2021-01-03')];

  await session(bob, bobs, '2021-01-01');
  await log(bob, bobs, '2021-01-01');
  const { workoutSessions } = await ann.ask(
    '{ workoutSessions { nodes { id logs { totalCount nodes { id session { id } } } } } }',
  );
  const logWithSession = (id: string) => (log: string) => ({ id: log, session: { id } });

  expect(workoutSessions.nodes).toEqual([
    { id: first, logs: { totalCount: 2, nodes: logs.slice(0, 2).map(logWithSession(first)) } },
    { id: second, logs: { totalCount: 1, nodes: logs.slice(2).map(logWithSession(second)) } },
  ]);
  const logsWithoutSession = await ann.ask(
    '{ workoutLogs(where: { sessionId: { isNull: true } }) { nodes { id session { id } } } }',
  );

  expect(logsWithoutSession.workoutLogs.nodes).toEqual(
    unrelatedLogs.map((id) => ({ id, session: null })),
  );
  const heavy =
    'query ($id: ID!) { workoutSessions(where: { logs: { some: { id: { eq: $id } } } }) { nodes { id } } }';

  expect((await ann.ask(heavy, { id: logs[2] })).workoutSessions.nodes).toEqual([{ id: second }]);
  expect((await ann.ask(heavy, { id: unrelatedLogs[0] })).workoutSessions.nodes).toEqual([]);
});

test('reads the logs of many sessions with as many statements as those of one', async () => {
  const eve = await fitgraph.user('eve');
  const workout = await workoutOf(eve);
  const ask = async () =>
    (
      await eve.query(
        '{ workoutSessions(first: 500) { nodes { logs { totalCount nodes { id } } } } }',
      )
    ).statements;

  await session(eve, workout, '2021-01-01');
  const few = await ask();

  await fitgraph.sql(
    `INSERT INTO "workout_session" ("user_id", "workout_id", "date") SELECT $1, $2, date '2000-01-01' + n FROM generate_series(1, 300) n`,
    [eve.id, workout],
  );
  expect(await ask()).toBe(few);
});
