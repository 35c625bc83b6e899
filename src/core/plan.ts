/**
 * A selection → the columns that answer it, worked out once per compiled operation: graphql-jit hands every run of an operation the same
 * array of field nodes, which is the key. A statement's text is put together from such parts and run by name (`Session.query`).
 */
import { Kind, type FieldNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { fieldOf, fieldsOf, ofKind, type Entity, type FieldMeta } from './fields';
import { resourceOf } from './resource';
import type { Condition } from './conditions';

type Nodes = readonly FieldNode[];
type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/** What further columns a field of an entity needs, by field name. */
const needs = new Map<Entity, Map<string, readonly string[]>>();

export function need(entity: Entity, field: string, columns: readonly string[]): void {
  if (!needs.has(entity)) needs.set(entity, new Map());
  needs.get(entity)!.set(field, columns);
}

/** For a resolver of one's own: the stored fields that it reads from its row. */
export const Needs =
  (entity: () => Entity, ...columns: string[]): MethodDecorator =>
  (_target, property) => {
    // Thunks must not run while files load, so the need is noted by the time the first plan is made.
    pending.push(() => need(entity(), String(property), columns));
  };
const pending: (() => void)[] = [];

/** The names of the fields selected below `nodes`, with the nodes that select each. */
export function selected(nodes: Nodes, fragments: Record<string, FragmentDefinitionNode>): Map<string, FieldNode[]> {
  const found = new Map<string, FieldNode[]>();
  const walk = (set: SelectionSetNode) => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = selection.name.value;
        found.set(name, [...(found.get(name) ?? []), selection]);
      } else {
        walk(selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet : fragments[selection.name.value]!.selectionSet);
      }
    }
  };
  for (const node of nodes) if (node.selectionSet) walk(node.selectionSet);
  return found;
}

/** The SQL expression that a field shows. */
export function expression(field: FieldMeta, alias: string): string {
  if (field.column) return `${alias}."${field.column}"`;
  if (field.sql) return field.sql(alias);
  if (field.through) {
    const { table, via, column } = field.through;
    return `(SELECT x."${column}" FROM "${table}" x WHERE x."id" = ${alias}."${via}")`;
  }
  const { table, own, other, via = 'id' } = field.link!;
  const links = `FROM "${table}" l`;
  const where = `WHERE l."${own}" = ${alias}."${via}"${ofKind(field.link!, 'l')}`;
  const target = field.target!();
  const { ordering, table: targetTable } = resourceOf(target)!;
  const columns = ordering.map((name) => fieldOf(target, name).column!).filter((column) => column !== 'id');
  if (!columns.length) return `ARRAY(SELECT l."${other}" ${links} ${where} ORDER BY 1)`;
  const order = [...columns, 'id'].map((column) => `o."${column}"`).join(', ');
  return `ARRAY(SELECT l."${other}" ${links} JOIN "${targetTable}" o ON o."id" = l."${other}" ${where} ORDER BY ${order})`;
}

/** The condition that a reference or a set of ids names this id; written so that an index on the far side can answer. */
export function names(field: FieldMeta, alias: string, id: string): string {
  if (field.column) return `${alias}."${field.column}" = ${id}`;
  if (field.through) {
    const { table, via, column } = field.through;
    return `${alias}."${via}" IN (SELECT x."id" FROM "${table}" x WHERE x."${column}" = ${id})`;
  }
  const { table, own, other, via = 'id' } = field.link!;
  return `${alias}."${via}" IN (SELECT l."${own}" FROM "${table}" l WHERE l."${other}" = ${id}${ofKind(field.link!, 'l')})`;
}

/** The select list for these fields; the id is always among them. */
export function columnsOf(entity: Entity, names: Iterable<string>): string {
  const wanted = new Set(['id', ...names]);
  return fieldsOf(entity)
    .filter((field) => wanted.has(field.name))
    .map((field) => `${expression(field, 't')} AS "${field.name}"`)
    .join(', ');
}

/** The fields that must be read so that these GraphQL fields can be shown. */
function neededFor(entity: Entity, names: Iterable<string>): Set<string> {
  while (pending.length) pending.pop()!();
  const own = needs.get(entity);
  const wanted = new Set<string>();
  for (const name of names) {
    if (fieldsOf(entity).some((field) => field.name === name)) wanted.add(name);
    for (const column of own?.get(name) ?? []) wanted.add(column);
  }
  return wanted;
}

/** The fields to read for a field that shows one row or a list of rows. */
export const rowFields = (entity: Entity, info: Info): Set<string> => neededFor(entity, selected(info.fieldNodes, info.fragments).keys());

const rowPlans = new WeakMap<Nodes, string>();

/** The select list for a field that shows one row or a list of rows. */
export function rowColumns(entity: Entity, info: Info): string {
  let plan = rowPlans.get(info.fieldNodes);
  if (plan === undefined) {
    plan = columnsOf(entity, rowFields(entity, info));
    rowPlans.set(info.fieldNodes, plan);
  }
  return plan;
}

export interface ConnectionPlan {
  columns: string;
  rows: boolean;
  count: boolean;
  /** Whether a page before or after must be known. */
  neighbours: boolean;
  cursors: boolean;
}

const connectionPlans = new WeakMap<Nodes, ConnectionPlan>();

export function connectionPlan(entity: Entity, info: Info): ConnectionPlan {
  let plan = connectionPlans.get(info.fieldNodes);
  if (plan === undefined) {
    const top = selected(info.fieldNodes, info.fragments);
    const edges = selected(top.get('edges') ?? [], info.fragments);
    const pageInfo = selected(top.get('pageInfo') ?? [], info.fragments);
    const nodes = [...(top.get('nodes') ?? []), ...(edges.get('node') ?? [])];
    plan = {
      columns: columnsOf(entity, neededFor(entity, selected(nodes, info.fragments).keys())),
      rows: top.has('nodes') || top.has('edges') || top.has('pageInfo'),
      count: top.has('totalCount'),
      neighbours: pageInfo.has('hasNextPage') || pageInfo.has('hasPreviousPage'),
      cursors: edges.has('cursor') || pageInfo.has('startCursor') || pageInfo.has('endCursor'),
    };
    connectionPlans.set(info.fieldNodes, plan);
  }
  return plan;
}

/** `FROM` with the joins that a filter asks for. */
export const from = (entity: Entity, joins: readonly Condition[] = [], bind?: (value: unknown) => string): string =>
  `FROM "${resourceOf(entity)!.table}" t${joins.map((join) => ` ${join('t', bind!)}`).join('')}`;
