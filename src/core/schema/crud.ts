/** crud(X): the resolver of a resource, made of type-graphql's own decorators from the fields of X. */
import { Arg, Ctx, FieldResolver, ID, Info, Query, Resolver, Root } from 'type-graphql';
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
import { nodeIdOf, WHICH_ROW } from '../model/node';
import type { OrderElement } from '../sql/ordering';
import { connectionPlan } from '../read/plan';
import { childResolver, inputsOf, listParameters, relationResolver } from './relations';
import { resourceOf } from '../model/registry';
import { readOne } from '../read/row';
import type { Values } from '../model/hooks';

type Info = GraphQLResolveInfo;

export function crud(entity: Entity, hooks: Hooks = {}): new () => object {
  const resource = resourceOf(entity)!;
  const fields = fieldsOf(entity);
  const aNoun = withArticle(noun(entity.name));
  const nouns = noun(resource.many);
  const types = inputsOf(entity);
  hook(entity, hooks);

  @Resolver(() => entity)
  class Crud {}

  const queries = resource.queries ?? true;
  const idArgument = Arg('id', () => ID, { description: WHICH_ROW });
  if (queries)
    method(
      Crud,
      'one',
      (id, context, info) => readOne(entity, id, context, info),
      [idArgument, Ctx(), Info()],
      Query(() => entity, {
        name: resource.one,
        nullable: true,
        description: `${upperFirst(aNoun)} by its \`id\` or its \`nodeId\`. Null and NOT_FOUND if there is none that the viewer may see.`,
      }),
    );
  if (queries)
    method(
      Crud,
      'many',
      (page: PageArgs, where: Values | null, orderBy: OrderElement[] | null, context: Context, info: Info): Promise<Connection> =>
        listPage(listRequest(entity, page, where, orderBy, context), connectionPlan(entity, info, context), context),
      listParameters(types),
      Query(() => types.connection, {
        name: resource.many,
        description: `The ${nouns}${resource.owned ? ' of the viewer' : ''}. ${resource.description}`,
      }),
    );

  if (queries) groupedQuery(Crud, entity);

  addMutations(Crud, entity);

  method(
    Crud,
    'nodeId',
    (row: Row) => nodeIdOf(entity.name, row.id),
    [Root()],
    FieldResolver(() => ID, { description: 'Identifies the row among all of every type; opaque.' }),
  );
  for (const field of fields) if (field.relation) relationResolver(Crud, entity, field);
  for (const child of childrenOf(entity)) childResolver(Crud, entity, child);
  return Crud;
}
