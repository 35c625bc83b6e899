/** What leads from which type of rows to which: the map of a schema. */
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

export interface Relation {
  from: string;
  field: string;
  to: string;
  /** Whether the field is a list, with pages or without. */
  isMany: boolean;
}

export interface SchemaMap {
  /** Types of rows, by their names. */
  types: { name: string; description: string }[];
  relations: Relation[];
}

/** A page of a list stands for the rows in it. */
function targetOf({ type }: GraphQLField<unknown, unknown>): { type: GraphQLObjectType; isMany: boolean } | undefined {
  const named = getNamedType(type);
  if (!isObjectType(named)) return undefined;
  const nodes = named.getFields().nodes;
  const rows = nodes && getNamedType(nodes.type);
  if (rows) return isObjectType(rows) ? { type: rows, isMany: true } : undefined;
  return { type: named, isMany: isListType(getNullableType(type)) };
}

/** Rows are what has an id: what implements the interface `Node`. */
export function schemaMap(schema: GraphQLSchema): SchemaMap {
  const node = schema.getType('Node');
  const rows = isInterfaceType(node) ? [...schema.getPossibleTypes(node)] : [];
  rows.sort((a, b) => a.name.localeCompare(b.name));
  const names = new Set(rows.map(({ name }) => name));
  return {
    types: rows.map(({ name, description }) => ({ name, description: description ?? '' })),
    relations: rows.flatMap((from) =>
      Object.values(from.getFields()).flatMap((field) => {
        const target = targetOf(field);
        if (!target || !names.has(target.type.name)) return [];
        return [{ from: from.name, field: field.name, to: target.type.name, isMany: target.isMany }];
      }),
    ),
  };
}

/** A type and what it leads to or is led to from. */
export function around({ types, relations }: SchemaMap, name: string): SchemaMap {
  const near = relations.filter(({ from, to }) => from === name || to === name);
  const names = new Set([name, ...near.flatMap(({ from, to }) => [from, to])]);
  return { types: types.filter((type) => names.has(type.name)), relations: near };
}
