/**
 * Sends the requests of the checks of graphql-cop (https://github.com/dolevf/graphql-cop) and
 * evaluates the responses as it does.
 */
import { getIntrospectionQuery } from 'graphql';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { Fitgraph } from '../setup/fitgraph';
import type { Person } from '../setup/person';

let withIntrospection: Fitgraph;
let withoutIntrospection: Fitgraph;

beforeAll(async () => {
  withIntrospection = await Fitgraph.start();
  withoutIntrospection = await Fitgraph.start({
    sameDatabaseAs: withIntrospection,
    environment: { INTROSPECTION: 'users' },
  });
});
afterAll(async () => {
  await withoutIntrospection.stop();
  await withIntrospection.stop();
});

const asGraphqlCop = (person: Person) =>
  person.withHeaders({ 'User-Agent': 'graphql-cop/1.14', Accept: '*/*' });
const query = async (person: Person, text: string) =>
  (await asGraphqlCop(person).send('POST', '/graphql', { query: text, operationName: 'cop' })).body;

const joinRepeated = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join('');

/** The checks by name. Each returns whether it has found a weakness. */
const CHECKS: Record<string, (person: Person) => Promise<boolean>> = {
  'alias overloading': async (person) => {
    const { data } = await query(
      person,
      `query cop { ${joinRepeated(101, (index) => `alias${index}:__typename \n`)} }`,
    );

    return Boolean(data?.alias100);
  },
  'batch queries': async (person) => {
    const one = { query: 'query cop { __typename }' };
    const { body } = await asGraphqlCop(person).send(
      'POST',
      '/graphql',
      Array<object>(10).fill(one),
    );

    return body.length >= 10;
  },
  'directive overloading': async (person) => {
    const { errors } = await query(
      person,
      'query cop { __typename @aa@aa@aa@aa@aa@aa@aa@aa@aa@aa }',
    );

    return errors?.length === 10;
  },
  'circular introspection': async (person) => {
    const { data } = await query(
      person,
      'query cop { __schema { types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } } } }',
    );

    return data?.__schema?.types.length > 25;
  },
  'field duplication': async (person) => {
    const { data } = await query(person, `query cop { ${'__typename \n'.repeat(500)} }`);

    return Boolean(data?.__typename);
  },
  'field suggestions': async (person) => {
    const { errors } = await query(person, 'query cop { __schema { directive } }');

    return errors[0].message.includes('Did you mean');
  },
  'mutations by GET': async (person) => {
    const { body } = await asGraphqlCop(person).send(
      'GET',
      `/graphql?${new URLSearchParams({ query: 'mutation cop {__typename}' })}`,
    );

    return Boolean(body.data?.__typename);
  },
  'queries by GET': async (person) => {
    const { body } = await asGraphqlCop(person).send(
      'GET',
      `/graphql?${new URLSearchParams({ query: 'query cop {__typename}' })}`,
    );

    return Boolean(body.data?.__typename);
  },
  'queries by a form': async (person) => {
    const form = new URLSearchParams({ query: 'query cop {__typename}' }).toString();
    const sender = asGraphqlCop(person).withHeaders({
      'Content-Type': 'application/x-www-form-urlencoded',
    });
    const answers = [
      await sender.send('POST', '/graphql', form),
      await sender.send('POST', `/graphql?${form}`),
    ];

    return answers.some(({ body }) => body.data?.__typename);
  },
  introspection: async (person) => {
    const { data } = await query(
      person,
      'query cop { __schema { types { name fields { name } } } }',
    );

    return Boolean(data?.__schema?.types);
  },
  playground: async (person) => {
    const pages = await Promise.all(
      ['/graphiql', '/playground', '/console', '/graphql'].map((path) =>
        asGraphqlCop(person).send('GET', path),
      ),
    );
    // The texts that graphql-cop looks for, and those that identify Fitgraph's own playground.
    const signs = [
      'graphiql.min.css',
      'GraphQL Playground',
      'GraphiQL',
      'graphql-playground',
      'id="playground"',
      '<title>Playground',
    ];

    return pages.some(({ text }) => signs.some((sign) => text.includes(sign)));
  },
  'trace mode': async (person) => {
    const { errors, extensions } = await query(person, 'query cop { __typename }');

    return (
      extensions !== undefined ||
      JSON.stringify(errors ?? []).match(/tracing|exception|stacktrace/i) !== null
    );
  },
  'unhandled errors': async (person) => {
    const { errors } = await query(person, 'qwerty cop { abc }');

    return JSON.stringify(errors).match(/exception|stacktrace|node_modules/i) !== null;
  },
};
const INTENDED_FINDINGS = ['introspection', 'playground', 'field suggestions'];

test.each(Object.keys(CHECKS))('gives graphql-cop no unintended finding: %s', async (name) => {
  const found = CHECKS[name]!;

  expect(await found(withIntrospection.anonymous)).toBe(INTENDED_FINDINGS.includes(name));
  expect(await found(withoutIntrospection.anonymous)).toBe(false);
});

describe('with INTROSPECTION=users', () => {
  test.each([
    ['__schema', '{ __schema { queryType { name } } }'],
    ['__type', '{ __type(name: "Exercise") { name } }'],
    [
      '__schema in a fragment',
      '{ exercise(id: 1) { name } ...Q } fragment Q on Query { ... on Query { s: __schema { queryType { name } } } }',
    ],
    ['the standard query', getIntrospectionQuery()],
  ])(
    'rejects introspection of anonymous clients and serves signed-in users: %s',
    async (_what, text) => {
      const rejected = await withoutIntrospection.anonymous.query(text);

      expect([rejected.status, rejected.code, rejected.data]).toEqual([
        401,
        'UNAUTHENTICATED',
        undefined,
      ]);
      expect(rejected.errors).toEqual([
        expect.objectContaining({ message: 'Introspection requires signing in.' }),
      ]);
      expect(
        (
          await asGraphqlCop(withoutIntrospection.anonymous).send('POST', '/graphql', {
            query: text,
          })
        ).status,
      ).toBe(401);
      expect((await (await withoutIntrospection.user('ann')).query(text)).errors).toBeUndefined();
      expect((await withoutIntrospection.anonymous.query(text)).code).toBe('UNAUTHENTICATED');
      expect((await withIntrospection.anonymous.query(text)).errors).toBeUndefined();
    },
  );

  test('gives no suggestions of names to anonymous clients, also over a WebSocket, server-sent events and in exports', async () => {
    const [wrong, subscription] = [
      '{ exercize(id: 1) { id } }',
      'subscription { rowChange { id } }',
    ];
    const client = createClient({
      url: `${withoutIntrospection.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    const overSocket = await new Promise<unknown>((resolve) =>
      client.subscribe(
        { query: subscription },
        { next: resolve, error: resolve, complete: () => resolve(undefined) },
      ),
    );

    await client.dispose();
    const answers = [
      (await withoutIntrospection.anonymous.query(wrong)).text,
      (
        await withoutIntrospection.anonymous.query(
          'query ($o: [ExerciseOrder!]) { exercises(orderBy: $o) { totalCount } }',
          {
            o: [{ name: 'ASCC' }],
          },
        )
      ).text,
      JSON.stringify(overSocket),
      (
        await withoutIntrospection.anonymous
          .withHeaders({ Accept: 'text/event-stream' })
          .send('POST', '/graphql/stream', { query: subscription })
      ).text,
      (
        await withoutIntrospection.anonymous.send(
          'GET',
          `/graphql/export.csv?${new URLSearchParams({ query: '{ exercizes { nodes { id } } }' })}`,
        )
      ).text,
    ];

    for (const text of answers) {
      expect(text).toMatch(/exercize|rowChange|ASCC/);
      expect(text).not.toContain('Did you mean');
    }

    expect((await (await withoutIntrospection.user('ann')).query(wrong)).text).toContain(
      'Did you mean',
    );
  });

  test('keeps suggestions about variables of an export from anonymous clients only', async () => {
    const suggestionsOf = async (person: Person) => {
      const parameters = {
        query: 'query ($o: [ExerciseOrder!]) { exercises(orderBy: $o) { nodes { id } } }',
        variables: '{"o":[{"name":"ASCC"}]}',
      };
      const { text } = await person.send(
        'GET',
        `/graphql/export.csv?${new URLSearchParams(parameters)}`,
      );

      return text.includes('Did you mean');
    };

    expect(await suggestionsOf(withoutIntrospection.anonymous)).toBe(false);
    expect(await suggestionsOf(await withoutIntrospection.user('ann'))).toBe(true);
    expect(await suggestionsOf(withIntrospection.anonymous)).toBe(true);
  });

  test('still serves __typename, the guides and GET /schema to anonymous clients', async () => {
    expect(
      (await withoutIntrospection.anonymous.query('{ __typename exercise(id: 1) { __typename } }'))
        .data,
    ).toEqual({
      __typename: 'Query',
      exercise: { __typename: 'Exercise' },
    });
    expect((await withoutIntrospection.anonymous.get('/schema')).status).toBe(200);
    expect((await withoutIntrospection.anonymous.get('/schema/docs')).status).toBe(200);
    expect((await withoutIntrospection.anonymous.send('GET', '/docs/graphql')).status).toBe(200);
  });

  test('redirects anonymous clients from the playground to the login', async () => {
    const answer = await withoutIntrospection.anonymous.send('GET', '/playground');

    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/login?next=%2Fplayground',
    ]);
    const schemaFile = await withoutIntrospection.anonymous.send('GET', '/playground/schema.json');

    expect([schemaFile.status, schemaFile.body.errors[0].extensions.code]).toEqual([
      401,
      'UNAUTHENTICATED',
    ]);
    expect(
      (await (await withoutIntrospection.user('ann')).send('GET', '/playground/schema.json')).body
        .__schema.queryType.name,
    ).toBe('Query');
    expect([200, 503]).toContain(
      (await (await withoutIntrospection.user('ann')).send('GET', '/playground')).status,
    );
  });
});
