/** Field resolvers of relations: references (many-to-one), links (many-to-many) and child rows (one-to-many). */
import { Arg, Args, Ctx, FieldResolver, Info, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { mayHaveHiddenRows } from '../access/access';
import { readPagePerParent, createListRequest } from '../read/connection';
import { createConnectionType, PageArgs, type Connection } from '../read/connectiontypes';
import type { Context } from '../context';
import type { ChildRowsField, EntityField } from '../model/fields';
import { whereInputType } from '../sql/filters';
import { addGroupedChildField } from '../grouping/resolver';
import { loadChildren, loadRowsById, loadReferencedRow } from '../read/loaders';
import { addResolverMethod, type ResolverParameterDecorator } from '../model/resolvermethods';
import { listSizeExtensions } from '../model/fieldextensions';
import { memoizePerEntity } from '../model/memoize';
import { orderInputType, type OrderElement } from '../sql/ordering';
import { connectionPlan } from '../read/queryplan';
import { resourceOf } from '../model/registry';
import type { FieldValues } from '../model/hooks';

type ResolveInfo = GraphQLResolveInfo;

interface ListFieldTypes {
  where: ClassType;
  order: ClassType;
  connection: ClassType;
}

export const listTypesOf = memoizePerEntity((entity): ListFieldTypes => ({
  where: whereInputType(entity),
  order: orderInputType(entity),
  connection: createConnectionType(entity),
}));

export const listParameterDecorators = ({
  where,
  order,
}: ListFieldTypes): ResolverParameterDecorator[] => [
  Args(() => PageArgs),
  Arg('where', () => where, { nullable: true, description: 'Filters the rows.' }),
  Arg('orderBy', () => [order], {
    nullable: true,
    description:
      'Order of the rows. If absent, by relevance of the search if there is one, else the default order. Ties are resolved by id.',
  }),
  Ctx(),
  Info(),
];

export const UNREVIEWED_REFERENCE_NOTE =
  'Null until it has been accepted by review; only its id is shown then.';

export function addRelationField(target: ClassType, field: EntityField): void {
  const name = field.objectFieldName!;
  const mayTargetBeHidden = !field.relation!.isToMany && mayHaveHiddenRows(field.target!());
  const loadTarget = field.relation!.isToMany
    ? (row: Row, context: Context, info: ResolveInfo) =>
        loadRowsById(field.target!(), row[field.name] ?? [], context, info)
    : (row: Row, context: Context, info: ResolveInfo) =>
        loadReferencedRow(field.target!(), row[field.name], context, info);
  addResolverMethod(
    target,
    name,
    loadTarget,
    [Root(), Ctx(), Info()],
    FieldResolver(() => (field.relation!.isToMany ? [field.target!()] : field.target!()), {
      nullable: field.allowNull || mayTargetBeHidden,
      description: `The ${field.relation!.isToMany ? 'rows' : 'row'} of \`${field.name}\`.${mayTargetBeHidden ? ` ${UNREVIEWED_REFERENCE_NOTE}` : ''}`,
    }),
    {
      exclusiveTo: field.exclusiveTo,
      ...(field.relation!.isToMany && {
        ...listSizeExtensions(field.assumedSize!),
        idsField: field.name,
      }),
      ...(mayTargetBeHidden && !field.allowNull && { neverNullInRest: true }),
    },
  );
}

/**
 * Adds a field for child rows: a list, or a connection if their number is unbounded. Resources with `groupKeyPaths` also get a field that groups the
 * rows of the connection.
 */
export function addChildField(target: ClassType, child: ChildRowsField): void {
  if (!child.isConnection) return addChildListField(target, child);
  addChildConnectionField(target, child);
  if (resourceOf(child.target())!.groupKeyPaths) addGroupedChildField(target, child);
}

function addChildListField(target: ClassType, child: ChildRowsField): void {
  const loadChildRows = (row: Row, context: Context, info: ResolveInfo) => {
    const order = child.order.length ? child.order : resourceOf(child.target())!.ordering;
    return loadChildren(
      child.target(),
      child.referenceFieldName,
      order,
      row[child.keyFieldName],
      context,
      info,
    );
  };
  addResolverMethod(
    target,
    child.name,
    loadChildRows,
    [Root(), Ctx(), Info()],
    FieldResolver(() => [child.target()], { description: child.description }),
    listSizeExtensions(child.assumedSize!),
  );
}

function addChildConnectionField(target: ClassType, child: ChildRowsField): void {
  const entity = child.target();
  const listTypes = listTypesOf(entity);
  const loadChildConnection = (
    row: Row,
    page: PageArgs,
    where: FieldValues | null,
    orderBy: OrderElement[] | null,
    context: Context,
    info: ResolveInfo,
  ): Connection | Promise<Connection> =>
    context.loaders
      .getOrCreate<Connection>(info.fieldNodes, (ids) => {
        const request = createListRequest(entity, page, where, orderBy, context);
        return readPagePerParent(
          request,
          child.referenceFieldName,
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
  );
}
