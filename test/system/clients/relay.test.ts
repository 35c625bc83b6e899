/** Relay's own runtime against the running server: what its directives do to its store. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  commitMutation,
  ConnectionHandler,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  getRequest,
  getSingularSelector,
  Network,
  RecordSource,
  Store,
} from 'relay-runtime';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { compileForRelay } from './relaycompiler';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let folder: string;

const DOCUMENTS = {
  WeightPage: `query WeightPageQuery { weightEntries(first: 10, orderBy: [{ date: ASC }]) @connection(key: "WeightPage_weightEntries") {
    edges { node { nodeId id date weight } } } }`,
  NewWeight: `mutation NewWeightMutation($input: WeightEntryInput!, $connections: [ID!]!) { createWeightEntry(input: $input) {
    weightEntry @appendNode(connections: $connections, edgeTypeName: "WeightEntryEdge") { nodeId id date weight }
    errors { path message } } }`,
  DropWeight: `mutation DropWeightMutation($id: ID!, $connections: [ID!]!) { deleteWeightEntry(id: $id) {
    deletedNodeIds @deleteEdge(connections: $connections) } }`,
  ForgetWeight: 'mutation ForgetWeightMutation($id: ID!) { deleteWeightEntry(id: $id) { deletedNodeIds @deleteRecord } }',
  ForgetWeights:
    'mutation ForgetWeightsMutation($rows: [RowVersion!]!) { deleteWeightEntries(rows: $rows) { deletedNodeIds @deleteRecord } }',
  WorkoutCard: 'fragment WorkoutCard_workout on Workout @refetchable(queryName: "WorkoutCardRefetchQuery") { id name }',
  WorkoutPage: 'query WorkoutPageQuery($id: ID!) { workout(id: $id) { nodeId ...WorkoutCard_workout } }',
};

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-relay-'));
  const { status, said } = compileForRelay(folder, DOCUMENTS, 'javascript');
  expect([status, said]).toEqual([0, expect.not.stringContaining('✖')]);
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

// eslint-disable-next-line @typescript-eslint/no-require-imports -- made by the compiler a moment ago
const artifact = (name: string) => require(path.join(folder, 'src/__generated__', `${name}.graphql.js`));

/** Ids tell rows of one type apart only, so the store knows rows by their `nodeId`. */
const environment = () =>
  new Environment({
    getDataID: ({ nodeId }: { nodeId?: string }) => nodeId,
    network: Network.create(async ({ text }, variables) => (await ann.query(text!, variables)).body),
    store: new Store(new RecordSource()),
  });

const read = (relay: Environment, name: string, variables = {}) =>
  relay.lookup(createOperationDescriptor(getRequest(artifact(name)), variables).fragment).data as any;
const fetched = async (relay: Environment, name: string, variables = {}) => {
  await fetchQuery(relay, artifact(name), variables).toPromise();
  // Nothing of it may be thrown away while it is looked at.
  relay.retain(createOperationDescriptor(getRequest(artifact(name)), variables));
  return read(relay, name, variables);
};
const mutated = (relay: Environment, name: string, variables: Record<string, unknown>): Promise<any> =>
  new Promise((resolve, reject) => commitMutation(relay, { mutation: artifact(name), variables, onCompleted: resolve, onError: reject }));

const connection = ConnectionHandler.getConnectionID('client:root', 'WeightPage_weightEntries', { orderBy: [{ date: 'ASC' }] });
const datesOf = (page: any) => page.weightEntries.edges.map((edge: any) => edge?.node?.date ?? null);

test('rows are appended to a connection, taken out of it and forgotten', async () => {
  const relay = environment();
  for (const day of [1, 2, 3, 4]) await ann.post('/weightentry/', { date: `2021-03-0${day}`, weight: '80' });
  const { weightEntries } = await fetched(relay, 'WeightPageQuery');
  const [first, second, third, fourth] = weightEntries.edges.map(({ node }: any) => node);
  const dates = () => datesOf(read(relay, 'WeightPageQuery'));
  expect(dates()).toEqual(['2021-03-01', '2021-03-02', '2021-03-03', '2021-03-04']);

  const made = await mutated(relay, 'NewWeightMutation', { input: { date: '2021-03-05', weight: '79' }, connections: [connection] });
  expect(made.createWeightEntry.errors).toEqual([]);
  expect(dates()).toEqual(['2021-03-01', '2021-03-02', '2021-03-03', '2021-03-04', '2021-03-05']);

  await mutated(relay, 'DropWeightMutation', { id: first.nodeId, connections: [connection] });
  expect(dates()).toEqual(['2021-03-02', '2021-03-03', '2021-03-04', '2021-03-05']);

  // What is forgotten stays an edge without a node.
  await mutated(relay, 'ForgetWeightMutation', { id: second.id });
  expect(dates()).toEqual([null, '2021-03-03', '2021-03-04', '2021-03-05']);
  await mutated(relay, 'ForgetWeightsMutation', { rows: [{ id: third.id }, { id: fourth.nodeId }] });
  expect(dates()).toEqual([null, null, null, '2021-03-05']);

  expect((await ann.get('/weightentry/')).body.results.map(({ date }: { date: string }) => date)).toEqual(['2021-03-05']);
  expect(datesOf(await fetched(environment(), 'WeightPageQuery'))).toEqual(['2021-03-05']);
});

test('a fragment is fetched again by the nodeId of its row', async () => {
  const relay = environment();
  const { id } = (await ann.post('/workout/', { comment: 'before' })).body;
  const { workout } = await fetched(relay, 'WorkoutPageQuery', { id: String(id) });
  const card = () => relay.lookup(getSingularSelector(artifact('WorkoutCard_workout'), workout)! as never).data;
  expect(card()).toEqual({ id: String(id), name: 'before', nodeId: workout.nodeId });
  await ann.patch(`/workout/${id}/`, { comment: 'after' });
  const refetch = artifact('WorkoutCard_workout').metadata.refetch.operation;
  await fetchQuery(relay, refetch, { nodeId: workout.nodeId }).toPromise();
  expect(card()).toEqual({ id: String(id), name: 'after', nodeId: workout.nodeId });
});
