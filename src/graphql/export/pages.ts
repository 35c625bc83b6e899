/**
 * Reads the rows of an exported list page by page. Each page is read by one operation, which costs
 * as much as a client's request for that page.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { locatedError, type ExecutionResult, type GraphQLError } from 'graphql';
import type { Context } from '../../engine/context';
import { ClientError, clientGoneError } from '../../engine/declare/errors';
import type { ErrorCode } from '../../shared/error-codes';
import { MAX_PAGE_SIZE } from '../../shared/page-size';
import type { Executor, Variables } from '../../engine/execution/executor';
import type { ExportedList, PageArguments } from './list';
import { ExportError } from './errors';

/**
 * Number of rows per page. Small pages let the event loop handle other requests, and V8 collects
 * them in its fast young generation.
 */
const PAGE_SIZE = 250;

/**
 * Minimum number of rows per page. If even such a page exceeds a limit of operations, the export
 * fails.
 */
const MIN_PAGE_SIZE = 10;
const PAGE_SIZE_REDUCTION_FACTOR = 10;

/** Error codes of a page that a smaller page may avoid. */
const PAGE_SIZE_ERROR_CODES = ['COST_LIMIT', 'RESULT_TOO_LARGE'];
const MS_PER_SECOND = 1000;

interface Page {
  rows: readonly unknown[];
  isLastPage: boolean;
}

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
    private readonly formatRows: (rows: readonly unknown[]) => string,
    private readonly maxSnapshotBytes: number,
    private readonly disconnectSignal: AbortSignal,
  ) {
    this.pageSize = list.pagination?.isListRecomputedPerPage ? MAX_PAGE_SIZE : PAGE_SIZE;
  }

  /** Yields the text of one page at a time. Throws an error for the client if a page fails. */
  async *readPages(): AsyncGenerator<string, void, void> {
    for await (const { rows, isLastPage } of this.fetchPages()) {
      if (!isLastPage && this.list.pagination?.isListRecomputedPerPage) {
        return yield* await this.readSnapshot();
      }

      yield this.formatRows(rows);
    }
  }

  /**
   * Reads all pages of a computed list from one snapshot of the database, before the first one is
   * sent. Otherwise concurrent writes would move rows from one page to another.
   */
  private async readSnapshot(): Promise<string[]> {
    const { session } = this.context;
    const pageTexts: string[] = [];
    let bytes = 0;

    session.beginSubscriptionEvent();
    await session.readSnapshot(async () => {
      for await (const { rows } of this.fetchPages()) {
        const text = this.formatRows(rows);

        bytes += Buffer.byteLength(text);

        if (bytes > this.maxSnapshotBytes) {
          throw this.listError(
            'RESULT_TOO_LARGE',
            `A file with a computed list has at most ${this.maxSnapshotBytes} bytes. Narrow it down with \`where\` or \`first\`.`,
          );
        }

        pageTexts.push(text);
      }
    });

    return pageTexts;
  }

  private async *fetchPages(): AsyncGenerator<Page, void, void> {
    const { pagination } = this.list;

    if (!pagination) {
      yield { rows: this.rowsIn(await this.fetchPage(() => this.variables)), isLastPage: true };
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
      const rows = this.rowsIn(data);
      const pageInfo =
        pagination.pageInfoPath && (valueAt(data, pagination.pageInfoPath) as PageInfo);
      const isListEnd = pageInfo ? !pageInfo.hasNextPage : rows.length < nextPageSize();

      remainingRowCount -= rows.length;
      const isLastPage = isListEnd || rows.length === 0 || remainingRowCount <= 0;

      yield { rows, isLastPage };
      if (isLastPage) return;
      after = pageInfo?.endCursor ?? null;
      offset = pageInfo ? null : (offset ?? 0) + rows.length;
    }
  }

  private rowsIn(data: unknown): readonly unknown[] {
    const rows = valueAt(data, this.list.rowsPath);

    if (!Array.isArray(rows)) throw this.listError('NOT_FOUND', 'There is no such list.');

    return rows;
  }

  private listError(code: ErrorCode, message: string): GraphQLError {
    return locatedError(new ClientError(code, message), undefined, this.list.rowsPath);
  }

  /**
   * Fetches one page. Shrinks pages that exceed a limit of operations, and waits for an exhausted
   * budget to be replenished, but not within a snapshot, because others need its connection.
   */
  private async fetchPage(variables: () => Variables): Promise<unknown> {
    for (let isRetry = false; ; isRetry = true) {
      const { data, errors } = await this.executePageQuery(variables(), isRetry);

      if (!errors?.length) return data;
      const { code, retryAfter } = errors[0]!.extensions;

      if (
        PAGE_SIZE_ERROR_CODES.includes(String(code)) &&
        this.list.pagination &&
        this.pageSize > MIN_PAGE_SIZE
      ) {
        this.pageSize = Math.max(
          MIN_PAGE_SIZE,
          Math.floor(this.pageSize / PAGE_SIZE_REDUCTION_FACTOR),
        );
      } else if (
        code === 'RATE_LIMITED' &&
        this.hasReadFirstPage &&
        !this.context.session.isInTransaction
      ) {
        await this.waitForBudget(Number(retryAfter));
      } else throw new ExportError(errors);
    }
  }

  private async executePageQuery(variables: Variables, isRetry: boolean): Promise<ExecutionResult> {
    const { context } = this;

    if (context.session.isInTransaction) context.session.resumeReads();
    // From the second page on, reads share the concurrency limit of subscriptions, so that they do
    // not delay other requests.
    else if (this.hasReadFirstPage || isRetry) context.session.beginSubscriptionEvent();

    const result = await this.executor.execute(this.list.document, undefined, context, variables);

    if (!result.errors?.length) this.hasReadFirstPage = true;
    // Frees the rows that DataLoader cached for this page.
    context.loaders.clear();
    return result;
  }

  private async waitForBudget(seconds: number): Promise<void> {
    await sleep(seconds * MS_PER_SECOND, undefined, { signal: this.disconnectSignal }).catch(() => {
      throw clientGoneError();
    });
  }
}
