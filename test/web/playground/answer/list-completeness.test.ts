/** Results that contain only a part of a list. */
import { buildSchema, parse } from 'graphql';
import {
  describeRowCount,
  findPartialList,
  totalCountIn,
  totalCountQueryOf,
  withRequestedCount,
} from '../../../../src/web/playground/answer/list-completeness';

const SCHEMA = buildSchema(`
  type Query { logs(first: Int, after: String, kind: String): Logs groups(first: Int = 100): [Log!] workout(id: ID!): Workout series(last: Int): [Log!] }
  type Workout { logs(first: Int): Logs }
  type Logs { nodes: [Log!]! edges: [Edge!]! totalCount: Int! }
  type Edge { node: Log! }
  type Log { id: ID! }
`);

const find = (query: string, outermostListPath: string, rowCount: number, variables = {}) =>
  findPartialList(SCHEMA, { query: parse(query), variables }, { outermostListPath }, rowCount);

test.each([
  ['{ logs { nodes { id } } }', 'logs.nodes', 20],
  ['{ logs(first: 3) { rows: nodes { id } } }', 'logs.rows', 3],
  ['query ($n: Int) { l: logs(first: $n) { edges { node { id } } } }', 'l.edges', 5],
  [
    '{ workout(id: 1) { ...w } } fragment w on Workout { logs(first: 3) { nodes { id } } }',
    'workout.logs.nodes',
    3,
  ],
  ['{ groups { id } }', 'groups', 100],
  ['{ series(last: 7) { id } }', 'series', 7],
])('are found if they have as many rows as requested: %s', (query, path, count) => {
  expect(find(query, path, count, { n: 5 })).toBeDefined();
  expect(find(query, path, count - 1, { n: 5 })).toBeUndefined();
});

test('are not lists with more rows than requested, such as exercises of the last weeks', () => {
  expect(find('{ series(last: 4) { id } }', 'series', 5)).toBeUndefined();
});

test.each([
  ['{ groups(first: 7) { id } }', 'groups', undefined, 'The first 7 rows; there may be more'],
  ['{ series(last: 7) { id } }', 'series', undefined, 'The latest 7 rows; there may be more'],
  ['{ logs(first: 7) { nodes { id } } }', 'logs.nodes', 1234, '7 of 1,234 rows'],
])('are described by their place in the list: %s', (query, path, total, sentence) => {
  expect(describeRowCount(find(query, path, 7)!, 7, total)).toBe(sentence);
});

test('are counted by a query without the page and unused variables', () => {
  const query =
    'query ($n: Int, $kind: String) { l: logs(first: $n, after: "x", kind: $kind) { nodes { id } } }';
  const list = find(query, 'l.nodes', 5, { n: 5 })!;

  expect(list.hasTotalCount).toBe(true);
  expect(totalCountQueryOf(list).replaceAll(/\s+/g, ' ')).toBe(
    'query ($kind: String) { l: logs(kind: $kind) { totalCount } }',
  );
  expect(totalCountIn({ l: { totalCount: 12 } }, list)).toBe(12);
  expect(totalCountIn({ l: null }, list)).toBeUndefined();
  expect(find('{ groups { id } }', 'groups', 100)!.hasTotalCount).toBe(false);
});

test.each([
  ['{ logs { nodes { id } } }', '{ logs(first: 90) { nodes { id } } }'],
  ['{ logs(kind: "a") { nodes { id } } }', '{ logs(kind: "a", first: 90) { nodes { id } } }'],
  ['{ logs(first: 20) { nodes { id } } } # all', '{ logs(first: 90) { nodes { id } } } # all'],
])('are requested completely by changing the query: %s', (query, expectedQuery) => {
  expect(withRequestedCount(query, find(query, 'logs.nodes', 20)!, 90)).toEqual({
    query: expectedQuery,
  });
});

test('are requested completely by changing the variable', () => {
  const query = 'query ($n: Int) { logs(first: $n) { nodes { id } } }';

  expect(withRequestedCount(query, find(query, 'logs.nodes', 5, { n: 5 })!, 90)).toEqual({
    query,
    variables: { n: 90 },
  });
});
