/** Finds the child lists of a GraphQL type: the fields that return all rows that refer to a parent row. */
import {
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  type GraphQLObjectType,
} from 'graphql';
import { visibleFieldsOf } from './cells';

export interface ChildField {
  name: string;
  childType: GraphQLObjectType;
  isConnection: boolean;
}

/** Returns the fields that list child rows, but not lists such as `muscles`, whose rows a relation field of the parent already refers to. */
export function childFieldsOf(parent: GraphQLObjectType): ChildField[] {
  const relationFieldNames = visibleFieldsOf(parent).map(
    ({ relation }) => relation?.objectFieldName,
  );
  return Object.values(parent.getFields()).flatMap(({ name, type, extensions }) => {
    if (relationFieldNames.includes(name) || extensions.field || extensions.action) return [];
    const namedType = getNamedType(type);
    const nodes =
      isObjectType(namedType) && namedType.name.endsWith('Connection')
        ? namedType.getFields().nodes
        : undefined;
    const childType = nodes
      ? getNamedType(nodes.type)
      : isListType(getNullableType(type))
        ? namedType
        : undefined;
    return isObjectType(childType) && childType.extensions.resource
      ? [{ name, childType, isConnection: nodes !== undefined }]
      : [];
  });
}
