/** Statistics of groups (count, sum, mean, …), and references to them in `having` and `orderBy`. */
import { toConstantCase } from '../../shared/casing';
import { createEnumFromEntries } from '../declare/enums';
import { invalidInputError, type InputPath } from '../declare/errors';
import type { Entity, EntityField } from '../declare/fields';
import {
  minMaxFieldsOf,
  groupFieldName,
  numberFieldsOf,
  groupKeysOfFieldValues,
} from './group-keys';
import {
  getArgumentValues,
  getNamedType,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
} from 'graphql';
import { selectedFieldNodesByName } from '../declare/selections';

type ResolveInfo = Pick<
  GraphQLResolveInfo,
  'fieldNodes' | 'fragments' | 'variableValues' | 'returnType'
>;

export interface RequestedStatistics {
  /**
   * Fields whose statistics are selected, by statistic. The lists of `count` and `weightedCount`
   * are empty, because these count rows.
   */
  fieldNamesByStatistic: Map<string, string[]>;
  percentiles: { p: string; fieldNames: string[] }[];
  countDistinctFieldNames: string[];
}

/** Fields of a group that are keys or take arguments. */
const NON_STATISTIC_FIELDS = ['keys', 'percentile', 'countDistinct'];

const MAX_PERCENTILES = 20;

export const isPercentile = (p: string): boolean => Number(p) >= 0 && Number(p) <= 1;

/**
 * Collects the statistics in the selection set of a grouped query, so that SQL computes only these.
 * Leaves out percentiles and distinct values that do not exist, which their fields report, so that
 * only these fail.
 */
export function requestedStatisticsOf(
  entity: Entity,
  { fieldNodes, fragments, variableValues, returnType }: ResolveInfo,
): RequestedStatistics {
  const fields = selectedFieldNodesByName(fieldNodes, fragments, variableValues);
  const fieldNamesOf = (nodes: readonly FieldNode[]) =>
    [...selectedFieldNodesByName(nodes, fragments, variableValues).keys()].filter(
      (name) => !name.startsWith('__'),
    );
  const fieldNamesByStatistic = new Map<string, string[]>();

  for (const [name, nodes] of fields) {
    if (!NON_STATISTIC_FIELDS.includes(name)) fieldNamesByStatistic.set(name, fieldNamesOf(nodes));
  }

  const groupType = getNamedType(returnType) as GraphQLObjectType;
  const argumentsOf = (node: FieldNode) =>
    getArgumentValues(groupType.getFields()[node.name.value]!, node, variableValues);
  const countableKinds = kindsByFieldName(entity, 'countDistinct');
  const countDistinctFieldNames = (fields.get('countDistinct') ?? [])
    .map((node) => argumentsOf(node).of as string)
    .filter((name) => countableKinds.has(name));
  const percentiles = (fields.get('percentile') ?? []).flatMap((node) => {
    const { p } = argumentsOf(node) as { p: string };

    return isPercentile(p) ? [{ p, fieldNames: fieldNamesOf([node]) }] : [];
  });

  if (percentiles.length > MAX_PERCENTILES) {
    throw invalidInputError(
      ['percentile', 'p'],
      `Ensure that there are no more than ${MAX_PERCENTILES} percentiles.`,
    );
  }

  return { fieldNamesByStatistic, percentiles, countDistinctFieldNames };
}

export const NUMBER_STATISTICS = {
  sum: 'Exact sum, each value times the weight of its row; null without values.',
  avg: 'Mean, weighted as in `sum`; null without values. Rounded to 10 places.',
  stddev:
    'Sample standard deviation (n − 1), without weights; null for fewer than two values. Rounded to 10 places.',
  median: 'Interpolated, without weights; null without values.',
} as const;
export const MIN_MAX_STATISTICS = {
  min: 'Smallest value; null without values.',
  max: 'Largest value; null without values.',
} as const;
export const COUNT_DISTINCT_DESCRIPTION = 'Number of distinct values, without nulls.';
export const COUNT_DESCRIPTION = 'Number of rows.';
export const WEIGHTED_COUNT_DESCRIPTION =
  'Sum of the weights of the rows; equals `count` unless a key has weights.';

const STATISTICS = {
  count: COUNT_DESCRIPTION,
  weightedCount: WEIGHTED_COUNT_DESCRIPTION,
  countDistinct: COUNT_DISTINCT_DESCRIPTION,
  ...NUMBER_STATISTICS,
  ...MIN_MAX_STATISTICS,
};

export type Statistic = keyof typeof STATISTICS;

/** The enum of statistics. Its values are names of fields of a group. */
export const Statistic = createEnumFromEntries(
  'Statistic',
  'A statistic of a group. `COUNT` and `WEIGHTED_COUNT` count rows; all others are computed from a field.',
  Object.entries(STATISTICS).map(([name, description]) => [
    toConstantCase(name),
    name,
    description,
  ]),
);

export interface StatisticReference {
  statistic: Statistic;
  of?: string | null;
}

const isRowStatistic = (statistic: Statistic) =>
  statistic === 'count' || statistic === 'weightedCount';

function kindsByFieldName(
  entity: Entity,
  statistic: Statistic,
): ReadonlyMap<string, EntityField['kind']> {
  if (statistic === 'countDistinct') {
    return new Map(groupKeysOfFieldValues(entity).map(({ name }) => [name, 'decimal']));
  }

  if (statistic === 'min' || statistic === 'max') {
    return new Map(minMaxFieldsOf(entity).map((field) => [groupFieldName(field), field.kind]));
  }

  return new Map(numberFieldsOf(entity).map((field) => [groupFieldName(field), 'decimal']));
}

/**
 * Kind of a statistic's values, such as decimal or date. Rejects fields that do not support the
 * statistic.
 */
export function statisticValueKind(
  entity: Entity,
  { statistic, of }: StatisticReference,
  inputPath: InputPath,
): EntityField['kind'] {
  if (isRowStatistic(statistic)) {
    if (of != null) {
      throw invalidInputError(
        [...inputPath, 'of'],
        'This statistic counts rows and takes no field.',
      );
    }

    return 'decimal';
  }

  const kinds = kindsByFieldName(entity, statistic);
  const kind = kinds.get(of ?? '');

  if (!kind) throw unsupportedFieldError(kinds.keys(), inputPath);

  return kind;
}

const unsupportedFieldError = (supportedNames: Iterable<string>, inputPath: InputPath) =>
  invalidInputError(
    [...inputPath, 'of'],
    `This statistic is of one of these fields: ${[...supportedNames].join(', ') || 'none'}.`,
  );

export const uncountableFieldError = (entity: Entity) =>
  unsupportedFieldError(kindsByFieldName(entity, 'countDistinct').keys(), []);
