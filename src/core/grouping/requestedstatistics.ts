/** Reads the requested statistics from the selection set of a grouped query, so that SQL computes only these. */
import {
  getArgumentValues,
  getNamedType,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
} from 'graphql';
import { invalidArgumentError } from '../model/errors';
import { selectedFieldNodesByName } from '../read/queryplan';

type ResolveInfo = Pick<
  GraphQLResolveInfo,
  'fieldNodes' | 'fragments' | 'variableValues' | 'returnType'
>;

export interface RequestedStatistics {
  /** Names of the fields whose statistics are selected, by statistic. The lists of `count` and `weightedCount` are empty, because these count rows. */
  fieldNamesByStatistic: Map<string, string[]>;
  percentiles: { p: string; fieldNames: string[] }[];
  countDistinctFieldNames: string[];
}

/** Fields of a group that `fieldNamesByStatistic` does not contain: the keys, and statistics with arguments. */
const NON_STATISTIC_FIELDS = ['keys', 'percentile', 'countDistinct'];

const MAX_PERCENTILES = 20;

export function requestedStatisticsOf({
  fieldNodes,
  fragments,
  variableValues,
  returnType,
}: ResolveInfo): RequestedStatistics {
  const fields = selectedFieldNodesByName(fieldNodes, fragments, variableValues);
  const fieldNamesOf = (nodes: readonly FieldNode[]) =>
    [...selectedFieldNodesByName(nodes, fragments, variableValues).keys()].filter(
      (name) => !name.startsWith('__'),
    );
  const fieldNamesByStatistic = new Map<string, string[]>();
  for (const [name, nodes] of fields)
    if (!NON_STATISTIC_FIELDS.includes(name)) fieldNamesByStatistic.set(name, fieldNamesOf(nodes));
  const groupType = getNamedType(returnType) as GraphQLObjectType;
  const argumentsOf = (node: FieldNode) =>
    getArgumentValues(groupType.getFields()[node.name.value]!, node, variableValues);
  const countDistinctFieldNames = (fields.get('countDistinct') ?? []).map(
    (node) => argumentsOf(node).of as string,
  );
  const percentiles = (fields.get('percentile') ?? []).map((node) => {
    const { p } = argumentsOf(node) as { p: string };
    if (!(Number(p) >= 0 && Number(p) <= 1))
      throw invalidArgumentError('percentile.p', 'Ensure this value is from 0 to 1.');
    return { p, fieldNames: fieldNamesOf([node]) };
  });
  if (percentiles.length > MAX_PERCENTILES)
    throw invalidArgumentError(
      'percentile.p',
      `Ensure that there are no more than ${MAX_PERCENTILES} percentiles.`,
    );
  return { fieldNamesByStatistic, percentiles, countDistinctFieldNames };
}
