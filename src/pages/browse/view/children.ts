/** What hangs below the rows of a type. */
import { getNamedType, getNullableType, isListType, isObjectType, type GraphQLObjectType } from 'graphql';
import { shownFacts } from './cells';

export interface Children {
  name: string;
  child: GraphQLObjectType;
  /** It has pages. */
  nodes: boolean;
}

/** Lists of rows that are no relation of the row itself. */
export function childrenOf(parent: GraphQLObjectType): Children[] {
  const own = shownFacts(parent).map(({ relation }) => relation?.object);
  return Object.values(parent.getFields()).flatMap(({ name, type, extensions }) => {
    if (own.includes(name) || extensions.field || extensions.action) return [];
    const holder = getNamedType(type);
    const nodes = isObjectType(holder) && holder.name.endsWith('Connection') ? holder.getFields().nodes : undefined;
    const child = nodes ? getNamedType(nodes.type) : isListType(getNullableType(type)) ? holder : undefined;
    return isObjectType(child) && child.extensions.resource ? [{ name, child, nodes: nodes !== undefined }] : [];
  });
}
