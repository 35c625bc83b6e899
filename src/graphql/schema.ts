/** Builds the GraphQL schemas from all resolvers. */
import 'reflect-metadata';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import {
  isInputObjectType,
  lexicographicSortSchema,
  type GraphQLInterfaceType,
  type GraphQLSchema,
} from 'graphql';
import { buildSchemaSync, type NonEmptyArray, type PubSub } from 'type-graphql';
import { registerRowTypes } from '../engine/changes/change-resolver';
import { groupingResolvers } from '../engine/grouping/types';
import { isRegisteredEnum } from '../engine/declare/choices';
import { COERCED_VALUE_SCALAR } from '../engine/execution/compiled';
import { meterResolvers } from '../engine/execution/metered-resolvers';
import { isDeferredResolver } from '../engine/schema/crud';
import { memoize } from '../shared/memoize';
import { deriveRestSchema } from '../rest/schema';
import { resolvers } from '../fitness/resolvers';
import { deriveGraphQLSchema } from './schema-transforms';

/**
 * Event publisher that type-graphql requires. It is unused: subscriptions have their own event
 * sources.
 */
const EMPTY_PUBSUB: PubSub = {
  publish: () => undefined,
  subscribe: () => ({ [Symbol.asyncIterator]: () => (async function* () {})() }),
};

/**
 * Builds a new schema with the fields of both REST and GraphQL. graphql-js validates the schemas
 * derived from it on first use.
 */
function buildSourceSchema(): GraphQLSchema {
  for (const resolver of resolvers) if (isDeferredResolver(resolver)) resolver.addMethods();
  registerRowTypes();
  const allResolvers = [...resolvers, ...groupingResolvers()] as unknown as NonEmptyArray<
    new () => object
  >;

  return addSchemaProperties(
    buildSchemaSync({
      resolvers: allResolvers,
      validate: false,
      skipCheck: true,
      pubSub: EMPTY_PUBSUB,
    }),
  );
}

/** Adds schema properties that type-graphql cannot declare. */
function addSchemaProperties(schema: GraphQLSchema): GraphQLSchema {
  // type-graphql's own type resolver returns a promise, which compiled operations do not await.
  (schema.getType('Node') as GraphQLInterfaceType).resolveType = (row) => row.__typename;

  for (const type of Object.values(schema.getTypeMap())) {
    if (isInputObjectType(type) && type.extensions.oneOf) type.isOneOf = true;
  }

  schema.getQueryType()!.description = 'The query root. Lists of rows are connections.';
  schema.getMutationType()!.description =
    'The mutation root. Fields run one after the other, each in its own transaction.';
  schema.getSubscriptionType()!.description = 'The subscription root.';
  return schema;
}

/** The source schema of the process, from which its GraphQL and REST schemas are derived. */
const getSourceSchema = memoize(buildSourceSchema);

export const buildGraphQLSchema = memoize(() => deriveGraphQLSchema(getSourceSchema()));

export const buildRestSchema = memoize(() =>
  meterResolvers(deriveRestSchema(getSourceSchema(), isRegisteredEnum, COERCED_VALUE_SCALAR)),
);

/** Prints the schema in the sorted form of the file schema.graphql. */
export const printSortedSchema = (schema: GraphQLSchema): string =>
  `${printSchemaWithDirectives(lexicographicSortSchema(schema))}\n`;
