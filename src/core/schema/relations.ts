/** How rows lead on to other rows: references, links and children, as field resolvers. */
import { Arg, Args, Ctx, FieldResolver, Info, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { hidesRows } from '../access/access';
import { connectionType, listPagesBelow, listRequest, PageArgs, type Connection } from '../read/connection';
import type { Context } from '../context';
import type { ChildMeta, FieldMeta } from '../model/fields';
import { whereInput } from '../sql/filters';
import { groupedChildren } from '../grouping/resolver';
import { loadChildren, loadLinked, loadParent } from '../read/loaders';
import { method, type Parameter } from '../model/method';
import { perEntity } from '../model/perentity';
import { orderInput, type OrderElement } from '../sql/ordering';
import { connectionPlan } from '../read/plan';
import { resourceOf } from '../model/registry';
import type { Values } from '../model/hooks';

type Info = GraphQLResolveInfo;

interface Inputs {
  where: ClassType;
  order: ClassType;
  connection: ClassType;
}

/** One set of filter, order and connection types for an entity, whoever lists it. */
export const inputsOf = perEntity((entity): Inputs => ({
  where: whereInput(entity),
  order: orderInput(entity),
  connection: connectionType(entity),
}));

export const listParameters = ({ where, order }: Inputs): Parameter[] => [
  Args(() => PageArgs),
  Arg('where', () => where, { nullable: true, description: 'Which rows.' }),
  Arg('orderBy', () => [order], {
    nullable: true,
    description: 'Absent: by relevance of a search, else the default order. The id decides last.',
  }),
  Ctx(),
  Info(),
];

/** Why a reference may show nothing. */
export const HIDDEN = 'Null while it has not passed the review; then only its id is shown.';

/** How many rows a set of ids has, most often: muscles of an exercise, days of a week. */
const LINKED = 3;

/** The object or objects that the ids of a field name. */
export function relationResolver(target: ClassType, field: FieldMeta): void {
  const name = field.object!;
  const hides = !field.relation!.many && hidesRows(field.target!());
  const load = field.relation!.many
    ? (row: Row, context: Context, info: Info) => loadLinked(field.target!(), row[field.name] ?? [], context, info)
    : (row: Row, context: Context, info: Info) => loadParent(field.target!(), row[field.name], context, info);
  method(
    target,
    name,
    load,
    [Root(), Ctx(), Info()],
    FieldResolver(() => (field.relation!.many ? [field.target!()] : field.target!()), {
      nullable: field.null || hides,
      description: `What \`${field.name}\` ${field.relation!.many ? 'name' : 'names'}.${hides ? ` ${HIDDEN}` : ''}`,
    }),
    {
      only: field.only,
      ...(field.relation!.many && { listSize: { assumedSize: LINKED } }),
      ...(hides && !field.null && { neverNullInRest: true }),
    },
  );
}

/** The rows below a row: a list of all, or a connection where they can grow without bound, with statistics of groups beside it. */
export function childResolver(target: ClassType, child: ChildMeta): void {
  if (!child.connection) return allChildren(target, child);
  pagesOfChildren(target, child);
  if (resourceOf(child.target())!.grouped) groupedChildren(target, child);
}

function allChildren(target: ClassType, child: ChildMeta): void {
  const load = (row: Row, context: Context, info: Info) => {
    const order = child.order.length ? child.order : resourceOf(child.target())!.ordering;
    return loadChildren(child.target(), child.by, order, row[child.key], context, info);
  };
  method(
    target,
    child.name,
    load,
    [Root(), Ctx(), Info()],
    FieldResolver(() => [child.target()], { description: child.description }),
    child.size === undefined ? undefined : { listSize: { assumedSize: child.size } },
  );
}

function pagesOfChildren(target: ClassType, child: ChildMeta): void {
  const entity = child.target();
  const types = inputsOf(entity);
  const load = (
    row: Row,
    page: PageArgs,
    where: Values | null,
    orderBy: OrderElement[] | null,
    context: Context,
    info: Info,
  ): Promise<Connection> =>
    context.loaders
      .get<Connection>(info.fieldNodes, (ids) => {
        const request = listRequest(entity, page, where, orderBy, context);
        return listPagesBelow(request, child.by, ids as number[], connectionPlan(entity, info, context), context);
      })
      .load(row[child.key]);
  method(
    target,
    child.name,
    load,
    [Root(), ...listParameters(types)],
    FieldResolver(() => types.connection, { description: child.description }),
  );
}
