/**
 * Popular GraphQL clients against the running server: pagination, mutations, errors, normalized
 * caches.
 */
import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { cacheExchange as normalizedCacheExchange } from '@urql/exchange-graphcache';
import { cacheExchange, Client, fetchExchange } from 'urql';
import { filter, firstValueFrom } from 'rxjs';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';

// The package is published in both module formats, but its types are those of the ES module.
type GraphQLRequest = typeof import('graphql-request', { with: { 'resolution-mode': 'import' } });
// eslint-disable-next-line @typescript-eslint/no-require-imports -- the types are those of an ES module, which only require finds here
const { ClientError, GraphQLClient } = require('graphql-request') as GraphQLRequest;

const fitgraph = fitgraphForThisFile();
let person: Person;
let made = 0;

const WEIGHTS = ['80.00', '79.50', '79.00', '78.50', '78.00'];

/** Creates a new user with weights on five days. */
beforeEach(async () => {
  person = await fitgraph.user(`client-${(made += 1)}`);

  for (const [index, weight] of WEIGHTS.entries()) {
    await person.post('/weightentry/', { date: `2021-03-1${index}`, weight });
  }
});

const url = () => `${fitgraph.url}/graphql`;
const headers = () => ({ Authorization: `Bearer ${person.token}` });

const PAGE = `query Weights($first: Int!, $after: String) {
  weightEntries(first: $first, after: $after, orderBy: [{ date: ASC }]) {
    totalCount
    edges { cursor node { nodeId date weight } }
    pageInfo { hasNextPage endCursor }
  }
}`;
const CREATE = `mutation Create($input: WeightEntryInput!) {
  createWeightEntry(input: $input) { weightEntry { nodeId weight } errors { path message } }
}`;
const WRONG_PAGE = 'query WrongPage { weightEntries(first: -1) { totalCount } }';
const NEW = { input: { date: '2021-03-20', weight: '77.00' } };
const WRONG = { input: { date: '2021-03-21', weight: '1.00' } };

interface Page {
  weightEntries: {
    totalCount: number;
    edges: { cursor: string; node: { nodeId: string; date: string; weight: string } }[];
    pageInfo: { hasNextPage: boolean; endCursor: string };
  };
}
interface Created {
  createWeightEntry: {
    weightEntry: { nodeId: string; weight: string } | null;
    errors: { path: string[]; message: string }[];
  };
}
const weightsOf = ({ weightEntries }: Page) => weightEntries.edges.map(({ node }) => node.weight);

describe('@apollo/client', () => {
  function apollo() {
    const cache = new InMemoryCache({
      typePolicies: {
        Query: { fields: { weightEntries: relayStylePagination(['orderBy', 'where']) } },
      },
    });

    return new ApolloClient({ cache, link: new HttpLink({ uri: url(), headers: headers() }) });
  }

  test('merges the pages of a list in its cache', async () => {
    const client = apollo();
    const query = client.watchQuery<Page>({ query: gql(PAGE), variables: { first: 2 } });
    // A subscriber keeps the query active.
    const subscription = query.subscribe(() => undefined);
    const resultWithEdges = (length: number) =>
      firstValueFrom(
        query.pipe(
          filter(
            ({ data, loading }) =>
              !loading && (data as Page | undefined)?.weightEntries.edges.length === length,
          ),
        ),
      );

    expect(weightsOf((await resultWithEdges(2)).data as Page)).toEqual(WEIGHTS.slice(0, 2));

    for (const length of [4, 5]) {
      const { pageInfo } = (query.getCurrentResult().data as Page).weightEntries;

      expect(pageInfo.hasNextPage).toBe(true);
      const next = resultWithEdges(length);

      await query.fetchMore({ variables: { after: pageInfo.endCursor } });
      expect(weightsOf((await next).data as Page)).toEqual(WEIGHTS.slice(0, length));
    }

    expect(query.getCurrentResult().data).toMatchObject({
      weightEntries: { totalCount: 5, pageInfo: { hasNextPage: false } },
    });
    subscription.unsubscribe();
    client.stop();
  });

  test('creates rows and reports invalid input', async () => {
    const client = apollo();
    const created = await client.mutate<Created>({ mutation: gql(CREATE), variables: NEW });

    expect(created.data).toMatchObject({
      createWeightEntry: { weightEntry: { weight: '77.00' }, errors: [] },
    });
    const rejected = await client.mutate<Created>({ mutation: gql(CREATE), variables: WRONG });

    expect(rejected.data).toMatchObject({
      createWeightEntry: { weightEntry: null, errors: [{ path: ['input', 'weight'] }] },
    });
    client.stop();
  });

  test('exposes error codes', async () => {
    const client = apollo();
    const error = await client.query({ query: gql(WRONG_PAGE) }).catch((reason: unknown) => reason);

    expect(CombinedGraphQLErrors.is(error) && error.errors[0]!.extensions!.code).toBe(
      'BAD_USER_INPUT',
    );
    const invalid = await client
      .query({ query: gql('query Invalid { nothing }') })
      .catch((reason: unknown) => reason);

    expect(CombinedGraphQLErrors.is(invalid) && invalid.errors[0]!.extensions!.code).toBe(
      'GRAPHQL_VALIDATION_FAILED',
    );
    client.stop();
  });
});

describe('urql', () => {
  // By default it sends queries by GET.
  const urql = () =>
    new Client({
      url: url(),
      exchanges: [cacheExchange, fetchExchange],
      fetchOptions: { headers: headers() },
    });

  test('reads all pages of a list', async () => {
    const client = urql();
    const weights: string[] = [];
    let after: string | undefined;

    for (let more = true; more;) {
      const { data, error } = await client.query<Page>(PAGE, { first: 2, after }).toPromise();

      expect(error).toBeUndefined();
      weights.push(...weightsOf(data!));
      ({ hasNextPage: more, endCursor: after } = data!.weightEntries.pageInfo);
    }

    expect(weights).toEqual(WEIGHTS);
  });

  test('refetches a list after a mutation', async () => {
    const client = urql();
    const count = async () =>
      (await client.query<Page>(PAGE, { first: 1 }).toPromise()).data!.weightEntries.totalCount;

    expect(await count()).toBe(5);
    const { data } = await client.mutation<Created>(CREATE, NEW).toPromise();

    expect(data!.createWeightEntry.weightEntry!.weight).toBe('77.00');
    expect(await count()).toBe(6);
  });

  test('exposes error codes', async () => {
    const client = urql();
    const { error } = await client.query(WRONG_PAGE, {}).toPromise();

    expect(error!.graphQLErrors.map(({ extensions }) => extensions.code)).toEqual([
      'BAD_USER_INPUT',
    ]);
    const invalid = await client.query('{ nothing }', {}).toPromise();

    expect(invalid.error!.graphQLErrors.map(({ extensions }) => extensions.code)).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
  });
});

describe('graphql-request', () => {
  const client = () => new GraphQLClient(url(), { headers: headers() });

  test('reads all pages of a list', async () => {
    const weights: string[] = [];
    let after: string | undefined;

    for (let more = true; more;) {
      const page: Page = await client().request<Page>(PAGE, { first: 2, after });

      weights.push(...weightsOf(page));
      ({ hasNextPage: more, endCursor: after } = page.weightEntries.pageInfo);
    }

    expect(weights).toEqual(WEIGHTS);
  });

  test('creates rows, reports invalid input and exposes error codes', async () => {
    expect(await client().request(CREATE, NEW)).toMatchObject({
      createWeightEntry: { weightEntry: { weight: '77.00' } },
    });
    expect(await client().request(CREATE, WRONG)).toMatchObject({
      createWeightEntry: { errors: [{ path: ['input', 'weight'] }] },
    });
    const error = await client()
      .request(WRONG_PAGE)
      .catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(ClientError);
    expect((error as InstanceType<typeof ClientError>).response.errors![0]!.extensions!.code).toBe(
      'BAD_USER_INPUT',
    );
  });
});

describe('normalized caches keep all changes of a row', () => {
  let cursor: string;
  let expected: object[];

  const CHANGES = `query Changes($since: String!) { changes(since: $since) {
  cursor changes { type rowId rowNodeId operation occurredAt node { nodeId ... on WeightEntry { id weight } } } } }`;
  const ROWS =
    'query Rows { weightEntries(orderBy: [{ date: ASC }]) { nodes { nodeId id weight } } }';

  interface ChangesData {
    changes: { changes: { rowId: string; operation: string; node: { weight: string } | null }[] };
  }
  const changesIn = ({ changes }: ChangesData) =>
    changes.changes.map(({ rowId, operation, node }) => ({
      rowId,
      operation,
      weight: node?.weight,
    }));

  /** The first weight is created, updated twice and deleted, the second one created and updated. */
  beforeEach(async () => {
    cursor = (await person.ask('{ changes { cursor } }')).changes.cursor;
    const one = (await person.post('/weightentry/', { date: '2022-03-10', weight: '80' })).body.id;
    const two = (await person.post('/weightentry/', { date: '2022-03-11', weight: '90' })).body.id;

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

  test('of @apollo/client', async () => {
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

  test('of urql with a configured Graphcache', async () => {
    // Rows are keyed by `nodeId`; objects without one are embedded in their parent.
    const cache = normalizedCacheExchange({
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

  test('of urql with the default Graphcache', async () => {
    const warned = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const client = new Client({
      url: url(),
      exchanges: [normalizedCacheExchange(), fetchExchange],
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
});
