/**
 * Resolver factory (https://typegraphql.com/docs/inheritance.html): generates the queries,
 * mutations and relations of a resource from its fields.
 */
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
  Args,
} from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { readPage, createListRequest, readPagesOfParents } from '../read/connection';
import { type Connection, PageArgs, createConnectionType } from '../read/connection-types';
import type { Context } from '../context';
import {
  childRowsFieldsOf,
  fieldsOf,
  type Entity,
  type ChildRowsField,
  type EntityField,
} from '../declare/fields';
import { addGroupedQuery, addGroupedChildField } from '../grouping/resolver';
import { registerHooks, type FieldValues, type WriteHooks, resourceOf } from '../declare/registry';
import { addResolverMethod, type ResolverParameterDecorator } from '../declare/resolver-methods';
import { addMutations } from './mutations';
import { listSizeExtensions } from '../declare/field-extensions';
import { nounOf, upperFirst, withArticle } from '../declare/inflection';
import { NODE_ID_DESCRIPTION, nodeIdOf } from '../declare/node';
import { type OrderInput, orderInputType } from '../sql/ordering';
import { connectionPlan } from '../read/query-plan';
import { readAllRows, readRowById } from '../read/rows';
import { mayHaveHiddenRows } from '../access/access';
import { whereInputType } from '../sql/filters';
import { loadChildren, loadRowsById, loadReferencedRow, orderingOfChildren } from '../read/loaders';
import { memoizePerEntity } from '../declare/memoize';

interface ListFieldTypes {
  where: ClassType;
  order: ClassType;
  connection: ClassType;
}

const listTypesOf = memoizePerEntity((entity): ListFieldTypes => ({
  where: whereInputType(entity),
  order: orderInputType(entity),
  connection: createConnectionType(entity),
}));

const listParameterDecorators = ({
  where,
  order,
}: ListFieldTypes): ResolverParameterDecorator[] => [
  Args(() => PageArgs),
  Arg('where', () => where, { nullable: true, description: 'Filters the rows.' }),
  Arg('orderBy', () => [order], {
    nullable: true,
    description: 'If absent, by relevance of a search or in default order. Then by id.',
  }),
  Ctx(),
  Info(),
];

export const UNREVIEWED_REFERENCE_NOTE =
  'Null until it has been accepted by review; only its id is shown then.';

function addRelationField(target: ClassType, field: EntityField): void {
  const name = field.relationFieldName!;
  const { isToMany } = field.relation!;
  const mayTargetBeHidden = !isToMany && mayHaveHiddenRows(field.target!());
  const hiddenTargetNote = mayTargetBeHidden ? ` ${UNREVIEWED_REFERENCE_NOTE}` : '';

  const loadTarget = (row: Row, context: Context, info: GraphQLResolveInfo) => {
    const target = field.target!();
    const value = row[field.name];

    if (isToMany) return loadRowsById(target, value ?? [], context, info);

    return loadReferencedRow(target, value, context, info);
  };

  addResolverMethod(
    target,
    name,
    loadTarget,
    [Root(), Ctx(), Info()],
    FieldResolver(() => (isToMany ? [field.target!()] : field.target!()), {
      nullable: field.allowNull || mayTargetBeHidden,
      description: `The ${isToMany ? 'rows' : 'row'} of \`${field.name}\`.${hiddenTargetNote}`,
    }),
    {
      exclusiveTo: field.exclusiveTo,
      ...(isToMany && {
        ...listSizeExtensions(field.assumedSize!),
        idsField: field.name,
      }),
      ...(mayTargetBeHidden && !field.allowNull && { neverNullInRest: true }),
      restDescription: `The ${nounOf(name)}.${hiddenTargetNote}`,
    },
  );
}

/**
 * Adds a field for child rows: a list, or a connection if their number is unbounded. Connections of
 * resources with `groupKeyPaths` also get a field that groups their rows.
 */
function addChildField(target: ClassType, child: ChildRowsField): void {
  if (!child.isConnection) return addChildListField(target, child);
  addChildConnectionField(target, child);

  if (resourceOf(child.target())!.groupKeyPaths && child.exclusiveTo !== 'rest') {
    addGroupedChildField(target, child);
  }
}

function addChildListField(target: ClassType, child: ChildRowsField): void {
  const loadChildRows = (row: Row, context: Context, info: GraphQLResolveInfo) =>
    loadChildren(
      child.target(),
      child.referenceFieldName,
      child.order.length ? child.order : orderingOfChildren(child.target(), context),
      row[child.keyFieldName],
      context,
      info,
    );

  addResolverMethod(
    target,
    child.name,
    loadChildRows,
    [Root(), Ctx(), Info()],
    FieldResolver(() => [child.target()], { description: child.description }),
    { exclusiveTo: child.exclusiveTo, ...listSizeExtensions(child.assumedSize!) },
  );
}

function addChildConnectionField(target: ClassType, child: ChildRowsField): void {
  const entity = child.target();
  const listTypes = listTypesOf(entity);
  const loadChildConnection = (
    row: Row,
    page: PageArgs,
    where: FieldValues | null,
    orderBy: OrderInput[] | null,
    context: Context,
    info: GraphQLResolveInfo,
  ): Connection | Promise<Connection> =>
    context.loaders
      .getOrCreate<Connection>(info.fieldNodes, (ids) => {
        const request = createListRequest(
          entity,
          page,
          where,
          orderBy,
          context,
          child.referenceFieldName,
        );

        return readPagesOfParents(
          request,
          ids as number[],
          connectionPlan(entity, info, context),
          context,
        );
      })
      .get(row[child.keyFieldName]);

  addResolverMethod(
    target,
    child.name,
    loadChildConnection,
    [Root(), ...listParameterDecorators(listTypes)],
    FieldResolver(() => listTypes.connection, { description: child.description }),
    { exclusiveTo: child.exclusiveTo },
  );
}

/**
 * A resolver class that gets its methods once all resources are loaded, because they refer to types
 * of other resources.
 */
interface DeferredResolver {
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
  let listExtensions: object | undefined = exposureExtensions;

  if (lookupTableSize !== undefined) {
    listExtensions = {
      resolveAllRows: (
        _root: unknown,
        _args: unknown,
        context: Context,
        info: GraphQLResolveInfo,
      ) => readAllRows(entity, context, info),
      ...listSizeExtensions(lookupTableSize),
    };
  }

  addResolverMethod(
    target,
    'one',
    (id, context, info) => readRowById(entity, id, context, info),
    [Arg('id', () => ID, { description: 'The `id` or `nodeId` of the row.' }), Ctx(), Info()],
    Query(() => entity, {
      name: singularName,
      nullable: true,
      description: `${upperFirst(withArticle(nounOf(entity.name)))} by its \`id\` or \`nodeId\`. Null if it does not exist or is not visible to the viewer.`,
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
      orderBy: OrderInput[] | null,
      context: Context,
      info: GraphQLResolveInfo,
    ): Promise<Connection> =>
      readPage(
        createListRequest(entity, page, where, orderBy, context),
        connectionPlan(entity, info, context),
        context,
      ),
    listParameterDecorators(listTypes),
    Query(() => listTypes.connection, {
      name: pluralName,
      description: `The ${nounOf(pluralName)}${isOwned ? ' of the viewer' : ''}. ${description}`,
    }),
    listExtensions,
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
