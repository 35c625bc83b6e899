/**
 * Finds fields that lead from public rows to owned ones: connections of the viewer's rows, which
 * `scope` narrows. For anonymous clients they are null, with an error.
 */
import {
  getNamedType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { findEntity, resourceOf } from '../../src/engine/declare/registry';

type Field = GraphQLField<unknown, unknown>;

export interface Edge {
  type: GraphQLObjectType;
  field: Field;

  /** Name of the owned type. */
  target: string;
}

const isPublic = (type: GraphQLObjectType) => type.extensions.resource?.isOwned === false;

function targetOf(
  type: GraphQLObjectType,
  field: Field,
  typeNamePattern: RegExp,
): string | undefined {
  if (!isPublic(type) || isNonNullType(field.type)) return undefined;
  const entity = findEntity(typeNamePattern.exec(getNamedType(field.type).name)?.[1] ?? '');

  return entity && resourceOf(entity)!.isOwned ? entity.name : undefined;
}

const ROWS = /^(.+)Connection$/;
const GROUPS = /^(.+)Group$/;

/** Whether a field is computed from rows of the viewer. */
const isFormula = (type: GraphQLObjectType, field: Field): boolean =>
  isPublic(type) && isListType(field.type) && field.args.some(({ name }) => name === 'last');

export const isEdgeToOwn = (type: GraphQLObjectType, field: Field): boolean =>
  isFormula(type, field) ||
  [ROWS, GROUPS].some((typeNamePattern) => targetOf(type, field, typeNamePattern) !== undefined);

/** Returns the names of fields computed from rows of the viewer. */
export const formulasOfOwn = (schema: GraphQLSchema): string[] =>
  Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) =>
        isFormula(type, field) ? `${type.name}.${field.name}` : [],
      ),
    )
    .sort();

/** Returns the fields that show groups of the viewer's rows instead of the rows. */
export const groupsOfOwn = (schema: GraphQLSchema): Edge[] => edgesTo(schema, GROUPS);
export const edgesToOwn = (schema: GraphQLSchema): Edge[] => edgesTo(schema, ROWS);

const edgesTo = (schema: GraphQLSchema, typeNamePattern: RegExp): Edge[] =>
  Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) => {
        const target = targetOf(type, field, typeNamePattern);

        return target === undefined ? [] : [{ type, field, target }];
      }),
    )
    .sort((a, b) => (a.type.name < b.type.name ? -1 : 1));
