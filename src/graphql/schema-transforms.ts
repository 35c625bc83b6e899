/** Derives the public GraphQL schema from the source schema of all resolvers. */
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  defaultFieldResolver,
  DirectiveLocation,
  getNamedType,
  getNullableType,
  GraphQLDirective,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLSchema,
  GraphQLString,
  isEnumType,
  isNonNullType,
  isObjectType,
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfig,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
} from 'graphql';
import { meterResolvers } from '../engine/execution/metered-resolvers';
import type { Context } from '../engine/context';
import { withAtomicSupport, ATOMIC_DIRECTIVE } from '../engine/execution/atomic';

type FieldConfig = GraphQLFieldConfig<unknown, Context>;

const isRestOnly = ({ extensions }: FieldConfig | GraphQLInputFieldConfig): boolean =>
  (extensions?.exclusiveTo ?? extensions?.field?.exclusiveTo) === 'rest';

function withRequired(config: GraphQLInputFieldConfig): GraphQLInputFieldConfig | undefined {
  if (!config.extensions?.isOnlyRequiredInGraphQL) return undefined;

  return { ...config, type: new GraphQLNonNull(getNullableType(config.type)) };
}

/**
 * Hides stored values that are not in the enum of a field, such as an empty string, which REST can
 * store. A single value becomes null; in a list, the values are omitted.
 */
function hideValuesOutsideEnum(config: FieldConfig): FieldConfig | undefined {
  const { field } = config.extensions ?? {};
  const { resolve = defaultFieldResolver } = config;

  if (field?.kind === 'choice' && field.allowBlank) {
    return { ...config, resolve: (...args) => resolve(...args) || null };
  }

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

/**
 * Replaces a field's non-null type by a nullable one with `@semanticNonNull`, if `condition` holds.
 */
function withSemanticNonNull(config: FieldConfig, condition: boolean): FieldConfig {
  if (!condition || !isNonNullType(config.type)) return config;

  return {
    ...config,
    type: config.type.ofType,
    extensions: { ...config.extensions, directives: { [SEMANTIC_NON_NULL_DIRECTIVE.name]: {} } },
  };
}

/**
 * Directives of IBM's cost specification (https://ibm.github.io/graphql-specs/cost-spec.html),
 * which show clients how costs are estimated. Fields with default costs have no directive. Lists
 * whose length is set by arguments have no `@listSize`.
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

/**
 * Names of fields that are nullable in some `Node` type. They become nullable in all, so that
 * selections on several types merge.
 */
function nullableNodeFieldNames(sourceSchema: GraphQLSchema): ReadonlySet<string> {
  const nodes = sourceSchema.getPossibleTypes(sourceSchema.getType('Node') as GraphQLInterfaceType);
  const fields = nodes.flatMap((type) => Object.values(type.getFields()));

  return new Set(fields.filter(({ type }) => !isNonNullType(type)).map(({ name }) => name));
}

/** Replaces a connection by a plain list of rows, for small resources (`resolveAllRows`). */
function replaceConnectionByList(config: FieldConfig): FieldConfig {
  const { resolveAllRows } = config.extensions ?? {};

  if (!resolveAllRows) return config;
  const { nodes } = (getNamedType(config.type) as GraphQLObjectType).getFields();

  return { ...config, args: {}, type: nodes!.type, resolve: resolveAllRows };
}

/**
 * Builds the public GraphQL schema: the source schema without REST-only fields and unreachable
 * types. `mapSchema` removes the types and fields that are mapped to null.
 */
export function deriveGraphQLSchema(sourceSchema: GraphQLSchema): GraphQLSchema {
  const nullableFieldNames = nullableNodeFieldNames(sourceSchema);
  const isNodeType = (name: string) =>
    (sourceSchema.getType(name) as GraphQLObjectType)
      .getInterfaces()
      .some((implementedInterface) => implementedInterface.name === 'Node');
  // Fields that can fail alone are nullable, so that an error does not propagate to their siblings:
  // those of the query type, those with arguments, and those that compute something.
  const isErrorBoundary = ({ args, extensions }: FieldConfig, type: string) =>
    type === sourceSchema.getQueryType()!.name ||
    (type !== sourceSchema.getSubscriptionType()!.name &&
      ((Object.keys(args ?? {}).length > 0 && !extensions?.acceptsAnyArguments) ||
        extensions?.cost !== undefined));
  const visibleSchema = mapSchema(sourceSchema, {
    [MapperKind.OBJECT_TYPE]: ({ extensions }) =>
      extensions.resource?.exclusiveTo === 'rest' ? null : undefined,
    [MapperKind.OBJECT_FIELD]: (config, name, type) => {
      if (isRestOnly(config)) return null;
      if (type === sourceSchema.getMutationType()!.name) return withAtomicSupport(config);
      const publicConfig = replaceConnectionByList(hideValuesOutsideEnum(config) ?? config);
      const isNullable =
        isErrorBoundary(config, type) || (nullableFieldNames.has(name) && isNodeType(type));

      return withCostDirectives(withSemanticNonNull(publicConfig, isNullable));
    },
    [MapperKind.INPUT_OBJECT_FIELD]: (config) => (isRestOnly(config) ? null : withRequired(config)),
  });
  const { directives, types, ...config } = visibleSchema.toConfig();
  // GraphQLSchema collects only types that fields refer to. A field may refer to an interface but
  // not to its implementations, so these are listed.
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
