/** Derives the GraphQL schema behind REST from the source schema of all resolvers. */
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  GraphQLFloat,
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  GraphQLSchema,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql';
import { encodePrefixedFloat } from './drf/floats';

const REST_ID_SCALAR = new GraphQLScalarType({ ...GraphQLID.toConfig(), serialize: Number });

/** Scalar for floats that REST serializes as Python does. A bigint becomes an integer. */
const REST_FLOAT_SCALAR = new GraphQLScalarType({
  ...GraphQLFloat.toConfig(),
  serialize: (value) =>
    typeof value === 'bigint' ? Number(value) : encodePrefixedFloat(Number(value)),
});

/** REST returns timestamps as PostgreSQL does: in the time zone of the server. */
const withoutConversion = (scalar: GraphQLScalarType): GraphQLScalarType =>
  new GraphQLScalarType({ ...scalar.toConfig(), serialize: (value) => value });

/**
 * Converts an output type to its REST form. Ids are numbers in REST, even ids that GraphQL shows as
 * enum names.
 */
function toRestType(
  type: GraphQLOutputType,
  field: GraphQLField<unknown, unknown>,
  parent: GraphQLObjectType | GraphQLInterfaceType,
): GraphQLOutputType {
  if (isNonNullType(type)) {
    return new GraphQLNonNull(toRestType(type.ofType, field, parent) as typeof type.ofType);
  }

  if (isListType(type)) return new GraphQLList(toRestType(type.ofType, field, parent));
  if (type === GraphQLID || field.extensions.field?.kind === 'relation') return REST_ID_SCALAR;

  if (parent.extensions.decimalsAsNumbersInRest && String(type) === 'Decimal') {
    return REST_FLOAT_SCALAR;
  }

  return type;
}

/**
 * Builds the schema behind REST. `additionalScalar` is a scalar that only compiled operations use.
 * Enums of stored values become scalars, because REST uses and validates the values themselves.
 */
export function deriveRestSchema(
  sourceSchema: GraphQLSchema,
  isEnumOfStoredValues: (name: string) => boolean,
  additionalScalar: GraphQLScalarType,
): GraphQLSchema {
  const { types, ...config } = mapSchema(sourceSchema, {
    [MapperKind.TYPE]: ({ name, description }) =>
      isEnumOfStoredValues(name) ? new GraphQLScalarType({ name, description }) : undefined,
    [MapperKind.SCALAR_TYPE]: (type) =>
      type.name === 'DateTime' ? withoutConversion(type) : undefined,
    [MapperKind.OBJECT_FIELD]: ({ extensions }) =>
      (extensions?.exclusiveTo ?? extensions?.field?.exclusiveTo) === 'graphql' ? null : undefined,
  }).toConfig();
  const schema = new GraphQLSchema({ ...config, types: [...types, additionalScalar] });

  // `mapSchema` cannot replace built-in scalars, so the types of fields are changed afterwards.
  for (const type of Object.values(schema.getTypeMap())) {
    if ((isObjectType(type) || isInterfaceType(type)) && !isIntrospectionType(type)) {
      for (const field of Object.values(type.getFields())) {
        field.type = toRestType(field.type, field, type);
      }
    }
  }

  return schema;
}
