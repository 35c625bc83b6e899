/** Resolver factory (https://typegraphql.com/docs/inheritance.html): generates the queries, mutations and relations of a resource from its fields. */
import {
  Arg,
  Ctx,
  FieldResolver,
  ID,
  Info,
  Query,
  Resolver,
  Root,
  type ClassType,
} from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { readPage, createListRequest } from '../read/connection';
import type { Connection, PageArgs } from '../read/connectiontypes';
import type { Context } from '../context';
import { childRowsFieldsOf, fieldsOf, type Entity } from '../model/fields';
import { addGroupedQuery } from '../grouping/resolver';
import { registerHooks, type FieldValues, type WriteHooks } from '../model/hooks';
import { addResolverMethod } from '../model/resolvermethods';
import { addMutations } from './mutations';
import { listSizeExtensions } from '../model/fieldextensions';
import { nounOfTypeName, upperFirst, withArticle } from '../model/inflection';
import { NODE_ID_DESCRIPTION, nodeIdOf } from '../model/node';
import type { OrderElement } from '../sql/ordering';
import { connectionPlan } from '../read/queryplan';
import { addChildField, listTypesOf, listParameterDecorators, addRelationField } from './relations';
import { resourceOf } from '../model/registry';
import { readAllRows, readRowById } from '../read/rows';

type ResolveInfo = GraphQLResolveInfo;

/** A resolver class whose methods are added once all resources are loaded, because they refer to types of other resources. */
export interface DeferredResolver {
  /** Adds the resolver methods to the class. Repeated calls do nothing. */
  addMethods(): void;
}

export const isDeferredResolver = (resolver: object): resolver is DeferredResolver =>
  'addMethods' in resolver;

export function createCrudResolver(
  entity: Entity,
  hooks: WriteHooks = {},
): (new () => object) & DeferredResolver {
  registerHooks(entity, hooks);

  @Resolver(() => entity)
  class CrudResolver {
    private static hasMethods = false;

    static addMethods(): void {
      if (CrudResolver.hasMethods) return;
      CrudResolver.hasMethods = true;
      if (resourceOf(entity)!.hasRootQueries ?? true) addQueries(CrudResolver, entity);
      addMutations(CrudResolver, entity);
      addNodeIdAndRelationFields(CrudResolver, entity);
    }
  }
  return CrudResolver;
}

function addQueries(target: ClassType, entity: Entity): void {
  const {
    singularName,
    pluralName,
    isOwned,
    description,
    lookupTableSize,
    hasRootQueries,
    exclusiveTo = hasRootQueries,
  } = resourceOf(entity)!;
  const exposureExtensions = exclusiveTo === 'rest' ? { exclusiveTo } : undefined;
  addResolverMethod(
    target,
    'one',
    (id, context, info) => readRowById(entity, id, context, info),
    [Arg('id', () => ID, { description: 'The `id` or `nodeId` of the row.' }), Ctx(), Info()],
    Query(() => entity, {
      name: singularName,
      nullable: true,
      description: `${upperFirst(withArticle(nounOfTypeName(entity.name)))} by its \`id\` or \`nodeId\`. Null with NOT_FOUND if it does not exist or is not visible to the viewer.`,
    }),
    exposureExtensions,
  );
  const listTypes = listTypesOf(entity);
  addResolverMethod(
    target,
    'many',
    (
      page: PageArgs,
      where: FieldValues | null,
      orderBy: OrderElement[] | null,
      context: Context,
      info: ResolveInfo,
    ): Promise<Connection> =>
      readPage(
        createListRequest(entity, page, where, orderBy, context),
        connectionPlan(entity, info, context),
        context,
      ),
    listParameterDecorators(listTypes),
    Query(() => listTypes.connection, {
      name: pluralName,
      description: `The ${nounOfTypeName(pluralName)}${isOwned ? ' of the viewer' : ''}. ${description}`,
    }),
    lookupTableSize === undefined
      ? exposureExtensions
      : {
          resolveAllRows: (_root: unknown, _args: unknown, context: Context, info: ResolveInfo) =>
            readAllRows(entity, context, info),
          ...listSizeExtensions(lookupTableSize),
        },
  );
  if (resourceOf(entity)!.groupKeyPaths) addGroupedQuery(target, entity);
}

function addNodeIdAndRelationFields(target: ClassType, entity: Entity): void {
  addResolverMethod(
    target,
    'nodeId',
    (row: Row) => nodeIdOf(entity.name, row.id),
    [Root()],
    FieldResolver(() => ID, { description: NODE_ID_DESCRIPTION }),
  );
  for (const field of fieldsOf(entity)) if (field.relation) addRelationField(target, field);
  for (const child of childRowsFieldsOf(entity)) addChildField(target, child);
}
