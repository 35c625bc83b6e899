/** The rows of a list, page by page, each page by an operation of its own: whoever pages has the same rows, and pays the same for them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionResult } from 'graphql';
import type { Context } from '../../core/context';
import { MAX_PAGE } from '../../core/read/connection';
import type { Executor, Variables } from '../../core/operation/execute';
import type { ExportedList, Window } from './list';
import { Refused, refused } from './refusal';

/** So few that others are heard in between, and that the next collection of garbage finds most of them gone: of more it keeps many for long. */
const PAGE = 250;
/** Rows that cost so much that not even so many may be asked for at a time are none for a file. */
const LEAST = 10;
const SMALLER = 10;
const MS_PER_SECOND = 1000;

interface Info {
  hasNextPage: boolean;
  endCursor: string | null;
}

function at(data: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], data);
}

export class Pages {
  private hasBegun = false;
  private size: number;

  constructor(
    private readonly list: ExportedList,
    private readonly executor: Executor,
    private readonly context: Context,
    private readonly variables: Variables,
    /** Once nobody waits for the rest. */
    private readonly over: AbortSignal,
  ) {
    this.size = list.pages?.workedOut ? MAX_PAGE : PAGE;
  }

  /** Throws a Refused, of the first page or of a later one. */
  async *rows(): AsyncGenerator<readonly unknown[], void, void> {
    const { pages } = this.list;
    if (!pages) {
      yield this.rowsIn(await this.answer(() => this.variables));
      return;
    }
    let { after, offset } = pages.asked;
    let left = pages.asked.first ?? Infinity;
    for (;;) {
      const first = () => Math.min(left, this.size);
      const window = (): Window => ({ first: first(), last: first(), after, offset });
      if (pages.isSeries) this.context.written = offset ?? 0;
      const data = await this.answer(() => ({ ...this.variables, ...pages.variables(window()) }));
      const found = this.rowsIn(data);
      yield found;
      const info = pages.info && (at(data, pages.info) as Info);
      const isLast = info ? !info.hasNextPage : found.length < first();
      left -= found.length;
      if (isLast || found.length === 0 || left <= 0) return;
      after = info?.endCursor ?? null;
      offset = info ? null : (offset ?? 0) + found.length;
    }
  }

  private rowsIn(data: unknown): readonly unknown[] {
    const rows = at(data, this.list.path);
    if (!Array.isArray(rows)) throw refused('There is no such list.', this.list.path.join('.'), 'NOT_FOUND');
    return rows;
  }

  /** The data of one page. Whoever pages and has spent what there is comes back later, and so does this. */
  private async answer(variables: () => Variables): Promise<unknown> {
    for (;;) {
      const { data, errors } = await this.run(variables());
      if (!errors?.length) return data;
      const { code, retryAfter } = errors[0]!.extensions;
      if (code === 'COST_LIMIT' && this.list.pages && this.size > LEAST) this.size /= SMALLER;
      else if (code === 'RATE_LIMITED' && this.hasBegun) await this.wait(Number(retryAfter));
      else throw new Refused(errors);
    }
  }

  private async run(variables: Variables): Promise<ExecutionResult> {
    const { context } = this;
    // From the second page on it is no request that somebody waits for: it has a share of the database that takes nothing from those.
    if (this.hasBegun) context.session.renew();
    const result = await this.executor.execute(this.list.document, undefined, context, variables);
    if (!result.errors?.length) this.hasBegun = true;
    // What was read for one page is of no use to the next one.
    context.loaders.clear();
    return result;
  }

  private async wait(seconds: number): Promise<void> {
    await sleep(seconds * MS_PER_SECOND, undefined, { signal: this.over }).catch(() => {
      throw refused('The client has gone.', undefined, 'CLIENT_GONE');
    });
  }
}
