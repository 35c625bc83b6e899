/** Resource registry: collects the models and resolvers of all modules, links them once, and builds GraphQL schemas from them. */
import { isInputObjectType, type GraphQLInterfaceType, type GraphQLSchema } from 'graphql';
import { Model, type ModelCtor } from 'sequelize-typescript';
import { buildSchemaSync, type NonEmptyArray, type PubSub } from 'type-graphql';
import { registerRowTypes } from '../core/changes/changeresolver';
import { groupingResolvers } from '../core/grouping/types';
import { declareAssociations } from '../core/model/associations';
import { isDeferredResolver } from '../core/schema/crud';

/** The exports of a resource module: models, and a resolver as the default export. */
export type ResourceModule = Readonly<Record<string, unknown>>;

export type ResolverClasses = readonly (new () => object)[];

/** Required by type-graphql but unused: subscriptions have their own event sources. */
const EMPTY_PUBSUB: PubSub = { publish: () => undefined, subscribe: () => ({ [Symbol.asyncIterator]: () => (async function* () {})() }) };

const isModel = (value: unknown): value is ModelCtor => typeof value === 'function' && value.prototype instanceof Model;
const isResolver = (value: unknown): value is new () => object => typeof value === 'function';

/**
 * Decorators store metadata per class, and `linkModels` declares associations once. `buildSchema` only reads these metadata and associations, so
 * schemas are independent of each other.
 */
export class ResourceRegistry {
  private linkedModels: ModelCtor[] | undefined;

  private constructor(
    private readonly models: readonly ModelCtor[],
    private readonly resolvers: ResolverClasses,
  ) {}

  /** Collects the models and resolvers of modules. `otherResolvers` belong to no resource. */
  static fromModules(resourceModules: readonly ResourceModule[], otherResolvers: ResolverClasses): ResourceRegistry {
    const models = resourceModules.flatMap((moduleExports) => Object.values(moduleExports)).filter(isModel);
    const resolvers = resourceModules.map((moduleExports) => moduleExports.default).filter(isResolver);
    return new ResourceRegistry(models, [...resolvers, ...otherResolvers]);
  }

  /** Declares associations between models. Returns all models, including those of link tables. */
  linkModels(): ModelCtor[] {
    return (this.linkedModels ??= [...this.models, ...declareAssociations(this.models)]);
  }

  /** Builds the full schema, with fields for both REST and GraphQL. graphql-js validates the schemas derived from it on first use. */
  buildSchema(): GraphQLSchema {
    this.linkModels();
    for (const resolver of this.resolvers) if (isDeferredResolver(resolver)) resolver.addMethods();
    registerRowTypes();
    const resolvers = [...this.resolvers, ...groupingResolvers()] as NonEmptyArray<new () => object>;
    return addSchemaProperties(buildSchemaSync({ resolvers, validate: false, skipCheck: true, pubSub: EMPTY_PUBSUB }));
  }
}

/** Adds schema properties that type-graphql cannot declare. */
function addSchemaProperties(schema: GraphQLSchema): GraphQLSchema {
  // type-graphql's own type resolver returns a promise, which compiled operations do not await.
  (schema.getType('Node') as GraphQLInterfaceType).resolveType = (row) => row.__typename;
  for (const type of Object.values(schema.getTypeMap())) if (isInputObjectType(type) && type.extensions.oneOf) type.isOneOf = true;
  schema.getQueryType()!.description = 'The query root. Lists of rows are connections.';
  schema.getMutationType()!.description = 'The mutation root. Fields run one after the other, each in its own transaction.';
  schema.getSubscriptionType()!.description = 'The subscription root.';
  return schema;
}
