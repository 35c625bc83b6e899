/** What holds for every question: whose rows it reads, what it costs, that it is one statement, and that it can be taken away as a file. */
import { getNamedType, getOperationAST, isLeafType, isObjectType, parse, type GraphQLEnumType, type GraphQLObjectType } from 'graphql';
import { costOf } from '../../src/core/operation/cost';
import { buildGraphQLSchema } from '../../src/graphql/schema';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { BODY_WEIGHT, train } from './training';

const fitgraph = fitgraphForThisFile();
const schema = buildGraphQLSchema();

/** Each, with a group of scopes that it is for. */
const QUESTIONS: [question: string, scope: string][] = [
  ['bestOneRepMaxes', 'TRAINING'],
  ['bodyWeightTrend', 'BODY'],
  ['muscleVolume', 'TRAINING'],
  ['nutritionIntake', 'NUTRITION'],
  ['personalRecords', 'TRAINING'],
  ['plannedExercises', 'TRAINING'],
  ['scheduleAdherence', 'TRAINING'],
  ['strength', 'TRAINING'],
  ['topFoods', 'NUTRITION'],
  ['trainingLoad', 'TRAINING'],
  ['trainingVolume', 'TRAINING'],
  ['trainingWeeks', 'TRAINING'],
];

const fieldOf = (question: string) => schema.getQueryType()!.getFields()[question]!;
/** All leaves of a row and, of a page, how many rows there are. */
function selection(question: string): string {
  const type = getNamedType(fieldOf(question).type) as GraphQLObjectType;
  const nodes = type.getFields().nodes;
  const row = nodes ? (getNamedType(nodes.type) as GraphQLObjectType) : type;
  const leaves = Object.values(row.getFields()).filter((field) => isLeafType(getNamedType(field.type)));
  const shown = leaves.map(({ name }) => name).join(' ');
  return nodes ? `{ totalCount nodes { ${shown} } pageInfo { hasNextPage } }` : `{ ${shown} }`;
}
const ask = (question: string) => `{ q: ${question} ${selection(question)} }`;

let ann: Person;
beforeAll(async () => {
  await fitgraph.sql(`INSERT INTO "weight_unit" ("id", "name") VALUES (3, 'Body Weight') ON CONFLICT DO NOTHING`);
  ann = await fitgraph.user('ann');
  await train(ann, [
    { date: '2021-03-08', reps: 5, weight: '100.00' },
    { date: '2021-03-16', reps: 8, weight: '102.50' },
  ]);
  const plan = (await ann.post('/nutritionplan/', { description: 'p' })).body.id;
  await ann.post('/nutritiondiary/', { plan, ingredient: 1, amount: '50.00', datetime: '2021-03-10T08:00:00+01:00' });
  for (const date of ['2021-03-08', '2021-03-09']) await ann.post('/weightentry/', { date, weight: '80.00' });
  const workout = (await ann.ask('{ workouts { nodes { id } } }')).workouts.nodes[0].id;
  const { createSchedule } = await ann.ask('mutation { createSchedule(input: { name: "s", isActive: true }) { schedule { id } } }');
  await ann.ask(
    `mutation { createScheduleStep(input: { scheduleId: ${createSchedule.schedule.id}, workoutId: ${workout} }) { scheduleStep { id } } }`,
  );
});

test('these are all', () => {
  const own = Object.values(schema.getQueryType()!.getFields()).filter(({ type }) => {
    const named = getNamedType(type);
    return isObjectType(named) && (/Page$/.test(named.name) || named.name === 'Strength');
  });
  expect(own.map(({ name }) => name).sort()).toEqual(QUESTIONS.map(([question]) => question));
});

describe.each(QUESTIONS)('%s', (question, scope) => {
  test('is one statement, and costs something before that runs', async () => {
    const { data, errors, statements } = await ann.query(ask(question));
    expect([errors, statements]).toEqual([undefined, 2]);
    if (question === 'strength') expect(data.q.total).toBe('102.50');
    // Nothing is planned of the workout.
    else expect(data.q.nodes.length > 0).toBe(question !== 'plannedExercises');
    const document = parse(ask(question));
    expect(costOf(schema, document, getOperationAST(document)!, {}).total).toBeGreaterThan(100);
  });

  test('reads rows of the viewer alone', async () => {
    const { q } = await (await fitgraph.user('bob')).ask(ask(question));
    if (question === 'strength') expect(q).toBeNull();
    else expect(q).toEqual({ totalCount: 0, nodes: [], pageInfo: { hasNextPage: false } });
    expect((await fitgraph.anyone.query(ask(question))).code).toBe('UNAUTHENTICATED');
  });

  test('is for tokens that may read what it is about', async () => {
    const token = async (scopes: string) => {
      const { made } = await ann.ask(`mutation { made: createAccessToken(name: "${question} ${scopes}", scopes: [${scopes}]) { token } }`);
      return fitgraph.anyone.sending({ Authorization: `Bearer ${made.token}` });
    };
    expect((await (await token(`READ_${scope}`)).query(ask(question))).errors).toBeUndefined();
    expect((await (await token('READ_ACCOUNT')).query(ask(question))).code).toBe('FORBIDDEN');
  });
});

test('the first and the last day of all, and the most that can be written, are no mistake', async () => {
  const eve = await fitgraph.user('eve');
  const most = { reps: 2_147_483_647, weight: '999.99' };
  await train(eve, [
    { date: '0001-01-01', ...most },
    { date: '9999-12-31', ...most },
    { date: '9999-12-31', reps: 12, weight: '999.99', rir: '0', weight_unit: BODY_WEIGHT },
  ]);
  const plan = (await eve.post('/nutritionplan/', { description: 'p' })).body.id;
  for (const datetime of ['0001-01-02T00:00:00Z', '9999-12-30T23:59:59Z'])
    expect((await eve.post('/nutritiondiary/', { plan, ingredient: 1, amount: '1000.00', datetime })).status).toBe(201);
  for (const date of ['0001-01-01', '9999-12-31']) await eve.post('/weightentry/', { date, weight: '600.00' });
  for (const [question] of QUESTIONS) {
    const units = fieldOf(question).args.some(({ type }) => String(type) === 'DayUnit!')
      ? (schema.getType('DayUnit') as GraphQLEnumType).getValues().map(({ name }) => name)
      : [undefined];
    for (const by of units) {
      const args = by ? `(by: ${by}, firstDay: SATURDAY)` : '';
      const { errors, data } = await eve.query(`{ q: ${question}${args} ${selection(question)} }`);
      expect([question, by, errors]).toEqual([question, by, undefined]);
      expect(data.q === null).toBe(false);
    }
  }
});

test('a page after the other is a file', async () => {
  const query = '{ bestOneRepMaxes { nodes { date exercise { name } oneRepMax } } }';
  const { text } = await ann.send('GET', `/graphql/export.csv?query=${encodeURIComponent(query)}`);
  expect(text.split('\r\n')).toEqual(['date,exercise.name,oneRepMax', '2021-03-08,Squat,116.67', '2021-03-16,Squat,129.83', '']);
});
