/**
 * The field `nodes` returns rows of several types by node id, in order, with one statement per type
 * and one error per missing row.
 */
import '../../../src/graphql/schema';
import { nodeIdOf } from '../../../src/engine/declare/node';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let bob: Person;
let entries: string[];
let bobs: string;

beforeAll(async () => {
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  const entry = async (person: Person, date: string) =>
    nodeIdOf('WeightEntry', (await person.post('/weightentry/', { date, weight: '80' })).body.id);

  entries = [await entry(ann, '2021-01-01'), await entry(ann, '2021-01-02')];
  bobs = await entry(bob, '2021-01-01');
});

const EXERCISE = nodeIdOf('Exercise', 1);
const NODES = `query ($ids: [ID!]!) { nodes(nodeIds: $ids) { __typename nodeId ... on WeightEntry { date } ... on Exercise { name category { name } } } }`;
const unauthenticatedError = (index: number) =>
  expect.objectContaining({ path: ['nodes', index], extensions: { code: 'UNAUTHENTICATED' } });

test('returns rows in the requested order, including duplicates', async () => {
  const ids = [entries[1]!, EXERCISE, entries[0]!, entries[1]!];
  const { nodes } = await ann.ask(NODES, { ids });

  expect(nodes.map(({ nodeId }: { nodeId: string }) => nodeId)).toEqual(ids);
  expect(nodes.map(({ date, name }: any) => date ?? typeof name)).toEqual([
    '2021-01-02',
    'string',
    '2021-01-01',
    '2021-01-02',
  ]);
  expect(await ann.ask(NODES, { ids: [] })).toEqual({ nodes: [] });
});

test('returns null at the index of each unknown or foreign row', async () => {
  const ids = [
    nodeIdOf('WeightEntry', 2_000_000_000),
    entries[0]!,
    bobs,
    'nonsense',
    nodeIdOf('Nothing', 1),
    nodeIdOf('WeightEntryConnection', 1),
    EXERCISE,
  ];

  // Repeated, because an operation is compiled only after several executions.
  for (let round = 0; round < 12; round += 1) {
    const { data, errors, text } = await ann.query(NODES, { ids });

    expect(data.nodes.map((node: object | null) => node !== null)).toEqual([
      false,
      true,
      false,
      false,
      false,
      false,
      true,
    ]);
    expect(errors).toBeUndefined();
    expect(text).not.toContain(bobs);
  }
});

test('returns only public rows to an anonymous client', async () => {
  const { data, errors } = await fitgraph.anonymous.query(NODES, {
    ids: [entries[0]!, EXERCISE, bobs],
  });

  expect(data.nodes.map((node: { nodeId: string } | null) => node?.nodeId ?? null)).toEqual([
    null,
    EXERCISE,
    null,
  ]);
  expect(errors).toEqual([unauthenticatedError(0), unauthenticatedError(2)]);
});

test('returns null for a pending exercise, as `node` does', async () => {
  await fitgraph.sql(`UPDATE "exercise_base" SET "status" = '1' WHERE "id" = 2`);
  const pending = nodeIdOf('Exercise', 2);
  const one = await ann.query('query ($id: ID!) { node(nodeId: $id) { nodeId } }', { id: pending });
  const { data, errors } = await ann.query(NODES, { ids: [pending, EXERCISE] });

  expect([one.data, one.errors]).toEqual([{ node: null }, undefined]);
  expect([data.nodes[0], errors]).toEqual([null, undefined]);
  await fitgraph.sql(`UPDATE "exercise_base" SET "status" = '2' WHERE "id" = 2`);
});

test('sends one statement per type, whatever the number of rows', async () => {
  const short =
    'query ($ids: [ID!]!) { nodes(nodeIds: $ids) { ... on WeightEntry { date } ... on Exercise { name } } }';
  const statements = async (ids: string[]) => (await ann.query(short, { ids })).statements;
  const one = await statements([entries[0]!]);

  expect(await statements(Array.from({ length: 100 }, (_, index) => entries[index % 2]!))).toBe(
    one,
  );
  expect(await statements([...entries, EXERCISE, nodeIdOf('Exercise', 2)])).toBe(one + 1);
});

test('rejects more than 100 ids', async () => {
  const { errors } = await ann.query(NODES, { ids: Array.from({ length: 101 }, () => EXERCISE) });

  expect(errors![0]!.extensions).toMatchObject({
    code: 'BAD_USER_INPUT',
    inputErrors: [
      { path: ['nodeIds'], message: 'Ensure this list has no more than 100 elements.' },
    ],
  });
});
