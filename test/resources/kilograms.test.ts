/** Weights in kilograms beside what was written, whatever the unit. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';

const fitgraph = fitgraphForThisFile();
const KG = 1;
const LB = 2;
let ann: Person;
let workout: number;
beforeAll(async () => {
  ann = await fitgraph.user('ann');
  workout = (await ann.post('/workout/', { comment: '' })).body.id;
  // Neither is a mass.
  await fitgraph.sql(`INSERT INTO "weight_unit" ("id", "name") VALUES (3, 'Body Weight'), (4, 'Plates') ON CONFLICT DO NOTHING`);
  await fitgraph.sql(`INSERT INTO "weight_unit" ("id", "name") VALUES (2, 'lb') ON CONFLICT DO NOTHING`);
  await fitgraph.reference.reload();
});

const units = async (unit: string) => {
  const { viewer } = await ann.ask('{ viewer { profile { id } } }');
  expect((await ann.patch(`/userprofile/${viewer.profile.id}/`, { weight_unit: unit })).status).toBe(200);
};

test('a body weight is meant in the unit that the user prefers', async () => {
  await ann.post('/weightentry/', { date: '2021-01-01', weight: '80.55' });
  await ann.post('/weightentry/', { date: '2021-01-02', weight: '177.50' });
  const weights = async () => (await ann.ask('{ weightEntries { nodes { weight weightKg } } }')).weightEntries.nodes;
  expect(await weights()).toEqual([
    { weight: '80.55', weightKg: '80.550' },
    { weight: '177.50', weightKg: '177.500' },
  ]);
  await units('lb');
  expect(await weights()).toEqual([
    { weight: '80.55', weightKg: '36.537' },
    { weight: '177.50', weightKg: '80.513' },
  ]);
  const heavy = await ann.ask('{ weightEntries(where: { weightKg: { gt: "80" } }) { totalCount nodes { date } } }');
  expect(heavy.weightEntries).toEqual({ totalCount: 1, nodes: [{ date: '2021-01-02' }] });
  await units('kg');
});

/** By unit, half up in the third place: 0.01 lb = 0.0045… kg, 100 lb = 45.359237 kg. */
const CASES: [weight: string, unit: number, weightKg: string | null][] = [
  ['100.00', KG, '100.000'],
  ['100.00', LB, '45.359'],
  ['0.01', LB, '0.005'],
  ['999.99', LB, '453.588'],
  ['0.00', LB, '0.000'],
  ['5.00', 3, null],
  ['5.00', 4, null],
];

test.each(CASES)('a log of %s in unit %i is %s kg', async (weight, unit, weightKg) => {
  const body = { reps: 1, weight, date: '2021-01-01', exercise: 1, workout, weight_unit: unit };
  const { body: log, status } = await ann.post('/workoutlog/', body);
  expect(status).toBe(201);
  expect((await ann.ask('query ($id: ID!) { row: workoutLog(id: $id) { weight weightKg } }', { id: log.id })).row).toEqual({
    weight,
    weightKg,
  });
  expect(Object.keys(log)).not.toContain('weight_kg');
});

test('logs are ordered and paged by mass, those without one last', async () => {
  const page = async (args: string) =>
    (
      await ann.ask(
        `{ page: workoutLogs(orderBy: [{ weightKg: DESC_NULLS_LAST }], ${args}) { nodes { weightKg } pageInfo { endCursor hasNextPage } } }`,
      )
    ).page;
  const all = await page('first: 100');
  const sorted = CASES.map(([, , weightKg]) => weightKg).sort((a, b) => (a === null ? 1 : b === null ? -1 : Number(b) - Number(a)));
  expect(all.nodes.map(({ weightKg }: { weightKg: string }) => weightKg)).toEqual(sorted);
  const seen: (string | null)[] = [];
  for (let after = ''; ;) {
    const { nodes, pageInfo } = await page(`first: 2${after && `, after: "${after}"`}`);
    seen.push(...nodes.map(({ weightKg }: { weightKg: string | null }) => weightKg));
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  expect(seen).toEqual(sorted);
});

test('a setting has one if it has a weight', async () => {
  const day = (await ann.post('/day/', { training: workout, description: 'Legs', day: [1] })).body.id;
  const set = (await ann.post('/set/', { exerciseday: day, sets: 1 })).body.id;
  for (const weight of ['45.00', null]) await ann.post('/setting/', { set, exercise: 1, reps: 5, weight, weight_unit: LB });
  const { settings } = await ann.ask('{ settings(orderBy: [{ id: ASC }]) { nodes { weight: targetWeight weightKg: targetWeightKg } } }');
  expect(settings.nodes).toEqual([
    { weight: '45.00', weightKg: '20.412' },
    { weight: null, weightKg: null },
  ]);
});
