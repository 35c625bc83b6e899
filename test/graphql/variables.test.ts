/** Variables that are read quickly are those that graphql-js would answer as they are. */
import { getOperationAST, getVariableValues, parse } from 'graphql';
import { coerced } from '../../src/core/operation/variables';
import { buildGraphQLSchema } from '../../src/graphql/schema';
import { Random } from './fuzz/random';

const TYPES = ['Int', 'Float', 'String', 'ID', 'Boolean', 'Decimal', 'Date', '[Int!]', '[ID]', 'ExerciseWhere', '[ExerciseOrder!]'];
const DEFAULTS: Record<string, string> = {
  Int: '7',
  String: '"seven"',
  Boolean: 'true',
  '[Int!]': '[7]',
  ExerciseWhere: '{ name: { eq: "seven" } }',
};
const VALUES: unknown[] = [
  ...[0, -0, 1, 1.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) + 1, -(2 ** 31), 2 ** 53, NaN, Infinity],
  ...['', '1', '1.50', '2024-02-30', '2024-02-29', 'true', 'x'],
  ...[true, false, null, undefined, [], [1], [null], ['1'], [[1]], {}],
  ...[
    { name: { eq: 'x' } },
    { name: { eq: null } },
    { nothing: 1 },
    [{ name: 'ASC' }],
    { id: { in: ['1', 2] } },
    10n,
    Symbol.iterator,
    () => 1,
  ],
];

const schema = buildGraphQLSchema();

test('random variables', () => {
  const random = new Random(Math.floor(Date.now() / 86_400_000));
  let [right, wrong] = [0, 0];
  for (let run = 0; run < 250; run += 1) {
    const definitions = Array.from({ length: 1 + random.upTo(4) }, (_, index) => {
      const type = random.one(TYPES);
      const written = random.chance(0.3) ? `${type}!` : type;
      return `$v${index}: ${written}${DEFAULTS[type] && random.chance(0.3) ? ` = ${DEFAULTS[type]}` : ''}`;
    });
    const document = parse(`query (${definitions.join(', ')}) { __typename }`);
    const operation = getOperationAST(document)!;
    for (let call = 0; call < 16; call += 1) {
      const variables: Record<string, unknown> = {};
      for (let index = 0; index < definitions.length; index += 1) if (random.chance(0.8)) variables[`v${index}`] = random.one(VALUES);
      const expected = getVariableValues(schema, operation.variableDefinitions!, variables);
      const found = coerced(schema, operation, variables, true);
      if (expected.errors) wrong += 1;
      else right += 1;
      expect(found.errors === undefined).toBe(expected.errors === undefined);
      if (!found.errors) {
        expect(found.values).toEqual(expected.coerced);
        expect(Object.entries(found.values).map(([name, value]) => [name, Object.is(value, -0)])).toEqual(
          Object.entries(expected.coerced!).map(([name, value]) => [name, Object.is(value, -0)]),
        );
      }
    }
  }
  expect(right).toBeGreaterThan(500);
  expect(wrong).toBeGreaterThan(500);
});
