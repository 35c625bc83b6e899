/** Finds the fields of a GraphQL type that list the child rows of a row. */
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

/**
 * Fields that list child rows. Lists such as `muscles` are excluded, because they belong to a
 * relation field of the parent.
 */
export function childFieldsOf(parent: GraphQLObjectType): ChildField[] {
  const relationFieldNames = visibleFieldsOf(parent).map(
    ({ relation }) => relation?.relationFieldName,
  );

  return Object.values(parent.getFields()).flatMap(({ name, type, extensions }) => {
    if (relationFieldNames.includes(name) || extensions.field || extensions.action) return [];
    const namedType = getNamedType(type);
    const isConnectionType = isObjectType(namedType) && namedType.name.endsWith('Connection');
    const nodes = isConnectionType ? namedType.getFields().nodes : undefined;

    if (!nodes && !isListType(getNullableType(type))) return [];
    const childType = nodes ? getNamedType(nodes.type) : namedType;

    if (!isObjectType(childType) || !childType.extensions.resource) return [];

    return [{ name, childType, isConnection: nodes !== undefined }];
  });
}
