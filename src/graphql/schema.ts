/** Loads all modules of `resources/` and `analysis/`, and builds the GraphQL schemas from their models and resolvers. */
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import {
  isInputObjectType,
  lexicographicSortSchema,
  type GraphQLInterfaceType,
  type GraphQLSchema,
} from 'graphql';
import { Model, type ModelCtor } from 'sequelize-typescript';
import { buildSchemaSync, type NonEmptyArray, type PubSub } from 'type-graphql';
import { EventResolver } from '../auth/eventresolver';
import { AuthResolver } from '../auth/resolver';
import { AccessTokenResolver } from '../auth/tokenresolver';
import { ChangeResolver, registerRowTypes } from '../core/changes/changeresolver';
import { groupingResolvers } from '../core/grouping/types';
import { declareAssociations } from '../core/model/associations';
import { RateLimitResolver } from '../core/operation/ratelimit';
import { isDeferredResolver } from '../core/schema/crud';
import { memoize } from '../platform/memoize';
import { NodeResolver } from '../core/schema/noderesolver';
import { deriveGraphQLSchema, deriveRestSchema } from './schematransforms';

/** The exports of a module. A resource module exports models, and a resolver by default; an analysis module exports resolvers. */
type ModuleExports = Readonly<Record<string, unknown>>;
type ResolverClass = new () => object;

/** Event publisher that type-graphql requires. It is unused, because subscriptions have their own event sources. */
const EMPTY_PUBSUB: PubSub = {
  publish: () => undefined,
  subscribe: () => ({ [Symbol.asyncIterator]: () => (async function* () {})() }),
};

/** Loads all modules of a folder of `src`. Their order does not matter, because they refer to each other only inside functions that run later. */
function loadModules(folder: string): ModuleExports[] {
  const moduleNames = readdirSync(join(__dirname, '..', folder))
    .map((file) => file.replace(/\.(ts|js)$/, ''))
    .filter((file) => !/\.|^_/.test(file))
    .sort();
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- the files are listed at startup, not imported by name
  return [...new Set(moduleNames)].map(
    (file) => require(join(__dirname, '..', folder, file)) as ModuleExports,
  );
}

const isModel = (value: unknown): value is ModelCtor =>
  typeof value === 'function' && value.prototype instanceof Model;
const isResolver = (value: unknown): value is ResolverClass =>
  typeof value === 'function' && value.name.endsWith('Resolver');

const resourceModules = loadModules('resources');
const resourceModels = resourceModules
  .flatMap((moduleExports) => Object.values(moduleExports))
  .filter(isModel);

/** The models of all resources and of their link tables. */
export const models = [...resourceModels, ...declareAssociations(resourceModels)];

const resolvers: readonly ResolverClass[] = [
  ...resourceModules
    .map((moduleExports) => moduleExports.default)
    .filter((value) => typeof value === 'function'),
  NodeResolver,
  ChangeResolver,
  AuthResolver,
  AccessTokenResolver,
  EventResolver,
  RateLimitResolver,
  ...loadModules('analysis').flatMap((moduleExports) =>
    Object.values(moduleExports).filter(isResolver),
  ),
] as ResolverClass[];

/**
 * Builds a new schema with the fields of both REST and GraphQL. Schemas are independent of each other. graphql-js validates the schemas derived from
 * this one on first use.
 */
export function buildFullSchema(): GraphQLSchema {
  for (const resolver of resolvers) if (isDeferredResolver(resolver)) resolver.addMethods();
  registerRowTypes();
  const allResolvers = [
    ...resolvers,
    ...groupingResolvers(),
  ] as unknown as NonEmptyArray<ResolverClass>;
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
  for (const type of Object.values(schema.getTypeMap()))
    if (isInputObjectType(type) && type.extensions.oneOf) type.isOneOf = true;
  schema.getQueryType()!.description = 'The query root. Lists of rows are connections.';
  schema.getMutationType()!.description =
    'The mutation root. Fields run one after the other, each in its own transaction.';
  schema.getSubscriptionType()!.description = 'The subscription root.';
  return schema;
}

/** Returns the full schema of the process, from which both its GraphQL and its REST schema are derived. */
const getFullSchema = memoize(buildFullSchema);

export const buildGraphQLSchema = memoize(() => deriveGraphQLSchema(getFullSchema()));

export const buildRestSchema = memoize(() => deriveRestSchema(getFullSchema()));

/** Prints the schema in the sorted form of the file schema.graphql. */
export const printSortedSchema = (schema: GraphQLSchema): string =>
  `${printSchemaWithDirectives(lexicographicSortSchema(schema))}\n`;
