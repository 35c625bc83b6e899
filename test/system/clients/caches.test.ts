/** Normalised client caches: several changes of one row stay separate entries. */
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { cacheExchange } from '@urql/exchange-graphcache';
import { Client, fetchExchange } from 'urql';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let person: Person;
let cursor: string;
let expected: object[];
let made = 0;

const url = () => `${fitgraph.url}/graphql`;
const headers = () => ({ Authorization: `Bearer ${person.token}` });

const CHANGES = `query Changes($since: String!) { changes(since: $since) {
  cursor changes { type rowId rowNodeId operation occurredAt node { nodeId ... on WeightEntry { id weight } } } } }`;
const ROWS =
  'query Rows { weightEntries(orderBy: [{ date: ASC }]) { nodes { nodeId id weight } } }';

interface ChangesData {
  changes: { changes: { rowId: string; operation: string; node: { weight: string } | null }[] };
}
const changesIn = ({ changes }: ChangesData) =>
  changes.changes.map(({ rowId, operation, node }) => ({ rowId, operation, weight: node?.weight }));

/** A new user: the first weight is created, updated twice and deleted, the second one created and updated. */
beforeEach(async () => {
  person = await fitgraph.user(`cache-${(made += 1)}`);
  cursor = (await person.ask('{ changes { cursor } }')).changes.cursor;
  const one = (await person.post('/weightentry/', { date: '2021-03-10', weight: '80' })).body.id;
  const two = (await person.post('/weightentry/', { date: '2021-03-11', weight: '90' })).body.id;
  for (const weight of ['81', '82']) await person.patch(`/weightentry/${one}/`, { weight });
  await person.patch(`/weightentry/${two}/`, { weight: '91' });
  await person.delete(`/weightentry/${one}/`);
  const change = (rowId: number, operation: string, weight?: string) => ({
    rowId: String(rowId),
    operation,
    weight,
  });
  expected = [
    change(one, 'CREATED'),
    change(two, 'CREATED', '91.00'),
    change(one, 'UPDATED'),
    change(one, 'UPDATED'),
    change(two, 'UPDATED', '91.00'),
    change(one, 'DELETED'),
  ];
});

test('@apollo/client keeps all changes of a row in its cache', async () => {
  const client = new ApolloClient({
    cache: new InMemoryCache(),
    link: new HttpLink({ uri: url(), headers: headers() }),
  });
  await client.query({ query: gql(ROWS) });
  const { data } = await client.query<ChangesData>({
    query: gql(CHANGES),
    variables: { since: cursor },
  });
  expect(changesIn(data!)).toEqual(expected);
  // From the cache.
  expect(
    changesIn(
      client.readQuery<ChangesData>({ query: gql(CHANGES), variables: { since: cursor } })!,
    ),
  ).toEqual(expected);
  expect(
    Object.keys(client.cache.extract() as object).filter((key) => key.startsWith('Change')),
  ).toEqual([]);
  client.stop();
});

test('urql with a configured Graphcache keeps all changes of a row in its cache', async () => {
  // Rows are keyed by `nodeId`; objects without one are embedded in their parent.
  const cache = cacheExchange({
    keys: {
      WeightEntry: ({ nodeId }) => nodeId as string,
      Change: () => null,
      Changes: () => null,
      WeightEntryConnection: () => null,
    },
  });
  const client = new Client({
    url: url(),
    exchanges: [cache, fetchExchange],
    preferGetMethod: false,
    fetchOptions: { headers: headers() },
  });
  await client.query(ROWS, {}).toPromise();
  const { data, error } = await client.query<ChangesData>(CHANGES, { since: cursor }).toPromise();
  expect([error, changesIn(data!)]).toEqual([undefined, expected]);
  const cached = await client
    .query<ChangesData>(CHANGES, { since: cursor }, { requestPolicy: 'cache-only' })
    .toPromise();
  expect(changesIn(cached.data!)).toEqual(expected);
});

test('urql with the default Graphcache keeps all changes of a row in its cache', async () => {
  const warned = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  const client = new Client({
    url: url(),
    exchanges: [cacheExchange(), fetchExchange],
    preferGetMethod: false,
    fetchOptions: { headers: headers() },
  });
  const { data } = await client.query<ChangesData>(CHANGES, { since: cursor }).toPromise();
  const cached = await client
    .query<ChangesData>(CHANGES, { since: cursor }, { requestPolicy: 'cache-only' })
    .toPromise();
  expect([changesIn(data!), changesIn(cached.data!)]).toEqual([expected, expected]);
  warned.mockRestore();
});
