/** Resolver factory (https://typegraphql.com/docs/inheritance.html): generates the queries, mutations and relations of a resource from its fields. */
import { Arg, Ctx, FieldResolver, ID, Info, Query, Resolver, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { listPage, listRequest, type Connection, type PageArgs } from '../read/connection';
import type { Context } from '../context';
import { childrenOf, fieldsOf, type Entity } from '../model/fields';
import { groupedQuery } from '../grouping/resolver';
import { hook, type Hooks } from '../model/hooks';
import { method } from '../model/method';
import { addMutations } from './mutations';
import { noun, upperFirst, withArticle } from '../model/inflection';
import { NODE_ID, nodeIdOf } from '../model/node';
import type { OrderElement } from '../sql/ordering';
import { connectionPlan } from '../read/plan';
import { childResolver, inputsOf, listParameters, relationResolver } from './relations';
import { resourceOf } from '../model/registry';
import { readAll, readOne } from '../read/row';
import type { Values } from '../model/hooks';

type Info = GraphQLResolveInfo;

/** A resolver that adds its methods later: they refer to types of other resources, so all resources must be loaded before. */
export interface Linkable {
  /** Adds the methods; repeated calls do nothing. */
  link(): void;
}

export const isLinkable = (resolver: object): resolver is Linkable => 'link' in resolver;

export function crud(entity: Entity, hooks: Hooks = {}): (new () => object) & Linkable {
  hook(entity, hooks);

  @Resolver(() => entity)
  class Crud {
    private static linked = false;

    static link(): void {
      if (Crud.linked) return;
      Crud.linked = true;
      if (resourceOf(entity)!.queries ?? true) addQueries(Crud, entity);
      addMutations(Crud, entity);
      addFields(Crud, entity);
    }
  }
  return Crud;
}

function addQueries(target: ClassType, entity: Entity): void {
  const { one, many, owned, description, dictionary, queries, only: exposure = queries } = resourceOf(entity)!;
  const only = exposure === 'rest' ? { only: exposure } : undefined;
  method(
    target,
    'one',
    (id, context, info) => readOne(entity, id, context, info),
    [Arg('id', () => ID, { description: 'Its `id` or its `nodeId`.' }), Ctx(), Info()],
    Query(() => entity, {
      name: one,
      nullable: true,
      description: `${upperFirst(withArticle(noun(entity.name)))} by its \`id\` or its \`nodeId\`. Null and NOT_FOUND if there is none that the viewer may see.`,
    }),
    only,
  );
  const types = inputsOf(entity);
  method(
    target,
    'many',
    (page: PageArgs, where: Values | null, orderBy: OrderElement[] | null, context: Context, info: Info): Promise<Connection> =>
      listPage(listRequest(entity, page, where, orderBy, context), connectionPlan(entity, info, context), context),
    listParameters(types),
    Query(() => types.connection, {
      name: many,
      description: `The ${noun(many)}${owned ? ' of the viewer' : ''}. ${description}`,
    }),
    dictionary ? { wholeList: (_root: unknown, _args: unknown, context: Context, info: Info) => readAll(entity, context, info) } : only,
  );
  if (resourceOf(entity)!.grouped) groupedQuery(target, entity);
}

/** Adds the field resolvers of a type: `nodeId`, references, links and child rows. */
function addFields(target: ClassType, entity: Entity): void {
  method(
    target,
    'nodeId',
    (row: Row) => nodeIdOf(entity.name, row.id),
    [Root()],
    FieldResolver(() => ID, { description: NODE_ID }),
  );
  for (const field of fieldsOf(entity)) if (field.relation) relationResolver(target, field);
  for (const child of childrenOf(entity)) childResolver(target, child);
}
