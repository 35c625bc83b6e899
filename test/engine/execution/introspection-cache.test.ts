/**
 * Introspection results are cached. The first response and all later ones must equal the result of
 * graphql-js byte by byte.
 */
import {
  getIntrospectionQuery,
  GraphQLObjectType,
  graphqlSync,
  parse,
  print,
  stripIgnoredCharacters,
} from 'graphql';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { fitgraphForThisFile } from '../../setup/fitgraph';

const schema = buildGraphQLSchema();
const fitgraph = fitgraphForThisFile({ environment: { BUDGET: 'off' } });

const standard = getIntrospectionQuery();
const executeReference = (source: string, variableValues?: Record<string, unknown>) =>
  graphqlSync({ schema, source, variableValues });

const OPTIONS = [
  'descriptions',
  'specifiedByUrl',
  'directiveIsRepeatable',
  'schemaDescription',
  'inputValueDeprecation',
  'oneOf',
];
const combinations = Array.from({ length: 1 << OPTIONS.length }, (_none, bits) => ({
  options: OPTIONS.filter((_name, index) => bits & (1 << index)),
  text: getIntrospectionQuery(
    Object.fromEntries(OPTIONS.map((name, index) => [name, (bits & (1 << index)) !== 0])),
  ),
}));

test.each(combinations)(
  'returns the same bytes as graphql-js with the options $options',
  async ({ text }) => {
    const expected = `${JSON.stringify(executeReference(text))}\n`;

    for (const _time of ['first', 'second']) {
      expect((await fitgraph.anonymous.query(text)).text === expected).toBe(true);
    }
  },
);

const conditional = (condition: string) =>
  standard
    .replace('IntrospectionQuery', 'IntrospectionQuery($on: Boolean!)')
    .replace('types {', `types @include(if: ${condition}) {`);

const variants: [what: string, text: string, variables?: Record<string, unknown>][] = [
  ['another operation name', standard.replace('IntrospectionQuery', 'Known')],
  ['no operation name', standard.replace('query IntrospectionQuery', 'query')],
  ['other whitespace', print(parse(standard))],
  ['no optional whitespace', stripIgnoredCharacters(standard)],
  ['an alias', standard.replace('__schema', 'schema: __schema')],
  ['another alias', standard.replace('__schema', 'scheme: __schema')],
  ['__typename beside __schema', standard.replace('__schema', '__typename __schema')],
  ['types excluded by a literal', standard.replace('types {', 'types @include(if: false) {')],
  ['types excluded by a variable', conditional('$on'), { on: false }],
  ['types included by a variable', conditional('$on'), { on: true }],
  ['deprecated members excluded', standard.replaceAll('(includeDeprecated: true)', '')],
];

test.each(variants.map(([what, text, variables]) => ({ what, text, variables })))(
  'returns the same bytes as graphql-js with $what',
  async ({ text, variables }) => {
    const expected = `${JSON.stringify(executeReference(text, variables))}\n`;

    expect(JSON.parse(expected)).toEqual({ data: expect.anything() });

    for (const _time of ['first', 'second']) {
      expect((await fitgraph.anonymous.query(text, variables)).text === expected).toBe(true);
    }
  },
);

test('reads rows selected next to cached introspection on every request', async () => {
  const user = await fitgraph.user('Ines');
  const text = standard.replace('__schema', 'weightEntries(first: 1) { totalCount } __schema');

  for (const totalCount of [0, 1]) {
    const { data } = await user.query(text);

    expect(data).toEqual({ weightEntries: { totalCount }, ...executeReference(standard).data });
    await user.post('/weightentry/', { date: '2026-01-01', weight: '80' });
  }
});

test('returns the result of the named operation when a document has several', async () => {
  const two = `${standard} query Other { __schema { queryType { name } types { name description fields { name description } } } }`;

  for (const operationName of ['Other', 'IntrospectionQuery', 'Other']) {
    const { text } = await fitgraph.anonymous.send('POST', '/graphql', {
      query: two,
      operationName,
    });

    expect(
      text === `${JSON.stringify(graphqlSync({ schema, source: two, operationName }))}\n`,
    ).toBe(true);
  }
});

test('does not execute a cached introspection again', async () => {
  const ask = async () => expect((await fitgraph.anonymous.query(standard)).status).toBe(200);

  await ask();
  // graphql-js reads the fields of every type to list them.
  const getFields = jest.spyOn(GraphQLObjectType.prototype, 'getFields');

  const typesRead = () => new Set(getFields.mock.contexts).size;

  try {
    await ask();
    expect(typesRead()).toBeLessThan(10);

    executeReference(standard);
    expect(typesRead()).toBeGreaterThan(100);
  } finally {
    getFields.mockRestore();
  }
});

test('does not serialize a cached result again', async () => {
  const ask = async () => expect((await fitgraph.anonymous.query(standard)).status).toBe(200);

  await ask();
  const stringify = jest.spyOn(JSON, 'stringify');

  try {
    await ask();
    expect(
      Math.max(...stringify.mock.results.map(({ value }) => String(value).length)),
    ).toBeLessThan(10_000);
  } finally {
    stringify.mockRestore();
  }
});
