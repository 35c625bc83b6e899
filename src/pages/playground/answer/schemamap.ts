/** Map of a GraphQL schema: the types of rows and the relations between them. */
import {
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';

export interface TypeRelation {
  sourceTypeName: string;
  fieldName: string;
  targetTypeName: string;
  /** Whether the field is a list, paginated or not. */
  isToMany: boolean;
}

export interface SchemaMap {
  /** Types of rows, sorted by name. */
  types: { name: string; description: string }[];
  relations: TypeRelation[];
}

/** Returns the type that the field refers to; for a connection, the type of its nodes. */
function referencedTypeOf({ type }: GraphQLField<unknown, unknown>): { type: GraphQLObjectType; isToMany: boolean } | undefined {
  const namedType = getNamedType(type);
  if (!isObjectType(namedType)) return undefined;
  const nodes = namedType.getFields().nodes;
  const rows = nodes && getNamedType(nodes.type);
  if (rows) return isObjectType(rows) ? { type: rows, isToMany: true } : undefined;
  return { type: namedType, isToMany: isListType(getNullableType(type)) };
}

/** Returns the types of rows of a schema, which are those that implement the interface `Node`, and the relations between them. */
export function schemaMapOf(schema: GraphQLSchema): SchemaMap {
  const node = schema.getType('Node');
  const rows = isInterfaceType(node) ? [...schema.getPossibleTypes(node)] : [];
  rows.sort((a, b) => a.name.localeCompare(b.name));
  const typeNames = new Set(rows.map(({ name }) => name));
  return {
    types: rows.map(({ name, description }) => ({ name, description: description ?? '' })),
    relations: rows.flatMap((sourceType) =>
      Object.values(sourceType.getFields()).flatMap((field) => {
        const target = referencedTypeOf(field);
        if (!target || !typeNames.has(target.type.name)) return [];
        return [{ sourceTypeName: sourceType.name, fieldName: field.name, targetTypeName: target.type.name, isToMany: target.isToMany }];
      }),
    ),
  };
}

/** Returns the part of the map around one type: the type, its relations in both directions and the related types. */
export function schemaMapAroundType({ types, relations }: SchemaMap, name: string): SchemaMap {
  const nearRelations = relations.filter(({ sourceTypeName, targetTypeName }) => sourceTypeName === name || targetTypeName === name);
  const typeNames = new Set([name, ...nearRelations.flatMap(({ sourceTypeName, targetTypeName }) => [sourceTypeName, targetTypeName])]);
  return { types: types.filter((type) => typeNames.has(type.name)), relations: nearRelations };
}
