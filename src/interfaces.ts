/** One schema, two interfaces: resolvers are written once, and each interface has its own view of them. */
import { MapperKind, mapSchema, pruneSchema } from '@graphql-tools/utils';
import {
  defaultFieldResolver,
  GraphQLScalarType,
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfig,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import { isChoices } from './core/choices';
import type { Only } from './extensions';

type FieldConfig = GraphQLFieldConfig<any, any>;

const isOnly =
  (only: Only) =>
  ({ extensions }: FieldConfig | GraphQLInputFieldConfig): boolean =>
    (extensions?.only ?? extensions?.field?.only) === only;
const isOnlyRest = isOnly('rest');
const isOnlyGraphQL = isOnly('graphql');

/** REST stores a blank text where nothing is chosen; an enum has none. */
function withoutBlank(config: FieldConfig): FieldConfig | undefined {
  const { field } = config.extensions ?? {};
  if (field?.kind !== 'choice' || !field.blank) return undefined;
  const { resolve = defaultFieldResolver } = config;
  return { ...config, resolve: (...args) => resolve(...args) || null };
}

/** Without what only REST has a use for, and without the types that nothing else leads to. Null takes a field out of its type. */
export const publicSchema = (whole: GraphQLSchema): GraphQLSchema =>
  pruneSchema(
    mapSchema(whole, {
      [MapperKind.OBJECT_FIELD]: (config) => (isOnlyRest(config) ? null : withoutBlank(config)),
      [MapperKind.INPUT_OBJECT_FIELD]: (config) => (isOnlyRest(config) ? null : undefined),
    }),
  );

/** What is chosen by its name in GraphQL is said in REST as it is stored; the adapter has its own words for what is no choice. */
const stored = ({ name, description }: GraphQLNamedType) => (isChoices(name) ? new GraphQLScalarType({ name, description }) : undefined);

export const restSchema = (whole: GraphQLSchema): GraphQLSchema =>
  mapSchema(whole, { [MapperKind.TYPE]: stored, [MapperKind.OBJECT_FIELD]: (config) => (isOnlyGraphQL(config) ? null : undefined) });
