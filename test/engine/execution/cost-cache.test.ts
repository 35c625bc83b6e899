/** Cached costs of REST operations: a cached cost equals a new estimate for the same variables. */
import {
  getNamedType,
  isInputObjectType,
  isListType,
  getNullableType,
  getOperationAST,
  parse,
  typeFromAST,
  type GraphQLInputType,
} from 'graphql';
import { estimateOperationCost } from '../../../src/engine/execution/cost';
import { CostCache } from '../../../src/engine/execution/cost-cache';
import { deriveEndpoints } from '../../../src/rest/endpoints';
import { buildRestSchema } from '../../../src/graphql/schema';
import { randomFor, seeded, type Random } from '../../setup/random';

const schema = buildRestSchema();
const documents = new Set<string>();

deriveEndpoints(schema, (document) => {
  documents.add(document);
  return () => Promise.reject(new Error('nothing runs here'));
});

/** Documents with features that the operations of REST do not use yet. */
const CONDITION_VALUES = [
  'query ($a: Int, $b: Int, $s: Boolean!) { exercises(first: $a) @skip(if: $s) { nodes { category { exercises(last: $b) { nodes { id } } } } } }',
  'query ($n: String, $first: Int = 7) { exercises(first: $first, where: { name: { contains: $n }, category: { exercises: { some: { name: { eq: $n } } } } }) { totalCount } }',
];

const name = (random: Random) => `field${random.below(5)}`;

/** Draws a condition. Its field names need not exist, because the estimate does not check them. */
function condition(random: Random, depth: number): unknown {
  const kind = depth > 3 ? 0 : random.below(5);

  if (kind === 0) return random.pick<unknown>(['a', 1, true, null, undefined]);

  if (kind === 1) {
    return Array.from({ length: random.below(4) }, () => condition(random, depth + 1));
  }

  let key = kind === 3 ? 'search' : undefined;

  if (kind === 2) key = random.pick(['some', 'none']);
  key ??= name(random);
  return {
    [key]: condition(random, depth + 1),
    ...(random.chance(0.4) && { [name(random)]: condition(random, depth + 1) }),
  };
}

function value(random: Random, type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);

  if (type === nullable && random.chance(0.2)) return random.pick<unknown>([null, undefined]);

  if (isListType(nullable)) {
    return Array.from({ length: random.below(30) }, () =>
      value(random, nullable.ofType as GraphQLInputType),
    );
  }

  if (isInputObjectType(nullable)) return condition(random, 0) ?? {};

  return (
    { Int: random.below(12_000), Boolean: random.chance(0.5) }[getNamedType(nullable).name] ??
    `text ${random.below(1000)}`
  );
}

/** Returns variables of the same shape with other texts, which cost the same. */
function withOtherTexts(values: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(values).replaceAll('"a"', '"b"').replaceAll('"text ', '"other ');

  return JSON.parse(text) as Record<string, unknown>;
}

test(seeded('returns the same cost as a new estimate for random variables'), () => {
  expect(documents.size).toBeGreaterThan(100);
  const different: unknown[] = [];

  for (const text of [...documents, ...CONDITION_VALUES]) {
    const random = randomFor(`variables of ${text}`);
    const document = parse(text);
    const operation = getOperationAST(document)!;
    const costs = new CostCache(schema, document, operation);

    for (let run = 0; run < 40; run += 1) {
      const variables = Object.fromEntries(
        (operation.variableDefinitions ?? []).map(({ variable, type }) => [
          variable.name.value,
          value(random, typeFromAST(schema, type) as GraphQLInputType),
        ]),
      );

      for (const variableValues of [variables, withOtherTexts(variables)]) {
        const [cachedCost, computedCost] = [
          costs.costForVariables(variableValues),
          estimateOperationCost(schema, document, operation, variableValues),
        ];

        if (JSON.stringify(cachedCost) !== JSON.stringify(computedCost)) {
          different.push({ text, variableValues, cachedCost, computedCost });
        }
      }
    }
  }

  expect(different.slice(0, 3)).toEqual([]);
});

test('shares a cost between values of a condition but not between page sizes', () => {
  const document = parse(
    'query ($first: Int, $where: ExerciseWhere) { exercises(first: $first, where: $where) { nodes { id } } }',
  );
  const costs = new CostCache(schema, document, getOperationAST(document)!);
  const of = (first: number, eq: string) =>
    costs.costForVariables({ first, where: { name: { eq } } });

  expect(of(20, 'a')).toBe(of(20, 'b'));
  expect(of(20, 'a')).not.toBe(of(21, 'a'));
});
