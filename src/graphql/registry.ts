/** A schema in three steps: what files declare is collected, linked once all of them are loaded, and built as often as one likes. */
import { isInputObjectType, type GraphQLInterfaceType, type GraphQLSchema } from 'graphql';
import { Model, type ModelCtor } from 'sequelize-typescript';
import { buildSchemaSync, type NonEmptyArray, type PubSub } from 'type-graphql';
import { nameRowTypes } from '../core/changes/live';
import { groupingResolvers } from '../core/grouping/types';
import { associate } from '../core/model/associations';
import { index } from '../core/model/indexes';
import { isLinkable } from '../core/schema/crud';

/** What a file of resources exports: models, and by default their resolver. */
export type Declared = Readonly<Record<string, unknown>>;

export type Resolvers = readonly (new () => object)[];

/** Subscriptions have sources of their own, but type-graphql wants one to be named. */
const NONE: PubSub = { publish: () => undefined, subscribe: () => ({ [Symbol.asyncIterator]: () => (async function* () {})() }) };

const isModel = (value: unknown): value is ModelCtor => typeof value === 'function' && value.prototype instanceof Model;
const isResolver = (value: unknown): value is new () => object => typeof value === 'function';

/**
 * What decorators say is kept by the class that it is said of, as type-graphql and sequelize-typescript keep it too. All that is made of it is
 * made once for each class, so building only reads, and every schema that is built is one of its own.
 */
export class Registry {
  private linked: ModelCtor[] | undefined;

  private constructor(
    private readonly tables: readonly ModelCtor[],
    private readonly resolvers: Resolvers,
  ) {}

  /** `others` are resolvers of no resource. */
  static collect(declared: readonly Declared[], others: Resolvers): Registry {
    const tables = declared.flatMap((exported) => Object.values(exported)).filter(isModel);
    const resolvers = declared.map((exported) => exported.default).filter(isResolver);
    return new Registry(tables, [...resolvers, ...others]);
  }

  /** What resources say of each other: associations and indexes of models, of which the tables of links have some too. */
  link(): ModelCtor[] {
    if (!this.linked) {
      index(this.tables);
      this.linked = [...this.tables, ...associate(this.tables)];
    }
    return this.linked;
  }

  /** A schema of everything that resolvers answer, whoever asks for it. */
  build(): GraphQLSchema {
    this.link();
    for (const resolver of this.resolvers) if (isLinkable(resolver)) resolver.link();
    nameRowTypes();
    const resolvers = [...this.resolvers, ...groupingResolvers()] as NonEmptyArray<new () => object>;
    return completed(buildSchemaSync({ resolvers, validate: false, pubSub: NONE }));
  }
}

/** With what type-graphql has no way to say. */
function completed(schema: GraphQLSchema): GraphQLSchema {
  // It wraps a type resolver of its own in a promise, which compiled operations do not await.
  (schema.getType('Node') as GraphQLInterfaceType).resolveType = (row) => row.__typename;
  for (const type of Object.values(schema.getTypeMap())) if (isInputObjectType(type) && type.extensions.oneOf) type.isOneOf = true;
  schema.getQueryType()!.description = 'What can be read. Lists of rows are connections.';
  schema.getMutationType()!.description = 'What can be changed, each a transaction of its own, one after the other.';
  schema.getSubscriptionType()!.description = 'What is told as it happens.';
  return schema;
}
