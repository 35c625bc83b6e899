/** Connections: lists with `first`/`after`, `last`/`before` or `offset`, read by keyset pagination (https://relay.dev/graphql/connections.htm). */
import { MAX_INTEGER } from '../../contract/bounds';
import type { Row } from '../../database/rows';
import { referenceableRowConditions, visibleRowConditions } from '../access/access';
import {
  createParameterBinder,
  conjunctionSql,
  whereClause,
  type ParameterBinder,
  type SqlCondition,
} from '../access/conditions';
import type { Context } from '../context';
import { invalidArgumentError } from '../model/errors';
import { fieldOf, type Entity } from '../model/fields';
import {
  rowAtCursorConditionSql,
  afterCursorCondition,
  rowCursor,
  parseCursor,
  afterCursorAlternativeConditions,
} from '../sql/cursor';
import {
  bindOrderTerms,
  resolveOrder,
  orderTerms,
  orderByClause,
  reverseOrderTerms,
  type BoundOrderTerm,
  type OrderElement,
  type OrderField,
  type OrderTerm,
  type OrderContext,
} from '../sql/ordering';
import type { Connection, PageArgs } from './connectiontypes';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, validatePageSize } from '../model/pagesize';
import type { ConnectionPlan } from './queryplan';
import { fromClause, sqlJoinClauses, referencesIdConditionSql } from '../sql/expressions';
import { buildSelectStatement, type SelectedExpression } from '../sql/select';
import { compileWhere } from '../sql/where';

export interface ListRequest {
  entity: Entity;
  conditions: readonly SqlCondition[];
  joins: readonly SqlCondition[];
  order: readonly OrderField[];
  /** Sort terms after those of `order`, which distinguish duplicates of a row. */
  joinOrderTerms: readonly OrderTerm[];
  orderContext: OrderContext;
  page: PageArgs;
}

export function createListRequest(
  entity: Entity,
  page: PageArgs,
  where: Record<string, unknown> | null | undefined,
  orderBy: readonly OrderElement[] | null | undefined,
  context: Context,
): ListRequest {
  const accessConditions = visibleRowConditions(entity, context);
  const { conditions, joins, joinOrderTerms, searches } = compileWhere(entity, where, context);
  const orderContext: OrderContext = {
    textOrder: context.policies.textOrder,
    searches,
    referencedRowConditions: (target) => referenceableRowConditions(target, context),
  };
  return {
    entity,
    conditions: [...accessConditions, ...conditions],
    joins,
    joinOrderTerms,
    orderContext,
    order: resolveOrder(entity, orderBy, searches),
    page,
  };
}

interface PageWindow {
  limit: number;
  offset: number;
  isBackward: boolean;
  terms: OrderTerm[];
  /** Decoded cursors: one value for each order term. */
  afterCursorValues?: unknown[];
  beforeCursorValues?: unknown[];
}

function pageWindow({
  entity,
  order,
  joinOrderTerms,
  orderContext,
  page,
}: ListRequest): PageWindow {
  const first = validatePageSize('first', page.first, MAX_PAGE_SIZE);
  const last = validatePageSize('last', page.last, MAX_PAGE_SIZE);
  const offset = validatePageSize('offset', page.offset, MAX_INTEGER) ?? 0;
  if (first !== undefined && last !== undefined)
    throw invalidArgumentError('last', 'Use either first or last, not both.');
  const isBackward = last !== undefined;
  const terms = [...orderTerms(entity, order, orderContext), ...joinOrderTerms];
  const cursorValuesOf = (argument: 'after' | 'before') => {
    const cursor = page[argument];
    return cursor == null ? undefined : parseCursor(argument, terms, cursor);
  };
  return {
    limit: first ?? last ?? DEFAULT_PAGE_SIZE,
    offset,
    isBackward,
    terms,
    afterCursorValues: cursorValuesOf('after'),
    beforeCursorValues: cursorValuesOf('before'),
  };
}

/** Whether to read one row more than the page contains, which shows whether another page follows in reading direction. */
const readsExtraRow = (plan: ConnectionPlan, { isBackward }: PageWindow) =>
  isBackward ? plan.needsHasPreviousPage : plan.needsHasNextPage;

/** Returns the expressions for `hasNextPage` and `hasPreviousPage`: whether rows exist beyond the cursors of the page or are skipped by `offset`. */
function pageInfoExpressions(
  request: ListRequest,
  plan: ConnectionPlan,
  window: PageWindow,
  bind: ParameterBinder,
): string[] {
  const { entity, joins, conditions } = request;
  const { afterCursorValues, beforeCursorValues, offset, isBackward } = window;
  // Values are bound only when an expression uses them, because PostgreSQL rejects unused parameters.
  const terms = () => bindOrderTerms(window.terms, bind);
  const existsExpression = (...positionConditions: SqlCondition[]) =>
    `EXISTS (SELECT 1 ${fromClause(entity, joins, bind)}${whereClause([...conditions, ...positionConditions], 't', bind)})`;
  /**
   * Returns expressions of which at least one is true if rows exist at or beyond a cursor. The first is the fastest: it looks for the row at the
   * cursor.
   */
  const existsBeyondCursorExpressions = (order: readonly BoundOrderTerm[], values: unknown[]) =>
    [
      rowAtCursorConditionSql(order, values, bind),
      ...afterCursorAlternativeConditions(order, values, bind),
    ].map((alternativeCondition) => existsExpression(() => alternativeCondition));
  const existsSkippedRowSql = () =>
    existsExpression(
      ...(afterCursorValues ? [afterCursorCondition(terms(), afterCursorValues)] : []),
      ...(beforeCursorValues
        ? [afterCursorCondition(reverseOrderTerms(terms()), beforeCursorValues)]
        : []),
    );
  const earlierRowsExistExpressions = () => [
    ...(afterCursorValues
      ? existsBeyondCursorExpressions(reverseOrderTerms(terms()), afterCursorValues)
      : []),
    ...(offset && !isBackward ? [existsSkippedRowSql()] : []),
  ];
  const laterRowsExistExpressions = () => [
    ...(beforeCursorValues ? existsBeyondCursorExpressions(terms(), beforeCursorValues) : []),
    ...(offset && isBackward ? [existsSkippedRowSql()] : []),
  ];
  const namedExpression = (alternativeExpressions: string[], name: keyof ListSummaryColumns) =>
    alternativeExpressions.length ? [`(${alternativeExpressions.join(' OR ')}) AS "${name}"`] : [];
  return [
    ...(plan.needsHasPreviousPage
      ? namedExpression(earlierRowsExistExpressions(), '_existBefore')
      : []),
    ...(plan.needsHasNextPage ? namedExpression(laterRowsExistExpressions(), '_existAfter') : []),
  ];
}

interface ListSummaryColumns {
  _count?: number;
  _existBefore?: boolean;
  _existAfter?: boolean;
}

function pageStatement(
  request: ListRequest,
  plan: ConnectionPlan,
  window: PageWindow,
  bind: ParameterBinder,
): string {
  const { joins, conditions } = request;
  const { isBackward, offset } = window;
  const terms = bindOrderTerms(window.terms, bind);
  const order = isBackward ? reverseOrderTerms(terms) : terms;
  const [start, end] = isBackward
    ? [window.beforeCursorValues, window.afterCursorValues]
    : [window.afterCursorValues, window.beforeCursorValues];
  const allConditions = [
    ...conditions,
    ...(end ? [afterCursorCondition(reverseOrderTerms(order), end)] : []),
  ];
  const where = conjunctionSql(allConditions, 't', bind);
  const rowCount = window.limit + (readsExtraRow(plan, window) ? 1 : 0);
  const limit = bind(rowCount);
  const offsetParameter = offset ? bind(offset) : undefined;
  const alternativeConditions = start ? afterCursorAlternativeConditions(order, start, bind) : [];
  const cursorValueExpressions =
    plan.needsCursors || alternativeConditions.length > 1
      ? terms.map((term, index): SelectedExpression => [term.sql, `_${index}`])
      : undefined;
  const selectClauses = {
    columns: plan.columns,
    extraExpressions: cursorValueExpressions,
    joins: sqlJoinClauses(joins, bind),
    where,
    order,
    limit,
    offset: offsetParameter,
  };
  const whereAfterCursorSql = (alternativeCondition: string) =>
    where ? `${where} AND ${alternativeCondition}` : alternativeCondition;
  if (alternativeConditions.length === 0) return buildSelectStatement(selectClauses);
  if (alternativeConditions.length === 1)
    return buildSelectStatement({
      ...selectClauses,
      where: whereAfterCursorSql(alternativeConditions[0]!),
    });
  // UNION ALL of one SELECT per OR branch of the keyset condition. Each scans one range of an index, so the cost of a page does not depend on its position.
  const branchLimit = offset ? bind(rowCount + offset) : limit;
  const branchesSql = alternativeConditions
    .map(
      (alternativeCondition) =>
        `(${buildSelectStatement({ ...selectClauses, where: whereAfterCursorSql(alternativeCondition), limit: branchLimit, offset: undefined })})`,
    )
    .join(' UNION ALL ');
  const aliasedOrderTerms = order.map((term, index) => ({ ...term, sql: `"_${index}"` }));
  return `SELECT * FROM (${branchesSql}) AS f ORDER BY ${orderByClause(aliasedOrderTerms)} LIMIT ${limit}${offsetParameter ? ` OFFSET ${offsetParameter}` : ''}`;
}

function assembleConnection(
  plan: ConnectionPlan,
  window: PageWindow,
  rows: Row[],
  summary: ListSummaryColumns = {},
): Connection {
  const hasExtraRow = rows.length > window.limit;
  const nodes = hasExtraRow ? rows.slice(0, window.limit) : rows;
  if (window.isBackward) nodes.reverse();
  const cursor = (row: Row | undefined) =>
    plan.needsCursors && row ? rowCursor(window.terms, row) : null;
  return {
    totalCount: summary._count ?? 0,
    nodes,
    edges: plan.needsEdges ? nodes.map((node) => ({ cursor: cursor(node) ?? '', node })) : [],
    pageInfo: {
      hasNextPage: (!window.isBackward && hasExtraRow) || (summary._existAfter ?? false),
      hasPreviousPage: (window.isBackward && hasExtraRow) || (summary._existBefore ?? false),
      startCursor: cursor(nodes[0]),
      endCursor: cursor(nodes.at(-1)),
    },
  };
}

/** Returns the expressions for the total count and for the existence of rows outside of the page. */
function listSummaryExpressions(
  request: ListRequest,
  plan: ConnectionPlan,
  window: PageWindow,
  bind: ParameterBinder,
): string[] {
  const { entity, joins, conditions } = request;
  const countExpression = () =>
    `(SELECT count(*) ${fromClause(entity, joins, bind)}${whereClause(conditions, 't', bind)}) AS "_count"`;
  return [
    ...(plan.needsTotalCount ? [countExpression()] : []),
    ...pageInfoExpressions(request, plan, window, bind),
  ];
}

/** Reads one page, with the requested total count and page information, in one statement. */
export async function readPage(
  request: ListRequest,
  plan: ConnectionPlan,
  { session }: Context,
): Promise<Connection> {
  const window = pageWindow(request);
  const { bind, values } = createParameterBinder();
  const summaryExpressions = listSummaryExpressions(request, plan, window, bind);
  const pageSql = () => pageStatement(request, plan, window, bind);
  if (!summaryExpressions.length)
    return assembleConnection(
      plan,
      window,
      plan.needsRows ? await session.query(pageSql(), values) : [],
    );
  const summarySql = `SELECT ${summaryExpressions.join(', ')}`;
  if (!plan.needsRows)
    return assembleConnection(plan, window, [], (await session.query(summarySql, values))[0]);
  // LEFT JOIN returns the columns about the whole list even if the page is empty.
  const rows = await session.query(
    `SELECT c.*, p.* FROM (${summarySql}) c LEFT JOIN LATERAL (${pageSql()}) p ON TRUE`,
    values,
  );
  return assembleConnection(plan, window, rows[0]!.id === null ? [] : rows, rows[0]);
}

/** Reads the same page of child rows for each of several parent rows, with at most two statements in total. */
export async function readPagePerParent(
  listRequest: ListRequest,
  referenceFieldName: string,
  parentIds: readonly number[],
  plan: ConnectionPlan,
  { session }: Context,
): Promise<Connection[]> {
  const window = pageWindow(listRequest);
  const parentField = fieldOf(listRequest.entity, referenceFieldName);
  const parentCondition: SqlCondition = () => referencesIdConditionSql(parentField, 't', 'p.id');
  const request = { ...listRequest, conditions: [parentCondition, ...listRequest.conditions] };
  const readPages = () => {
    const { bind, values } = createParameterBinder();
    const idsParameter = bind(parentIds);
    const pageSql = pageStatement(request, plan, window, bind);
    return session.query(
      `SELECT p.id AS "_parent", c.* FROM unnest(${idsParameter}::int[]) AS p(id) CROSS JOIN LATERAL (${pageSql}) c`,
      values,
    );
  };
  const readSummaries = async () => {
    const { bind, values } = createParameterBinder();
    const idsParameter = bind(parentIds);
    const summaryExpressions = listSummaryExpressions(request, plan, window, bind);
    if (!summaryExpressions.length) return [];
    return session.query(
      `SELECT p.id AS "_parent", ${summaryExpressions.join(', ')} FROM unnest(${idsParameter}::int[]) AS p(id)`,
      values,
    );
  };
  const [pageRows, summaryRows] = await Promise.all([
    plan.needsRows ? readPages() : [],
    readSummaries(),
  ]);
  const rowsByParent = new Map<number, Row[]>(parentIds.map((id) => [id, []]));
  for (const row of pageRows) rowsByParent.get(row._parent)!.push(row);
  const summaryByParent = new Map(
    summaryRows.map((row) => [row._parent as number, row as ListSummaryColumns]),
  );
  return parentIds.map((id) =>
    assembleConnection(plan, window, rowsByParent.get(id)!, summaryByParent.get(id)),
  );
}
