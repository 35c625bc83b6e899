/** Field resolvers of relations: references (many-to-one), links (many-to-many) and child rows (one-to-many). */
import { Arg, Args, Ctx, FieldResolver, Info, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { mayHaveHiddenRows } from '../access/access';
import { readPagePerParent, createListRequest } from '../read/connection';
import { createConnectionType, PageArgs, type Connection } from '../read/connectiontypes';
import type { Context } from '../context';
import type { ChildRowsField, EntityField } from '../model/fields';
import { whereInput } from '../sql/filters';
import { addGroupedChildField } from '../grouping/resolver';
import { loadChildren, loadRowsById, loadReferencedRow } from '../read/loaders';
import { addResolverMethod, type ResolverParameterDecorator } from '../model/resolvermethods';
import { listSizeExtensions } from '../model/fieldextensions';
import { memoizePerEntity } from '../model/memoize';
import { orderInput, type OrderElement } from '../sql/ordering';
import { connectionPlan } from '../read/queryplan';
import { resourceOf } from '../model/registry';
import type { FieldValues } from '../model/hooks';

type ResolveInfo = GraphQLResolveInfo;

interface ListFieldTypes {
  where: ClassType;
  order: ClassType;
  connection: ClassType;
}

/** Returns the filter, order and connection types of an entity, which all its lists share. */
export const listTypesOf = memoizePerEntity((entity): ListFieldTypes => ({
  where: whereInput(entity),
  order: orderInput(entity),
  connection: createConnectionType(entity),
}));

export const listParameterDecorators = ({ where, order }: ListFieldTypes): ResolverParameterDecorator[] => [
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

/** Explains in field descriptions why a reference may be null. */
export const UNREVIEWED_REFERENCE_NOTE = 'Null until it has been accepted by review; only its id is shown then.';

export function addRelationField(target: ClassType, field: EntityField): void {
  const name = field.objectField!;
  const hidesTarget = !field.relation!.isToMany && mayHaveHiddenRows(field.target!());
  const load = field.relation!.isToMany
    ? (row: Row, context: Context, info: ResolveInfo) => loadRowsById(field.target!(), row[field.name] ?? [], context, info)
    : (row: Row, context: Context, info: ResolveInfo) => loadReferencedRow(field.target!(), row[field.name], context, info);
  addResolverMethod(
    target,
    name,
    load,
    [Root(), Ctx(), Info()],
    FieldResolver(() => (field.relation!.isToMany ? [field.target!()] : field.target!()), {
      nullable: field.allowNull || hidesTarget,
      description: `The ${field.relation!.isToMany ? 'rows' : 'row'} of \`${field.name}\`.${hidesTarget ? ` ${UNREVIEWED_REFERENCE_NOTE}` : ''}`,
    }),
    {
      exclusiveTo: field.exclusiveTo,
      ...(field.relation!.isToMany && listSizeExtensions(field.assumedSize!)),
      ...(hidesTarget && !field.allowNull && { neverNullInRest: true }),
    },
  );
}

/**
 * Adds a field for child rows: a list, or a connection if their number is unbounded. Resources with `groupPaths` also get a field that groups the
 * rows of the connection.
 */
export function addChildField(target: ClassType, child: ChildRowsField): void {
  if (!child.isConnection) return addChildList(target, child);
  addChildConnection(target, child);
  if (resourceOf(child.target())!.groupPaths) addGroupedChildField(target, child);
}

function addChildList(target: ClassType, child: ChildRowsField): void {
  const load = (row: Row, context: Context, info: ResolveInfo) => {
    const order = child.order.length ? child.order : resourceOf(child.target())!.ordering;
    return loadChildren(child.target(), child.referenceField, order, row[child.keyField], context, info);
  };
  addResolverMethod(
    target,
    child.name,
    load,
    [Root(), Ctx(), Info()],
    FieldResolver(() => [child.target()], { description: child.description }),
    listSizeExtensions(child.assumedSize!),
  );
}

function addChildConnection(target: ClassType, child: ChildRowsField): void {
  const entity = child.target();
  const types = listTypesOf(entity);
  const load = (
    row: Row,
    page: PageArgs,
    where: FieldValues | null,
    orderBy: OrderElement[] | null,
    context: Context,
    info: ResolveInfo,
  ): Promise<Connection> =>
    context.loaders
      .getOrCreate<Connection>(info.fieldNodes, (ids) => {
        const request = createListRequest(entity, page, where, orderBy, context);
        return readPagePerParent(request, child.referenceField, ids as number[], connectionPlan(entity, info, context), context);
      })
      .load(row[child.keyField]);
  addResolverMethod(
    target,
    child.name,
    load,
    [Root(), ...listParameterDecorators(types)],
    FieldResolver(() => types.connection, { description: child.description }),
  );
}
