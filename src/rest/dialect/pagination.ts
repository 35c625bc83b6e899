/** Limit and offset of a list, and the links to its neighbours. */
import { MAX_INTEGER } from '../../contract/bounds';
import { integerOf } from '../../platform/reading';
import { lastOf } from './query';

export const DEFAULT_LIMIT = 20;
/** A larger limit counts as this one, a larger offset as that one. */
export const MAX_LIMIT = 10_000;
/** Of a page for people; who wants all at once takes JSON. */
export const MAX_SHOWN = 100;
export const MAX_OFFSET = MAX_INTEGER;

export interface Window {
  limit: number;
  offset: number;
}

export function windowOf(query: URLSearchParams, most = MAX_LIMIT): Window {
  const limit = integerOf(lastOf(query, 'limit') ?? '') ?? 0;
  const offset = integerOf(lastOf(query, 'offset') ?? '') ?? 0;
  return { limit: limit > 0 ? Math.min(limit, most) : DEFAULT_LIMIT, offset: Math.min(Math.max(offset, 0), MAX_OFFSET) };
}

/** As Python's `quote_plus` does it. */
const quote = (text: string) =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

/** The parameters, sorted by key, with these set or (null) left out. */
export function link(url: string, query: URLSearchParams, changes: Record<string, string | null>): string {
  const values = new Map<string, string[]>();
  for (const [key, value] of query) {
    const known = values.get(key);
    if (known) known.push(value);
    else values.set(key, [value]);
  }
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) values.delete(key);
    else values.set(key, [value]);
  }
  const keys = [...values.keys()].sort();
  const pairs = keys.flatMap((key) => values.get(key)!.map((value) => `${quote(key)}=${quote(value)}`));
  return pairs.length ? `${url}?${pairs.join('&')}` : url;
}

/** The page envelope. `url` is absolute and without parameters. */
export function page<T>(url: string, query: URLSearchParams, { limit, offset }: Window, count: number, results: T[]) {
  const to = (start: number) => link(url, query, { limit: String(limit), offset: start > 0 ? String(start) : null });
  return {
    count,
    next: offset + limit < count ? to(offset + limit) : null,
    previous: offset > 0 ? to(offset - limit) : null,
    results,
  };
}
