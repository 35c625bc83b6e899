/** One schema, two interfaces: resolvers are written once, and each interface has its own view of them. */
import { MapperKind, mapSchema, pruneSchema } from '@graphql-tools/utils';
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
  isEnumType,
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
import { floatMark } from '../contract/floats';
import { isChoices, isOfIds } from '../core/model/choices';
import { DecimalScalar } from '../core/model/scalars';
import { countObjects } from '../core/operation/answersize';
import type { Context } from '../core/context';
import { asPart, ATOMIC } from '../core/operation/atomic';
import type { Only } from '../contract/facts';

type FieldConfig = GraphQLFieldConfig<unknown, Context>;

const isOnly =
  (only: Only) =>
  ({ extensions }: FieldConfig | GraphQLInputFieldConfig): boolean =>
    (extensions?.only ?? extensions?.field?.only) === only;
const isOnlyRest = isOnly('rest');
const isOnlyGraphQL = isOnly('graphql');

/** Without what an enum has no name for: the blank text that REST stores where nothing is chosen, and ids of further rows. */
function onlyNamed(config: FieldConfig): FieldConfig | undefined {
  const { field } = config.extensions ?? {};
  const { resolve = defaultFieldResolver } = config;
  if (field?.kind === 'choice' && field.blank) return { ...config, resolve: (...args) => resolve(...args) || null };
  const type = getNamedType(config.type);
  if (field?.kind !== 'relation' || !isEnumType(type)) return undefined;
  const named = new Set<unknown>(type.getValues().map(({ value }) => value));
  return { ...config, resolve: (...args) => (resolve(...args) as unknown[]).filter((id) => named.has(id)) };
}

/** As Relay, Apollo's clients and code generators read it. */
const SEMANTIC_NON_NULL = new GraphQLDirective({
  name: 'semanticNonNull',
  description: 'Null only where `errors` has an error at this place.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      description: 'Of lists in lists: at which depths.',
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLInt))),
      defaultValue: [0],
    },
  },
});

/** Without its non-null type, if `where` holds. */
function semanticNonNull(config: FieldConfig, where: boolean): FieldConfig {
  if (!where || !isNonNullType(config.type)) return config;
  return { ...config, type: config.type.ofType, extensions: { ...config.extensions, directives: { [SEMANTIC_NON_NULL.name]: {} } } };
}

/** The fields of nodes that have no value in rows of some type. In all types they are nullable, so that one selection merges for several. */
function nullableNames(whole: GraphQLSchema): ReadonlySet<string> {
  const nodes = whole.getPossibleTypes(whole.getType('Node') as GraphQLInterfaceType);
  const fields = nodes.flatMap((type) => Object.values(type.getFields()));
  return new Set(fields.filter(({ type }) => !isNonNullType(type)).map(({ name }) => name));
}

/** The rows themselves in place of a connection, where a resource says that they are few. */
function asPlainList(config: FieldConfig): FieldConfig {
  const { wholeList } = config.extensions ?? {};
  if (!wholeList) return config;
  const { nodes } = (getNamedType(config.type) as GraphQLObjectType).getFields();
  return { ...config, args: {}, type: nodes!.type, resolve: wholeList };
}

/** Without what only REST has a use for, and without the types that nothing else leads to. Null takes a field out of its type. */
export function publicSchema(whole: GraphQLSchema): GraphQLSchema {
  const nullable = nullableNames(whole);
  const isNode = (name: string) => (whole.getType(name) as GraphQLObjectType).getInterfaces().some((shared) => shared.name === 'Node');
  // A root field, a page or a series that fails becomes null by itself, instead of all that is beside it.
  const failsAlone = (config: FieldConfig, type: string) =>
    type === whole.getQueryType()!.name || Boolean(config.args?.first ?? config.args?.last);
  const mapped = mapSchema(whole, {
    [MapperKind.OBJECT_TYPE]: ({ extensions }) => (extensions.resource?.only === 'rest' ? null : undefined),
    [MapperKind.OBJECT_FIELD]: (config, name, type) =>
      isOnlyRest(config)
        ? null
        : type === whole.getMutationType()!.name
          ? asPart(config)
          : semanticNonNull(asPlainList(onlyNamed(config) ?? config), failsAlone(config, type) || (nullable.has(name) && isNode(type))),
    [MapperKind.INPUT_OBJECT_FIELD]: (config) => (isOnlyRest(config) ? null : undefined),
  });
  const { directives, ...config } = pruneSchema(mapped).toConfig();
  return countObjects(new GraphQLSchema({ ...config, directives: [...directives, SEMANTIC_NON_NULL, ATOMIC] }));
}

/** What is chosen by its name in GraphQL is said in REST as it is stored; the adapter has its own words for what is no choice. */
const stored = ({ name, description }: GraphQLNamedType) => (isChoices(name) ? new GraphQLScalarType({ name, description }) : undefined);

/** Defaults too are names by now. */
const storedDefault = (config: GraphQLInputFieldConfig): GraphQLInputFieldConfig | undefined => {
  const { field } = config.extensions ?? {};
  return field?.kind === 'choice' && config.defaultValue !== undefined ? { ...config, defaultValue: field.default } : undefined;
};

const ID_IN_REST = new GraphQLScalarType({ ...GraphQLID.toConfig(), serialize: Number });

/** Floats are written as Python writes them; a bigint is an integer among them. */
const FLOAT_IN_REST = new GraphQLScalarType({
  ...GraphQLFloat.toConfig(),
  serialize: (value) => (typeof value === 'bigint' ? Number(value) : floatMark(Number(value))),
});

function leafInRest(type: GraphQLOutputType, parent: GraphQLObjectType): GraphQLOutputType {
  if (type === GraphQLID || isOfIds(String(type))) return ID_IN_REST;
  return parent.extensions.numbersInRest && String(type) === DecimalScalar.name ? FLOAT_IN_REST : type;
}

function shownInRest(type: GraphQLOutputType, parent: GraphQLObjectType): GraphQLOutputType {
  if (isNonNullType(type)) return new GraphQLNonNull(shownInRest(type.ofType, parent) as typeof type.ofType);
  if (isListType(type)) return new GraphQLList(shownInRest(type.ofType, parent));
  return leafInRest(type, parent);
}

/** `mapSchema` leaves the types of the specification as they are, so this is done in the copy that it makes. */
export function restSchema(whole: GraphQLSchema): GraphQLSchema {
  const schema = mapSchema(whole, {
    [MapperKind.TYPE]: stored,
    [MapperKind.OBJECT_FIELD]: (config) => (isOnlyGraphQL(config) ? null : undefined),
    [MapperKind.INPUT_OBJECT_FIELD]: storedDefault,
  });
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !isIntrospectionType(type))
      for (const field of Object.values(type.getFields())) field.type = shownInRest(field.type, type);
  return schema;
}
