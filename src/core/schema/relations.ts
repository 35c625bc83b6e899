/** How rows lead on to other rows: references, links and children, as field resolvers. */
import { Arg, Args, Ctx, FieldResolver, Info, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { hidesRows } from '../access/access';
import { connectionType, listPagesBelow, listRequest, PageArgs, type Connection } from '../read/connection';
import type { Context } from '../context';
import type { ChildMeta, Entity, FieldMeta } from '../model/fields';
import { completeFilters, whereInput } from '../sql/filters';
import { completeGroupings, groupedChildren } from '../grouping/resolver';
import { loadChildren, loadLinked, loadParent } from '../read/loaders';
import { method, type Parameter } from '../model/method';
import { orderInput, type OrderElement } from '../sql/ordering';
import { connectionPlan, need } from '../read/plan';
import { resourceOf } from '../model/registry';
import type { Values } from '../model/hooks';

type Info = GraphQLResolveInfo;

interface Inputs {
  where: ClassType;
  order: ClassType;
  connection: ClassType;
}
const inputs = new Map<Entity, Inputs>();

/** One set of filter, order and connection types for an entity, whoever lists it. */
export function inputsOf(entity: Entity): Inputs {
  if (!inputs.has(entity)) inputs.set(entity, { where: whereInput(entity), order: orderInput(entity), connection: connectionType(entity) });
  return inputs.get(entity)!;
}

export const listParameters = ({ where, order }: Inputs): Parameter[] => [
  Args(() => PageArgs),
  Arg('where', () => where, { nullable: true, description: 'Which rows.' }),
  Arg('orderBy', () => [order], {
    nullable: true,
    description: 'In which order. If absent: by relevance if `where` searches, then the default order of the type. The id decides last.',
  }),
  Ctx(),
  Info(),
];

/** Why a reference may show nothing. */
export const HIDDEN = 'Null while it has not passed the review; then only its id is shown.';

/** The object or objects that the ids of a field name. */
export function relationResolver(target: ClassType, entity: Entity, field: FieldMeta): void {
  need(entity, field.object!, [field.name]);
  pending.push(() => addRelation(target, field));
}

function addRelation(target: ClassType, field: FieldMeta): void {
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
    hides && !field.null ? { neverNullInRest: true } : undefined,
  );
}

const isOwned = (entity: Entity) => resourceOf(entity)!.owned;

export function childResolver(target: ClassType, entity: Entity, child: ChildMeta): void {
  need(entity, child.name, [child.key]);
  if (!child.connection) {
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
    );
    return;
  }
  // Below a row that everybody sees nobody has rows who is not signed in, which must not take that row away.
  const mayBeNull = () => isOwned(child.target()) && !isOwned(entity);
  need(entity, `${child.name}Grouped`, [child.key]);
  pending.push(() => groupedChildren(target, child, mayBeNull()));
  pending.push(() => {
    const types = inputsOf(child.target());
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
          const request = listRequest(child.target(), page, where, orderBy, context);
          return listPagesBelow(request, child.by, ids as number[], connectionPlan(child.target(), info, context), context);
        })
        .load(row[child.key]);
    method(
      target,
      child.name,
      load,
      [Root(), ...listParameters(types)],
      FieldResolver(() => types.connection, { description: child.description, nullable: mayBeNull() }),
    );
  });
}

/** Relations name resources that may not be loaded yet; they are made when all are. */
const pending: (() => void)[] = [];
export function completeRelations(): void {
  while (pending.length) pending.pop()!();
  completeGroupings();
  completeFilters();
}
