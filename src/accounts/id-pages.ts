/** Pages of lists in descending order of ids, whose cursors contain an id. */
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../shared/page-size';
import { decodeCursor, encodeCursor } from '../engine/declare/cursors';
import { invalidArgumentError } from '../engine/declare/errors';
import { validatePageSize } from '../engine/declare/page-size';
import type { CursorArgs } from '../engine/read/connection-types';

export interface IdWindow {
  olderThanId?: number;
  newerThanId?: number;
  oldestFirst?: boolean;
  limit: number;
}

function parseCursor(
  kind: string,
  argument: 'after' | 'before',
  cursor: string | null | undefined,
): number | undefined {
  if (cursor == null) return undefined;
  const [cursorKind, id] = decodeCursor(cursor) ?? [];

  if (cursorKind !== kind || !Number.isSafeInteger(id)) {
    throw invalidArgumentError(argument, 'This is not a valid cursor for this list.');
  }

  return id as number;
}

/** Reads a page as a connection. Rows are counted only if a client selects `totalCount`. */
export async function readIdPage(
  kind: string,
  args: CursorArgs,
  findRows: (window: IdWindow) => Promise<{ id: number }[]>,
  totalCount: () => Promise<number>,
): Promise<object> {
  const first = validatePageSize('first', args.first, MAX_PAGE_SIZE);
  const last = validatePageSize('last', args.last, MAX_PAGE_SIZE);

  if (first !== undefined && last !== undefined) {
    throw invalidArgumentError('last', 'Use either first or last, not both.');
  }

  const olderThanId = parseCursor(kind, 'after', args.after);
  const newerThanId = parseCursor(kind, 'before', args.before);
  const isBackward = last !== undefined;
  const pageSize = first ?? last ?? DEFAULT_PAGE_SIZE;
  const rows = await findRows({
    olderThanId,
    newerThanId,
    oldestFirst: isBackward,
    limit: pageSize + 1,
  });
  const hasMore = rows.length > pageSize;
  const nodes = hasMore ? rows.slice(0, pageSize) : rows;

  if (isBackward) nodes.reverse();
  // The row that a cursor names is outside the page. Therefore a page after a cursor has a
  // previous page, and a page before a cursor has a next one.
  const hasNextPage = isBackward ? newerThanId !== undefined : hasMore;
  const hasPreviousPage = isBackward ? hasMore : olderThanId !== undefined;
  const edges = nodes.map((node) => ({ cursor: encodeCursor([kind, Number(node.id)]), node }));

  return {
    nodes,
    edges,
    pageInfo: {
      hasNextPage,
      hasPreviousPage,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount,
  };
}
