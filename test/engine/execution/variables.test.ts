/**
 * Compares the fast coercion of variables with that of graphql-js: both accept the same values and
 * give the same result.
 */
import { getOperationAST, getVariableValues, parse, type OperationDefinitionNode } from 'graphql';
import { coerceVariables } from '../../../src/engine/execution/variables';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { randomFor, seeded, type Random } from '../../setup/random';

const DOCUMENTS_PER_TYPE = 24;
const CALLS_OF_EACH_KIND = 6;

interface Samples {
  valid: unknown[];
  invalid: unknown[];

  /** A default value, as a literal. */
  fallback?: string;
}

/** Sample values by type, other than null, which is valid for every nullable type. */
const TYPES: Record<string, Samples> = {
  Int: {
    valid: [0, -0, 1, 2 ** 31 - 1, -(2 ** 31) + 1, -(2 ** 31)],
    invalid: [1.5, 2 ** 31, 2 ** 53, NaN, Infinity, '1', true, [1], {}, 10n, () => 1],
    fallback: '7',
  },
  String: {
    valid: ['', '1', '1.50', 'true', 'x'],
    invalid: [1, true, ['x'], {}, Symbol.iterator],
    fallback: '"seven"',
  },
  ID: {
    valid: ['', '1', 'x', 0, -0, 1, 2 ** 53],
    invalid: [1.5, NaN, true, ['1'], {}, Symbol.iterator],
  },
  Boolean: { valid: [true, false], invalid: ['true', 1, [true], {}], fallback: 'true' },
  Decimal: {
    valid: ['1', '1.50', 0, -0, 1, 1.5, 2 ** 31],
    invalid: ['', 'x', NaN, true, [1], {}, () => 1],
  },
  Date: {
    valid: ['2024-02-29', '0900-01-01'],
    invalid: ['2024-02-30', '', 1, true, ['2024-02-29'], {}],
  },
  '[Int!]': {
    valid: [[], [1], [0, -0], 1],
    invalid: [[null], ['1'], [[1]], [1.5], 'x', {}],
    fallback: '[7]',
  },
  '[ID]': { valid: [[], [1], [null], ['1', 2], 'x', 1], invalid: [[[1]], [true], 1.5, {}, [{}]] },
  ExerciseWhere: {
    valid: [{}, { name: { eq: 'x' } }, { name: { eq: null } }, { id: { in: ['1', 2] } }],
    invalid: [{ nothing: 1 }, { name: { eq: 1 } }, { name: 'x' }, [], 'x', 1],
    fallback: '{ name: { eq: "seven" } }',
  },
  '[ExerciseOrder!]': {
    valid: [[], [{ name: 'ASC' }], { name: 'ASC' }],
    invalid: [[null], [{ name: 'UP' }], [{ nothing: 1 }], 'ASC', 1],
  },
};
const names = Object.keys(TYPES);

/** The values of all types. Each is invalid for some types. */
const MIXED = [
  null,
  undefined,
  ...Object.values(TYPES).flatMap(({ valid, invalid }) => [...valid, ...invalid]),
];

const schema = buildGraphQLSchema();

interface Variable {
  name: string;
  samples: Samples;
  isRequired: boolean;
  default?: string;
}
type Values = Record<string, unknown>;

function variable(random: Random, index: number, type: string): Variable & { definition: string } {
  const [isRequired, hasDefault] = [random.chance(0.3), random.chance(0.3)];
  const samples = TYPES[type]!;
  const fallback = hasDefault ? samples.fallback : undefined;
  const definition = `$v${index}: ${type}${isRequired ? '!' : ''}${fallback ? ` = ${fallback}` : ''}`;

  return { name: `v${index}`, samples, isRequired, default: fallback, definition };
}

function validValues(random: Random, variables: readonly Variable[]): Values {
  const entries = variables.flatMap(
    ({ name, samples, isRequired, default: fallback }): [string, unknown][] => {
      if ((!isRequired || fallback) && random.chance(0.2)) return [];

      return [
        [
          name,
          !isRequired && random.chance(0.1)
            ? random.pick([null, undefined])
            : random.pick(samples.valid),
        ],
      ];
    },
  );

  return Object.fromEntries(entries);
}

/** Draws values that are valid for all variables except one. */
function invalidValues(random: Random, variables: readonly Variable[]): Values {
  const values = validValues(random, variables);
  const { name, samples, isRequired, default: fallback } = random.pick(variables);

  values[name] = random.pick(isRequired ? [...samples.invalid, null, undefined] : samples.invalid);
  if (isRequired && !fallback && random.chance(0.2)) delete values[name];

  return values;
}

const mixedValues = (random: Random, variables: readonly Variable[]): Values =>
  Object.fromEntries(
    variables.filter(() => random.chance(0.8)).map(({ name }) => [name, random.pick(MIXED)]),
  );

const withNegativeZeros = (values: object) =>
  Object.entries(values).map(([name, value]) => [name, Object.is(value, -0)]);

/**
 * Whether the values are valid. Expects that both implementations agree and return the same values.
 */
function areValid(operation: OperationDefinitionNode, values: Values): boolean {
  const expected = getVariableValues(schema, operation.variableDefinitions!, values);
  const found = coerceVariables(schema, operation, values, true);

  expect(found.errors === undefined).toBe(expected.errors === undefined);
  if (found.errors) return false;
  expect(found.values).toEqual(expected.coerced);
  expect(withNegativeZeros(found.values)).toEqual(withNegativeZeros(expected.coerced!));
  return true;
}

test.each(names)(seeded('coerces variables of type %s like graphql-js'), (type) => {
  const random = randomFor(`variables of type ${type}`);

  for (let run = 0; run < DOCUMENTS_PER_TYPE; run += 1) {
    const otherNames = Array.from({ length: random.below(4) }, () => random.pick(names));
    const variables = [type, ...otherNames].map((one, index) => variable(random, index, one));
    const document = parse(
      `query (${variables.map(({ definition }) => definition).join(', ')}) { __typename }`,
    );
    const operation = getOperationAST(document)!;

    for (let call = 0; call < CALLS_OF_EACH_KIND; call += 1) {
      expect(areValid(operation, validValues(random, variables))).toBe(true);
      expect(areValid(operation, invalidValues(random, variables))).toBe(false);
      areValid(operation, mixedValues(random, variables));
    }
  }
});
