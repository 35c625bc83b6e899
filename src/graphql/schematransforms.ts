/** Schema transformation: derives the public GraphQL schema and the schema behind REST from the full schema of all resolvers. */
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  defaultFieldResolver,
  DirectiveLocation,
  getNamedType,
  GraphQLDirective,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  isEnumType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfig,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql';
import { encodePrefixedFloat } from '../contract/floats';
import { isRegisteredEnum, isEnumOfRowIds } from '../core/model/choices';
import { DecimalScalar } from '../core/model/scalars';
import { COERCED_VALUE_SCALAR } from '../core/operation/compiled';
import { meterResolvers } from '../core/operation/meteredresolvers';
import type { Context } from '../core/context';
import { withAtomicSupport, ATOMIC_DIRECTIVE } from '../core/operation/atomic';
import type { ApiName } from '../contract/metadata';

type FieldConfig = GraphQLFieldConfig<unknown, Context>;

const isFieldExclusiveTo =
  (exclusiveTo: ApiName) =>
  ({ extensions }: FieldConfig | GraphQLInputFieldConfig): boolean =>
    (extensions?.exclusiveTo ?? extensions?.field?.exclusiveTo) === exclusiveTo;
const isRestOnly = isFieldExclusiveTo('rest');
const isGraphQLOnly = isFieldExclusiveTo('graphql');

/** Hides stored values that are not in the enum of a field: an empty string, which REST can store, becomes null, and ids are omitted from lists. */
function withoutValuesOutsideEnum(config: FieldConfig): FieldConfig | undefined {
  const { field } = config.extensions ?? {};
  const { resolve = defaultFieldResolver } = config;
  if (field?.kind === 'choice' && field.allowBlank)
    return { ...config, resolve: (...args) => resolve(...args) || null };
  const type = getNamedType(config.type);
  if (field?.kind !== 'relation' || !isEnumType(type)) return undefined;
  const enumValues = new Set<unknown>(type.getValues().map(({ value }) => value));
  return {
    ...config,
    resolve: (...args) => (resolve(...args) as unknown[]).filter((id) => enumValues.has(id)),
  };
}

/** `@semanticNonNull` as understood by Relay, Apollo's clients and code generators. */
const SEMANTIC_NON_NULL_DIRECTIVE = new GraphQLDirective({
  name: 'semanticNonNull',
  description: 'Null only if `errors` has an error for this field.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      description: 'The nesting levels of lists to which this applies.',
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLInt))),
      defaultValue: [0],
    },
  },
});

/** If `condition` is true, replaces a field's non-null type by a nullable one with `@semanticNonNull`. */
function withSemanticNonNull(config: FieldConfig, condition: boolean): FieldConfig {
  if (!condition || !isNonNullType(config.type)) return config;
  return {
    ...config,
    type: config.type.ofType,
    extensions: { ...config.extensions, directives: { [SEMANTIC_NON_NULL_DIRECTIVE.name]: {} } },
  };
}

/**
 * Cost directives of IBM's specification (https://ibm.github.io/graphql-specs/cost-spec.html), which publish the metadata of cost estimates. A field
 * has a directive only if its value differs from the default, and no `@listSize` if arguments determine the length of the list.
 */
const COST_DIRECTIVE = new GraphQLDirective({
  name: 'cost',
  description: 'Cost of the field in addition to that of its objects and values.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: { weight: { description: 'A number.', type: new GraphQLNonNull(GraphQLString) } },
});

const LIST_SIZE_DIRECTIVE = new GraphQLDirective({
  name: 'listSize',
  description: 'Length of the list by which costs are estimated.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: { assumedSize: { description: 'The typical number of elements.', type: GraphQLInt } },
});

function withCostDirectives(config: FieldConfig): FieldConfig {
  const { cost, listSize, directives } = config.extensions ?? {};
  const costDirectives = {
    ...(cost && { [COST_DIRECTIVE.name]: { weight: String(cost.weight) } }),
    ...(typeof listSize?.assumedSize === 'number' &&
      !config.args?.first && { [LIST_SIZE_DIRECTIVE.name]: { assumedSize: listSize.assumedSize } }),
  };
  if (!Object.keys(costDirectives).length) return config;
  return {
    ...config,
    extensions: {
      ...config.extensions,
      directives: { ...(directives as object), ...costDirectives },
    },
  };
}

/** Returns the names of fields that are nullable in some `Node` type. They become nullable in all, so that selections on several types merge. */
function nullableNodeFieldNames(fullSchema: GraphQLSchema): ReadonlySet<string> {
  const nodes = fullSchema.getPossibleTypes(fullSchema.getType('Node') as GraphQLInterfaceType);
  const fields = nodes.flatMap((type) => Object.values(type.getFields()));
  return new Set(fields.filter(({ type }) => !isNonNullType(type)).map(({ name }) => name));
}

/** Replaces a connection by a plain list of rows, for resources that declare `resolveAllRows` because they are small. */
function replaceConnectionByList(config: FieldConfig): FieldConfig {
  const { resolveAllRows } = config.extensions ?? {};
  if (!resolveAllRows) return config;
  const { nodes } = (getNamedType(config.type) as GraphQLObjectType).getFields();
  return { ...config, args: {}, type: nodes!.type, resolve: resolveAllRows };
}

/** Builds the public GraphQL schema: the full schema without REST-only fields and unreachable types. `mapSchema` removes what maps to null. */
export function deriveGraphQLSchema(fullSchema: GraphQLSchema): GraphQLSchema {
  const nullableFieldNames = nullableNodeFieldNames(fullSchema);
  const isNodeType = (name: string) =>
    (fullSchema.getType(name) as GraphQLObjectType)
      .getInterfaces()
      .some((implementedInterface) => implementedInterface.name === 'Node');
  // Query fields and paged lists are nullable, so that an error does not propagate to their siblings.
  const isErrorBoundary = (config: FieldConfig, type: string) =>
    type === fullSchema.getQueryType()!.name || Boolean(config.args?.first ?? config.args?.last);
  const visibleSchema = mapSchema(fullSchema, {
    [MapperKind.OBJECT_TYPE]: ({ extensions }) =>
      extensions.resource?.exclusiveTo === 'rest' ? null : undefined,
    [MapperKind.OBJECT_FIELD]: (config, name, type) =>
      isRestOnly(config)
        ? null
        : type === fullSchema.getMutationType()!.name
          ? withAtomicSupport(config)
          : withCostDirectives(
              withSemanticNonNull(
                replaceConnectionByList(withoutValuesOutsideEnum(config) ?? config),
                isErrorBoundary(config, type) || (nullableFieldNames.has(name) && isNodeType(type)),
              ),
            ),
    [MapperKind.INPUT_OBJECT_FIELD]: (config) => (isRestOnly(config) ? null : undefined),
  });
  const { directives, types, ...config } = visibleSchema.toConfig();
  // The constructor of GraphQLSchema collects only types that fields refer to. A field may refer to an interface but not to its implementations, so these
  // are listed.
  const implementations = types.filter(
    (type) => isObjectType(type) && type.getInterfaces().length > 0,
  );
  return meterResolvers(
    new GraphQLSchema({
      ...config,
      types: implementations,
      directives: [
        ...directives,
        SEMANTIC_NON_NULL_DIRECTIVE,
        ATOMIC_DIRECTIVE,
        COST_DIRECTIVE,
        LIST_SIZE_DIRECTIVE,
      ],
    }),
  );
}

/** Replaces the enum of a field with choices by a scalar, because REST uses stored values instead of enum names. REST validates choices itself. */
const choiceEnumAsScalar = ({ name, description }: GraphQLNamedType) =>
  isRegisteredEnum(name) ? new GraphQLScalarType({ name, description }) : undefined;

/** Restores the stored default value of an input field with choices; in the full schema the default is an enum name. */
const withStoredDefault = (
  config: GraphQLInputFieldConfig,
): GraphQLInputFieldConfig | undefined => {
  const { field } = config.extensions ?? {};
  return field?.kind === 'choice' && config.defaultValue !== undefined
    ? { ...config, defaultValue: field.default }
    : undefined;
};

const REST_ID_SCALAR = new GraphQLScalarType({ ...GraphQLID.toConfig(), serialize: Number });

/** Scalar for floats that REST serializes as Python does. A bigint becomes an integer. */
const REST_FLOAT_SCALAR = new GraphQLScalarType({
  ...GraphQLFloat.toConfig(),
  serialize: (value) =>
    typeof value === 'bigint' ? Number(value) : encodePrefixedFloat(Number(value)),
});

function toRestLeafType(
  type: GraphQLOutputType,
  parent: GraphQLObjectType | GraphQLInterfaceType,
): GraphQLOutputType {
  if (type === GraphQLID || isEnumOfRowIds(String(type))) return REST_ID_SCALAR;
  return parent.extensions.decimalsAsNumbersInRest && String(type) === DecimalScalar.name
    ? REST_FLOAT_SCALAR
    : type;
}

function toRestOutputType(
  type: GraphQLOutputType,
  parent: GraphQLObjectType | GraphQLInterfaceType,
): GraphQLOutputType {
  if (isNonNullType(type))
    return new GraphQLNonNull(toRestOutputType(type.ofType, parent) as typeof type.ofType);
  if (isListType(type)) return new GraphQLList(toRestOutputType(type.ofType, parent));
  return toRestLeafType(type, parent);
}

/** Builds the schema behind REST. `mapSchema` cannot replace built-in scalars, so field types are changed afterwards in the copy that it returns. */
export function deriveRestSchema(fullSchema: GraphQLSchema): GraphQLSchema {
  const { types, ...config } = mapSchema(fullSchema, {
    [MapperKind.TYPE]: choiceEnumAsScalar,
    [MapperKind.OBJECT_FIELD]: (field) => (isGraphQLOnly(field) ? null : undefined),
    [MapperKind.INPUT_OBJECT_FIELD]: withStoredDefault,
  }).toConfig();
  const schema = new GraphQLSchema({ ...config, types: [...types, COERCED_VALUE_SCALAR] });
  for (const type of Object.values(schema.getTypeMap()))
    if ((isObjectType(type) || isInterfaceType(type)) && !isIntrospectionType(type))
      for (const field of Object.values(type.getFields()))
        field.type = toRestOutputType(field.type, type);
  return meterResolvers(schema);
}
