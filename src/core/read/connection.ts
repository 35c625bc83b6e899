/** Pages of a list: `first`/`after`, `last`/`before`, `offset`, and cursors that name a place in one order (keyset paging). */
import { ArgsType, Field, Int, ObjectType, type ClassType } from 'type-graphql';
import { atLeast, atMost } from '../../contract/messages';
import { MAX_INTEGER } from '../../contract/bounds';
import type { Row } from '../../database/rows';
import { reachable, visible } from '../access/access';
import { binder, conditionOf, whereOf, type Bind, type Condition } from '../access/conditions';
import type { Context } from '../context';
import { badArgument } from '../model/errors';
import { fieldOf, type Entity } from '../model/fields';
import { at, beyond, cursorOf, parseCursor, waysBeyond } from '../sql/cursor';
import {
  bound,
  orderKeys,
  orderOf,
  orderSql,
  reversed,
  type BoundTerm,
  type OrderElement,
  type OrderKey,
  type OrderTerm,
  type Asked,
} from '../sql/ordering';
import type { ConnectionPlan } from './plan';
import { from, joinsOf, names } from '../sql/expressions';
import { select, type Attribute } from '../sql/select';
import { filtered } from '../sql/where';

export const DEFAULT_PAGE = 20;
/** No request may ask for the whole of a large table at once. */
export const MAX_PAGE = 10_000;

@ArgsType()
export class PageArgs {
  @Field(() => Int, {
    nullable: true,
    description: `At most ${MAX_PAGE}; ${DEFAULT_PAGE} without \`first\` and \`last\`.`,
  })
  declare first?: number | null;
  @Field(() => String, { nullable: true, description: 'Rows after this cursor.' })
  declare after?: string | null;
  @Field(() => Int, { nullable: true, description: `Rows from the end, at most ${MAX_PAGE}.` })
  declare last?: number | null;
  @Field(() => String, { nullable: true, description: 'Rows before this cursor.' })
  declare before?: string | null;
  @Field(() => Int, { nullable: true, description: 'Rows to skip; a cursor is faster.' })
  declare offset?: number | null;
}

@ObjectType({ description: 'Where a page lies in its list.', simpleResolvers: true })
export class PageInfo {
  @Field(() => Boolean, { description: 'There are rows after this page.' })
  declare hasNextPage: boolean;
  @Field(() => Boolean, { description: 'There are rows before this page.' })
  declare hasPreviousPage: boolean;
  @Field(() => String, { nullable: true, description: 'Cursor of the first row of this page.' })
  declare startCursor: string | null;
  @Field(() => String, { nullable: true, description: 'Cursor of the last row of this page.' })
  declare endCursor: string | null;
}

export interface Connection {
  totalCount: number;
  nodes: Row[];
  edges: { cursor: string; node: Row }[];
  pageInfo: PageInfo;
}

/** `XConnection` and `XEdge`. */
export function connectionType(entity: Entity): ClassType {
  const Edge = { [`${entity.name}Edge`]: class {} }[`${entity.name}Edge`]!;
  Field(() => String, { description: 'The place of the row in this order; opaque.' })(Edge.prototype, 'cursor');
  Field(() => entity, { description: 'The row.' })(Edge.prototype, 'node');
  ObjectType(`${entity.name}Edge`, { description: `A row of ${entity.name} and its place in a list.`, simpleResolvers: true })(Edge);
  const name = `${entity.name}Connection`;
  const Connection = { [name]: class {} }[name]!;
  Field(() => Int, { description: 'Rows in all pages together.' })(Connection.prototype, 'totalCount');
  Field(() => [entity], { description: 'The rows of this page.' })(Connection.prototype, 'nodes');
  Field(() => [Edge], { description: 'The rows of this page, each with its cursor.' })(Connection.prototype, 'edges');
  Field(() => PageInfo, { description: 'Where this page lies.' })(Connection.prototype, 'pageInfo');
  ObjectType(name, { description: `A page of ${entity.name}.`, simpleResolvers: true })(Connection);
  return Connection;
}

export interface ListRequest {
  entity: Entity;
  conditions: readonly Condition[];
  joins: readonly Condition[];
  order: readonly OrderKey[];
  asked: Asked;
  page: PageArgs;
}

export function listRequest(
  entity: Entity,
  page: PageArgs,
  where: Record<string, unknown> | null | undefined,
  orderBy: readonly OrderElement[] | null | undefined,
  context: Context,
): ListRequest {
  const own = visible(entity, context);
  const { conditions, joins, searches } = filtered(entity, where, context);
  const asked: Asked = { api: context.api, searches, shown: (target) => reachable(target, context) };
  return { entity, conditions: [...own, ...conditions], joins, asked, order: orderKeys(entity, orderBy, searches), page };
}

interface Window {
  limit: number;
  offset: number;
  backward: boolean;
  terms: OrderTerm[];
  /** Values of the cursors. */
  after?: unknown[];
  before?: unknown[];
}

export function count(argument: 'first' | 'last' | 'offset', value: number | null | undefined, max: number): number | undefined {
  if (value == null) return undefined;
  if (value < 0) throw badArgument(argument, atLeast(0));
  if (value > max) throw badArgument(argument, atMost(max));
  return value;
}

function windowOf({ entity, order, asked, page }: ListRequest): Window {
  const first = count('first', page.first, MAX_PAGE);
  const last = count('last', page.last, MAX_PAGE);
  const offset = count('offset', page.offset, MAX_INTEGER) ?? 0;
  if (first !== undefined && last !== undefined) throw badArgument('last', 'Give either first or last, not both.');
  const backward = last !== undefined;
  const terms = orderOf(entity, order, asked);
  const valuesOf = (argument: 'after' | 'before') => {
    const cursor = page[argument];
    return cursor == null ? undefined : parseCursor(argument, terms, cursor);
  };
  return {
    limit: first ?? last ?? DEFAULT_PAGE,
    offset,
    backward,
    terms,
    after: valuesOf('after'),
    before: valuesOf('before'),
  };
}

/** Whether there is more in the way in which the rows are read than the page holds. */
const looksAhead = (plan: ConnectionPlan, { backward }: Window) => (backward ? plan.previous : plan.next);

/** Expressions of a statement: whether there are rows outside of the window, on the side of each of its cursors, or rows that `offset` skips. */
function outside(request: ListRequest, plan: ConnectionPlan, window: Window, more: readonly Condition[], bind: Bind): string[] {
  const { entity, joins, conditions } = request;
  const { after, before, offset, backward } = window;
  // Nothing is bound that no expression uses.
  const terms = () => bound(window.terms, bind);
  const exists = (...further: Condition[]) =>
    `EXISTS (SELECT 1 ${from(entity, joins, bind)}${whereOf([...more, ...conditions, ...further], 't', bind)})`;
  /** The row of a cursor is most often there; if it has gone, one further out may be. */
  const reached = (order: readonly BoundTerm[], values: unknown[]) =>
    [at(order, values, bind), ...waysBeyond(order, values, bind)].map((way) => exists(() => way));
  const skipped = () => exists(...(after ? [beyond(terms(), after)] : []), ...(before ? [beyond(reversed(terms()), before)] : []));
  const earlier = () => [...(after ? reached(reversed(terms()), after) : []), ...(offset && !backward ? [skipped()] : [])];
  const later = () => [...(before ? reached(terms(), before) : []), ...(offset && backward ? [skipped()] : [])];
  const told = (ways: string[], name: keyof Around) => (ways.length ? [`(${ways.join(' OR ')}) AS "${name}"`] : []);
  return [...(plan.previous ? told(earlier(), '_earlier') : []), ...(plan.next ? told(later(), '_later') : [])];
}

/** What a statement tells of a list beside the rows of the page. */
interface Around {
  _count?: number;
  _earlier?: boolean;
  _later?: boolean;
}

function page(request: ListRequest, plan: ConnectionPlan, window: Window, more: readonly Condition[], bind: Bind): string {
  const { joins, conditions } = request;
  const { backward, offset } = window;
  const terms = bound(window.terms, bind);
  const order = backward ? reversed(terms) : terms;
  const [start, end] = backward ? [window.before, window.after] : [window.after, window.before];
  const conditioned = [...more, ...conditions, ...(end ? [beyond(reversed(order), end)] : [])];
  const where = conditionOf(conditioned, 't', bind);
  const number = window.limit + (looksAhead(plan, window) ? 1 : 0);
  const limit = bind(number);
  const skip = offset ? bind(offset) : undefined;
  const ways = start ? waysBeyond(order, start, bind) : [];
  const beside = plan.cursors || ways.length > 1 ? terms.map((term, index): Attribute => [term.sql, `_${index}`]) : undefined;
  const shape = { columns: plan.columns, beside, joins: joinsOf(joins, bind), where, order, limit, offset: skip };
  const further = (way: string) => (where ? `${where} AND ${way}` : way);
  if (ways.length === 0) return select(shape);
  if (ways.length === 1) return select({ ...shape, where: further(ways[0]!) });
  // Each way is found by an index, so a page costs the same wherever it lies.
  const most = offset ? bind(number + offset) : limit;
  const found = ways.map((way) => `(${select({ ...shape, where: further(way), limit: most, offset: undefined })})`).join(' UNION ALL ');
  const places = order.map((term, index) => ({ ...term, sql: `"_${index}"` }));
  return `SELECT * FROM (${found}) AS f ORDER BY ${orderSql(places)} LIMIT ${limit}${skip ? ` OFFSET ${skip}` : ''}`;
}

function assemble(plan: ConnectionPlan, window: Window, found: Row[], around: Around = {}): Connection {
  const beyondPage = found.length > window.limit;
  const nodes = beyondPage ? found.slice(0, window.limit) : found;
  if (window.backward) nodes.reverse();
  const cursor = (row: Row | undefined) => (plan.cursors && row ? cursorOf(window.terms, row) : null);
  return {
    totalCount: around._count ?? 0,
    nodes,
    edges: plan.edges ? nodes.map((node) => ({ cursor: cursor(node) ?? '', node })) : [],
    pageInfo: {
      hasNextPage: (!window.backward && beyondPage) || (around._later ?? false),
      hasPreviousPage: (window.backward && beyondPage) || (around._earlier ?? false),
      startCursor: cursor(nodes[0]),
      endCursor: cursor(nodes.at(-1)),
    },
  };
}

/** Expressions for what is told beside the rows: how many there are in all pages, and whether there are some outside of the page. */
function around(request: ListRequest, plan: ConnectionPlan, window: Window, more: readonly Condition[], bind: Bind): string[] {
  const { entity, joins, conditions } = request;
  const count = () => `(SELECT count(*) ${from(entity, joins, bind)}${whereOf([...more, ...conditions], 't', bind)}) AS "_count"`;
  return [...(plan.count ? [count()] : []), ...outside(request, plan, window, more, bind)];
}

/** One page, and what is asked for beside its rows, in one statement. */
export async function listPage(request: ListRequest, plan: ConnectionPlan, { session }: Context): Promise<Connection> {
  const window = windowOf(request);
  const { bind, values } = binder();
  const beside = around(request, plan, window, [], bind);
  const rowsOfPage = () => page(request, plan, window, [], bind);
  if (!beside.length) return assemble(plan, window, plan.rows ? await session.read(rowsOfPage(), values) : []);
  const told = `SELECT ${beside.join(', ')}`;
  if (!plan.rows) return assemble(plan, window, [], (await session.read(told, values))[0]);
  // An outer join, so that what is told comes with an empty page too.
  const rows = await session.read(`SELECT c.*, p.* FROM (${told}) c LEFT JOIN LATERAL (${rowsOfPage()}) p ON TRUE`, values);
  return assemble(plan, window, rows[0]!.id === null ? [] : rows, rows[0]);
}

/** The same page below each of several parents, all in the same two statements. */
export async function listPagesBelow(
  request: ListRequest,
  by: string,
  parents: readonly number[],
  plan: ConnectionPlan,
  { session }: Context,
): Promise<Connection[]> {
  const window = windowOf(request);
  const parent = fieldOf(request.entity, by);
  const below: Condition = () => names(parent, 't', 'p.id');
  const rows = () => {
    const { bind, values } = binder();
    const ids = bind(parents);
    const inner = page(request, plan, window, [below], bind);
    return session.read(`SELECT p.id AS "_parent", c.* FROM unnest(${ids}::int[]) AS p(id) CROSS JOIN LATERAL (${inner}) c`, values);
  };
  const told = async () => {
    const { bind, values } = binder();
    const ids = bind(parents);
    const beside = around(request, plan, window, [below], bind);
    if (!beside.length) return [];
    return session.read(`SELECT p.id AS "_parent", ${beside.join(', ')} FROM unnest(${ids}::int[]) AS p(id)`, values);
  };
  const [found, beside] = await Promise.all([plan.rows ? rows() : [], told()]);
  const groups = new Map<number, Row[]>(parents.map((id) => [id, []]));
  for (const row of found) groups.get(row._parent)!.push(row);
  const byParent = new Map(beside.map((row) => [row._parent as number, row as Around]));
  return parents.map((id) => assemble(plan, window, groups.get(id)!, byParent.get(id)));
}
