/**
 * Connections: lists with `first`/`after`, `last`/`before` or `offset`, read by keyset pagination
 * (https://relay.dev/graphql/connections.htm).
 */
import { MAX_INTEGER } from '../../shared/bounds';
import type { Row } from '../../database/rows';
import { referencedRowConditions, visibleRowConditions } from '../access/access';
import {
  createParameterBinder,
  allOfSql,
  whereClause,
  type ParameterBinder,
  type SqlCondition,
} from '../access/conditions';
import type { Context } from '../context';
import { invalidArgumentError } from '../declare/errors';
import type { Entity } from '../declare/fields';
import {
  atCursorSql,
  afterCursorCondition,
  rowCursor,
  parseCursor,
  afterBranches,
} from '../sql/cursor';
import {
  bindOrderTerms,
  resolveOrder,
  orderTerms,
  orderByClause,
  reverseOrderTerms,
  type BoundOrderTerm,
  type OrderInput,
  type OrderField,
  type OrderTerm,
  type OrderContext,
} from '../sql/ordering';
import type { Connection, PageArgs } from './connection-types';
import { validatePageSize } from '../declare/page-size';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../shared/page-size';
import type { ConnectionPlan } from './query-plan';
import { fromClause, parentConditions, sqlJoinClauses } from '../sql/expressions';
import { buildSelectStatement, type SelectedExpression } from '../sql/select';
import { compileWhere } from '../sql/where';

export interface ListRequest {
  entity: Entity;
  conditions: readonly SqlCondition[];
  joins: readonly SqlCondition[];
  order: readonly OrderField[];

  /** Sort terms after `order`, which distinguish the duplicates of a row that joins cause. */
  joinOrderTerms: readonly OrderTerm[];
  orderContext: OrderContext;
  page: PageArgs;
}

/**
 * `referenceFieldName` makes it a request for the child rows of each parent row, whose ids are the
 * column `p.id` of the statement.
 */
export function createListRequest(
  entity: Entity,
  page: PageArgs,
  where: Record<string, unknown> | null | undefined,
  orderBy: readonly OrderInput[] | null | undefined,
  context: Context,
  referenceFieldName?: string,
): ListRequest {
  const { searches, ...compiledWhere } = compileWhere(entity, where, context, [
    ...parentConditions(entity, referenceFieldName),
    ...visibleRowConditions(entity, context),
  ]);
  const orderContext: OrderContext = {
    textOrder: context.policies.textOrder,
    searches,
    referencedRowConditions: (target) => referencedRowConditions(target, context),
  };

  return {
    entity,
    ...compiledWhere,
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

  /** Decoded cursors, with one value for each order term. */
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

  if (first !== undefined && last !== undefined) {
    throw invalidArgumentError('last', 'Use either first or last, not both.');
  }

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

/**
 * Whether to read one row more than the page has. The extra row shows that another page follows in
 * reading direction.
 */
const needsExtraRow = (plan: ConnectionPlan, { isBackward }: PageWindow) =>
  isBackward ? plan.needsHasPreviousPage : plan.needsHasNextPage;

/**
 * SQL expressions for `hasNextPage` and `hasPreviousPage`: rows exist beyond the cursors of the
 * page, or `offset` skips rows.
 */
function pageInfoExpressions(
  request: ListRequest,
  plan: ConnectionPlan,
  window: PageWindow,
  bind: ParameterBinder,
): string[] {
  const { entity, joins, conditions } = request;
  const { afterCursorValues, beforeCursorValues, offset, isBackward } = window;
  // Values are bound only when an expression uses them, because PostgreSQL rejects unused
  // parameters.
  const terms = () => bindOrderTerms(window.terms, bind);
  const existsExpression = (...positionConditions: SqlCondition[]) =>
    `EXISTS (SELECT 1
      ${fromClause(entity, joins, bind)}${whereClause([...conditions, ...positionConditions], 't', bind)})`;

  /**
   * SQL expressions of which at least one is true if rows exist at or beyond a cursor. The first,
   * for the row at the cursor, is the fastest.
   */
  const beyondCursorAlternatives = (order: readonly BoundOrderTerm[], values: unknown[]) =>
    [atCursorSql(order, values, bind), ...afterBranches(order, values, bind)].map((branch) =>
      existsExpression(() => branch),
    );

  const existsSkippedRow = () => {
    const positionConditions: SqlCondition[] = [];

    if (afterCursorValues) {
      positionConditions.push(afterCursorCondition(terms(), afterCursorValues));
    }

    if (beforeCursorValues) {
      const reversedTerms = reverseOrderTerms(terms());

      positionConditions.push(afterCursorCondition(reversedTerms, beforeCursorValues));
    }

    return existsExpression(...positionConditions);
  };

  const earlierRowAlternatives = () => {
    const alternatives: string[] = [];

    if (afterCursorValues) {
      alternatives.push(...beyondCursorAlternatives(reverseOrderTerms(terms()), afterCursorValues));
    }

    if (offset && !isBackward) alternatives.push(existsSkippedRow());

    return alternatives;
  };

  const laterRowAlternatives = () => {
    const alternatives: string[] = [];

    if (beforeCursorValues) {
      alternatives.push(...beyondCursorAlternatives(terms(), beforeCursorValues));
    }

    if (offset && isBackward) alternatives.push(existsSkippedRow());

    return alternatives;
  };

  const expressions: string[] = [];

  const addExpression = (alternatives: string[], name: keyof ListSummaryColumns) => {
    if (alternatives.length) expressions.push(`(${alternatives.join(' OR ')}) AS "${name}"`);
  };

  if (plan.needsHasPreviousPage) addExpression(earlierRowAlternatives(), '_existBefore');
  if (plan.needsHasNextPage) addExpression(laterRowAlternatives(), '_existAfter');

  return expressions;
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
  const { afterCursorValues, beforeCursorValues } = window;
  const start = isBackward ? beforeCursorValues : afterCursorValues;
  const end = isBackward ? afterCursorValues : beforeCursorValues;
  const allConditions = [
    ...conditions,
    ...(end ? [afterCursorCondition(reverseOrderTerms(order), end)] : []),
  ];
  const where = allOfSql(allConditions, 't', bind);
  const rowCount = window.limit + (needsExtraRow(plan, window) ? 1 : 0);
  const limit = bind(rowCount);
  const offsetParameter = offset ? bind(offset) : undefined;
  const branches = start ? afterBranches(order, start, bind) : [];
  const cursorValueExpressions = terms.map((term, index): SelectedExpression => [
    term.sql,
    `_${index}`,
  ]);
  const needsCursorValues = plan.needsCursors || branches.length > 1;
  const selectClauses = {
    columns: plan.columns,
    extraExpressions: needsCursorValues ? cursorValueExpressions : undefined,
    joins: sqlJoinClauses(joins, bind),
    where,
    order,
    limit,
    offset: offsetParameter,
  };
  const afterCursorSql = (branch: string) => (where ? `${where} AND ${branch}` : branch);

  if (branches.length === 0) return buildSelectStatement(selectClauses);

  if (branches.length === 1) {
    return buildSelectStatement({ ...selectClauses, where: afterCursorSql(branches[0]!) });
  }

  // UNION ALL of one SELECT per OR branch of the keyset condition. Each SELECT scans one range of
  // an index, so the time to read a page does not depend on the position of the page.
  const branchLimit = offset ? bind(rowCount + offset) : limit;
  const branchClauses = { ...selectClauses, limit: branchLimit, offset: undefined };
  const selectBranchSql = (branch: string) =>
    `(${buildSelectStatement({ ...branchClauses, where: afterCursorSql(branch) })})`;
  const branchesSql = branches.map(selectBranchSql).join(' UNION ALL ');
  const aliasedOrderTerms = order.map((term, index) => ({ ...term, sql: `"_${index}"` }));

  const offsetSql = offsetParameter ? ` OFFSET ${offsetParameter}` : '';

  return `SELECT * FROM (${branchesSql}) AS f ORDER BY ${orderByClause(aliasedOrderTerms)}
    LIMIT ${limit}${offsetSql}`;
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

/** SQL expressions for the total count and for the existence of rows outside the page. */
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

/** Reads one page with the requested total count and page information in one statement. */
export async function readPage(
  request: ListRequest,
  plan: ConnectionPlan,
  { session }: Context,
): Promise<Connection> {
  const window = pageWindow(request);
  const { bind, values } = createParameterBinder();
  const summaryExpressions = listSummaryExpressions(request, plan, window, bind);
  const pageSql = () => pageStatement(request, plan, window, bind);

  if (!summaryExpressions.length) {
    const rows = plan.needsRows ? await session.query(pageSql(), values) : [];

    return assembleConnection(plan, window, rows);
  }

  const summarySql = `SELECT ${summaryExpressions.join(', ')}`;

  if (!plan.needsRows) {
    const [summary] = await session.query(summarySql, values);

    return assembleConnection(plan, window, [], summary);
  }

  // LEFT JOIN returns the summary columns even if the page is empty.
  const rows = await session.query(
    `SELECT c.*, p.* FROM (${summarySql}) c LEFT JOIN LATERAL (${pageSql()}) p ON TRUE`,
    values,
  );

  return assembleConnection(plan, window, rows[0]!.id === null ? [] : rows, rows[0]);
}

/** Reads the same page of child rows for several parent rows with at most two statements. */
export async function readPagesOfParents(
  request: ListRequest,
  parentIds: readonly number[],
  plan: ConnectionPlan,
  { session }: Context,
): Promise<Connection[]> {
  const window = pageWindow(request);

  const readPages = () => {
    const { bind, values } = createParameterBinder();
    const idsParameter = bind(parentIds);
    const pageSql = pageStatement(request, plan, window, bind);

    return session.query(
      `SELECT p.id AS "_parent", c.* FROM unnest(${idsParameter}::int[]) AS p(id)
        CROSS JOIN LATERAL (${pageSql}) c`,
      values,
    );
  };

  const readSummaries = async () => {
    const { bind, values } = createParameterBinder();
    const idsParameter = bind(parentIds);
    const summaryExpressions = listSummaryExpressions(request, plan, window, bind);

    if (!summaryExpressions.length) return [];

    return session.query(
      `SELECT p.id AS "_parent", ${summaryExpressions.join(', ')}
        FROM unnest(${idsParameter}::int[]) AS p(id)`,
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
