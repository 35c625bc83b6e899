/** Limit-offset pagination with links to the next and the previous page. */
import { MAX_INTEGER } from '../../shared/bounds';
import { parseInteger } from './python-scalars';
import { lastValueOf } from './query-string';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 10_000;
export const MAX_ROWS_PER_HTML_PAGE = 100;
export const MAX_OFFSET = MAX_INTEGER;

export interface PageWindow {
  limit: number;
  offset: number;
}

export function parsePageWindow(query: URLSearchParams, maxLimit = MAX_PAGE_SIZE): PageWindow {
  const limit = parseInteger(lastValueOf(query, 'limit') ?? '') ?? 0;
  const offset = parseInteger(lastValueOf(query, 'offset') ?? '') ?? 0;

  return {
    limit: limit > 0 ? Math.min(limit, maxLimit) : DEFAULT_PAGE_SIZE,
    offset: Math.min(Math.max(offset, 0), MAX_OFFSET),
  };
}

/** Percent-encodes like Python's `urllib.parse.quote_plus`. */
const encodeQueryComponent = (text: string) =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

/** Builds a URL with sorted query parameters. A null in `changes` removes a parameter. */
export function withQueryParameters(
  url: string,
  query: URLSearchParams,
  changes: Record<string, string | null>,
): string {
  const newQuery = new URLSearchParams(query);

  for (const [key, value] of Object.entries(changes)) {
    if (value === null) newQuery.delete(key);
    else newQuery.set(key, value);
  }

  newQuery.sort();
  const pairs = [...newQuery].map(
    ([key, value]) => `${encodeQueryComponent(key)}=${encodeQueryComponent(value)}`,
  );

  return pairs.length ? `${url}?${pairs.join('&')}` : url;
}

/**
 * Builds the response body of a list: count, links and rows. `url` is absolute and has no query.
 */
export function buildListResponse<T>(
  url: string,
  query: URLSearchParams,
  { limit, offset }: PageWindow,
  count: number,
  results: T[],
) {
  const pageLink = (start: number) =>
    withQueryParameters(url, query, {
      limit: String(limit),
      offset: start > 0 ? String(start) : null,
    });

  return {
    count,
    next: offset + limit < count ? pageLink(offset + limit) : null,
    previous: offset > 0 ? pageLink(offset - limit) : null,
    results,
  };
}
