/**
 * A selection → the columns that answer it, worked out once per document: the parsed document is kept, and so are its field nodes, which are
 * the key. A plan reads what a selection may show whatever its conditions say, so it holds for all variables.
 */
import { Kind, type FieldNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Api } from '../sql/collation';
import { columnsOf, type Columns } from '../sql/select';
import type { Context } from '../context';
import { childrenOf, fieldsOf, groupedName, type Entity, type Lazy } from '../model/fields';
import { perEntity } from '../model/perentity';

type Nodes = readonly FieldNode[];
type Asker = Pick<Context, 'api'>;
type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

interface Need {
  /** A thunk, because files are still being loaded when it is said. */
  entity: Lazy;
  field: string;
  columns: readonly string[];
}
const said: Need[] = [];

/** For a resolver of one's own: the fields that it reads from its row; without names all of them, as where the row itself is shown again. */
export const Needs =
  (entity: () => Entity, ...columns: string[]): MethodDecorator =>
  (_target, property) => {
    said.push({ entity, field: String(property), columns });
  };

/** What further fields of its row a field of an entity needs: those that lead to other rows what they lead by, others what they said. */
const needsOf = perEntity((entity) => {
  const needs = new Map<string, readonly string[]>();
  for (const { relation, object, name } of fieldsOf(entity)) if (relation) needs.set(object!, [name]);
  for (const child of childrenOf(entity)) for (const name of [child.name, groupedName(child)]) needs.set(name, [child.key]);
  for (const { field, columns } of said.filter((need) => need.entity() === entity))
    needs.set(field, columns.length ? columns : fieldsOf(entity).map(({ name }) => name));
  return needs;
});

/** What tells a selection in a document; the same at every run of it. Without an own node, as where fields are merged, only within one run. */
export const selectionKey = (nodes: Nodes): object => (nodes.length === 1 ? nodes[0]! : nodes);

/** Values by selection and entity: below `node` the same selection is that of several types. */
export class Plans<T> {
  private readonly plans = new WeakMap<object, Map<Entity, T>>();

  of(nodes: Nodes, entity: Entity, make: () => T): T {
    const key = selectionKey(nodes);
    let byEntity = this.plans.get(key);
    if (!byEntity) this.plans.set(key, (byEntity = new Map()));
    let plan = byEntity.get(entity);
    if (plan === undefined) byEntity.set(entity, (plan = make()));
    return plan;
  }
}

/** Pages run the documents of REST too, so a document alone does not tell who asks. */
export const plansOfApis = <T>(): Record<Api, Plans<T>> => ({ graphql: new Plans<T>(), rest: new Plans<T>() });

/** The names of the fields selected below `nodes`, with the nodes that select each. A fragment is walked once, however often it is spread. */
export function selected(
  nodes: readonly Pick<FieldNode, 'selectionSet'>[],
  fragments: Record<string, FragmentDefinitionNode>,
): Map<string, FieldNode[]> {
  const found = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const walk = (set: SelectionSetNode) => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = selection.name.value;
        const same = found.get(name);
        if (same) same.push(selection);
        else found.set(name, [selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) walk(selection.selectionSet);
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        walk(fragments[selection.name.value]!.selectionSet);
      }
    }
  };
  for (const node of nodes) if (node.selectionSet) walk(node.selectionSet);
  return found;
}

/** The fields that must be read so that these GraphQL fields can be shown. */
function neededFor(entity: Entity, names: Iterable<string>): Set<string> {
  const own = needsOf(entity);
  const wanted = new Set<string>();
  for (const name of names) {
    if (fieldsOf(entity).some((field) => field.name === name)) wanted.add(name);
    for (const column of own.get(name) ?? []) wanted.add(column);
  }
  return wanted;
}

/** The fields to read for a field that shows one row or a list of rows. */
export const rowFields = (entity: Entity, info: Info): Set<string> => neededFor(entity, selected(info.fieldNodes, info.fragments).keys());

const rowPlans = plansOfApis<Columns>();

export const rowColumns = (entity: Entity, info: Info, { api }: Asker): Columns =>
  rowPlans[api].of(info.fieldNodes, entity, () => columnsOf(entity, rowFields(entity, info), api));

const fieldPlans = plansOfApis<ReadonlySet<string>>();

export function holdsAll(entity: Entity, row: Row, info: Info, { api }: Asker): boolean {
  for (const name of fieldPlans[api].of(info.fieldNodes, entity, () => rowFields(entity, info))) if (!(name in row)) return false;
  return true;
}

export interface ConnectionPlan {
  columns: Columns;
  rows: boolean;
  edges: boolean;
  count: boolean;
  /** Whether it must be known that there are rows after the page, and before it. */
  next: boolean;
  previous: boolean;
  cursors: boolean;
}

const connectionPlans = plansOfApis<ConnectionPlan>();

export function connectionPlan(entity: Entity, info: Info, { api }: Asker): ConnectionPlan {
  return connectionPlans[api].of(info.fieldNodes, entity, () => {
    const top = selected(info.fieldNodes, info.fragments);
    const edges = selected(top.get('edges') ?? [], info.fragments);
    const pageInfo = selected(top.get('pageInfo') ?? [], info.fragments);
    const nodes = [...(top.get('nodes') ?? []), ...(edges.get('node') ?? [])];
    return {
      columns: columnsOf(entity, neededFor(entity, selected(nodes, info.fragments).keys()), api),
      rows: top.has('nodes') || top.has('edges') || top.has('pageInfo'),
      edges: top.has('edges'),
      count: top.has('totalCount'),
      next: pageInfo.has('hasNextPage'),
      previous: pageInfo.has('hasPreviousPage'),
      cursors: edges.has('cursor') || pageInfo.has('startCursor') || pageInfo.has('endCursor'),
    };
  });
}
