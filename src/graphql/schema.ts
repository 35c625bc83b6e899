/** Loads all modules of `resources/` and `analysis/`, and builds the GraphQL schemas from their models and resolvers. */
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import { lexicographicSortSchema, type GraphQLSchema } from 'graphql';
import { EventResolver } from '../auth/eventresolver';
import { AuthResolver } from '../auth/resolver';
import { AccessTokenResolver } from '../auth/tokenresolver';
import { ChangeResolver } from '../core/changes/changeresolver';
import { RateLimitResolver } from '../core/operation/ratelimit';
import { NodeResolver } from '../core/schema/noderesolver';
import { deriveGraphQLSchema, deriveRestSchema } from './schematransforms';
import { ResourceRegistry, type ResolverClasses, type ResourceModule } from './registry';

/** Loads all modules of a folder of `src`. Their order does not matter, because they refer to each other only inside functions that run later. */
function loadModules(folder: string): ResourceModule[] {
  const files = readdirSync(join(__dirname, '..', folder))
    .map((file) => file.replace(/\.(ts|js)$/, ''))
    .filter((file) => !/\.|^_/.test(file))
    .sort();
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- the files are listed at startup, not imported by name
  return [...new Set(files)].map((file) => require(join(__dirname, '..', folder, file)) as ResourceModule);
}

const isResolver = (value: unknown): value is ResolverClasses[number] => typeof value === 'function' && value.name.endsWith('Resolver');

export const registry = ResourceRegistry.fromModules(loadModules('resources'), [
  NodeResolver,
  ChangeResolver,
  AuthResolver,
  AccessTokenResolver,
  EventResolver,
  RateLimitResolver,
  ...loadModules('analysis').flatMap((module) => Object.values(module).filter(isResolver)),
]);

export const models = registry.linkModels();

const memoize = <T>(make: () => T): (() => T) => {
  let cachedValue: { value: T } | undefined;
  return () => (cachedValue ??= { value: make() }).value;
};

/** Builds the full schema once; the GraphQL and the REST schema of a process are derived from the same one. */
const buildFullSchema = memoize(() => registry.buildSchema());

export const buildGraphQLSchema = memoize(() => deriveGraphQLSchema(buildFullSchema()));

export const buildRestSchema = memoize(() => deriveRestSchema(buildFullSchema()));

/** Prints the schema as committed in schema.graphql. */
export const printSchemaSorted = (schema: GraphQLSchema): string => `${printSchemaWithDirectives(lexicographicSortSchema(schema))}\n`;
