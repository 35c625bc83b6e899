/** What a selection shows of groups; the same for all runs of a document but for the variables that say which percentiles. */
import { getArgumentValues, getNamedType, type FieldNode, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql';
import { badArgument } from '../model/errors';
import { selected } from '../read/plan';

type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'variableValues' | 'returnType'>;

export interface Shown {
  /** Names of fields by what is worked out of them, `count` and `weightedCount` without any. */
  works: Map<string, string[]>;
  percentiles: { p: string; handles: string[] }[];
  /** Names of fields whose different values are counted. */
  distinct: string[];
}

/** Fields of a group that are not worked out of the fields selected below them. */
const NO_WORK = ['keys', 'percentile', 'countDistinct'];

/** Different ones of one grouping. */
const MAX_PERCENTILES = 20;

export function shownOf({ fieldNodes, fragments, variableValues, returnType }: Info): Shown {
  const fields = selected(fieldNodes, fragments);
  const works = new Map<string, string[]>();
  for (const [name, of] of fields) if (!NO_WORK.includes(name)) works.set(name, handles(of, fragments));
  const group = getNamedType(returnType) as GraphQLObjectType;
  const argumentsOf = (node: FieldNode) => getArgumentValues(group.getFields()[node.name.value]!, node, variableValues);
  const distinct = (fields.get('countDistinct') ?? []).map((node) => argumentsOf(node).of as string);
  const percentiles = (fields.get('percentile') ?? []).map((node) => {
    const { p } = argumentsOf(node) as { p: string };
    if (!(Number(p) >= 0 && Number(p) <= 1)) throw badArgument('percentile.p', 'Ensure this value is from 0 to 1.');
    return { p, handles: handles([node], fragments) };
  });
  if (percentiles.length > MAX_PERCENTILES)
    throw badArgument('percentile.p', `Ensure that there are no more than ${MAX_PERCENTILES} percentiles.`);
  return { works, percentiles, distinct };
}

const handles = (nodes: readonly FieldNode[], fragments: Info['fragments']): string[] =>
  [...selected(nodes, fragments).keys()].filter((name) => !name.startsWith('__'));
