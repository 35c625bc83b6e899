/** Reads the rows of an exported list page by page. Each page is one operation, with the same rows and cost as if a client requested the page. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionResult } from 'graphql';
import type { Context } from '../../core/context';
import { MAX_PAGE_SIZE } from '../../core/model/pagesize';
import type { Executor, Variables } from '../../core/operation/executor';
import type { ExportedList, PageArguments } from './list';
import { ExportError, createExportError } from './errors';

/** Rows per page. Between small pages the event loop handles other requests, and small pages are garbage-collected while they are young. */
const PAGE_SIZE = 250;
/** Rows of the smallest page. If even a page of this size exceeds a limit of operations, the export fails. */
const MIN_PAGE_SIZE = 10;
const PAGE_SIZE_REDUCTION_FACTOR = 10;
/** Errors of a page that a smaller page may avoid. */
const PAGE_SIZE_ERROR_CODES = ['COST_LIMIT', 'RESULT_TOO_LARGE'];
const MS_PER_SECOND = 1000;

interface PageInfo {
  hasNextPage: boolean;
  endCursor: string | null;
}

function valueAt(data: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | null | undefined)?.[key],
    data,
  );
}

export class PageReader {
  private hasReadFirstPage = false;
  private pageSize: number;

  constructor(
    private readonly list: ExportedList,
    private readonly executor: Executor,
    private readonly context: Context,
    private readonly variables: Variables,
    private readonly disconnectSignal: AbortSignal,
  ) {
    this.pageSize = list.pagination?.isListRecomputedPerPage ? MAX_PAGE_SIZE : PAGE_SIZE;
  }

  /** Yields one page of rows at a time. Throws `ExportError` if a page fails. */
  async *readPages(): AsyncGenerator<readonly unknown[], void, void> {
    const { pagination } = this.list;
    if (!pagination) {
      yield this.rowsIn(await this.fetchPage(() => this.variables));
      return;
    }
    let { after, offset } = pagination.requestedPageArguments;
    let remainingRowCount = pagination.requestedPageArguments.first ?? Infinity;
    for (;;) {
      const nextPageSize = () => Math.min(remainingRowCount, this.pageSize);
      const pageArguments = (): PageArguments => ({
        first: nextPageSize(),
        last: nextPageSize(),
        after,
        offset,
      });
      if (pagination.isTimeSeries) this.context.exportedRowCount = offset ?? 0;
      const data = await this.fetchPage(() => ({
        ...this.variables,
        ...pagination.pageVariables(pageArguments()),
      }));
      const pageRows = this.rowsIn(data);
      yield pageRows;
      const pageInfo =
        pagination.pageInfoPath && (valueAt(data, pagination.pageInfoPath) as PageInfo);
      const isLastPage = pageInfo ? !pageInfo.hasNextPage : pageRows.length < nextPageSize();
      remainingRowCount -= pageRows.length;
      if (isLastPage || pageRows.length === 0 || remainingRowCount <= 0) return;
      after = pageInfo?.endCursor ?? null;
      offset = pageInfo ? null : (offset ?? 0) + pageRows.length;
    }
  }

  private rowsIn(data: unknown): readonly unknown[] {
    const rows = valueAt(data, this.list.rowsPath);
    if (!Array.isArray(rows))
      throw createExportError('There is no such list.', this.list.rowsPath.join('.'), 'NOT_FOUND');
    return rows;
  }

  /** Returns the data of one page. Shrinks pages that exceed a limit of operations, and waits until an exhausted budget is replenished. */
  private async fetchPage(variables: () => Variables): Promise<unknown> {
    for (let isRetry = false; ; isRetry = true) {
      const { data, errors } = await this.executePageQuery(variables(), isRetry);
      if (!errors?.length) return data;
      const { code, retryAfter } = errors[0]!.extensions;
      if (
        PAGE_SIZE_ERROR_CODES.includes(String(code)) &&
        this.list.pagination &&
        this.pageSize > MIN_PAGE_SIZE
      )
        this.pageSize = Math.max(
          MIN_PAGE_SIZE,
          Math.floor(this.pageSize / PAGE_SIZE_REDUCTION_FACTOR),
        );
      else if (code === 'RATE_LIMITED' && this.hasReadFirstPage)
        await this.waitForBudget(Number(retryAfter));
      else throw new ExportError(errors);
    }
  }

  private async executePageQuery(variables: Variables, isRetry: boolean): Promise<ExecutionResult> {
    const { context } = this;
    // From the second page on, reads share the concurrency limit of subscriptions, so that they do not delay other requests.
    if (this.hasReadFirstPage || isRetry) context.session.beginSubscriptionEvent();
    const result = await this.executor.execute(this.list.document, undefined, context, variables);
    if (!result.errors?.length) this.hasReadFirstPage = true;
    // Frees the rows that DataLoader has cached for this page, because later pages do not need them.
    context.loaders.clear();
    return result;
  }

  private async waitForBudget(seconds: number): Promise<void> {
    await sleep(seconds * MS_PER_SECOND, undefined, { signal: this.disconnectSignal }).catch(() => {
      throw createExportError('The client has disconnected.', undefined, 'CLIENT_GONE');
    });
  }
}
