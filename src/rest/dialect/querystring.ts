/**
 * Parses a query string. If it starts with a question mark, this belongs to the first parameter's name. `URLSearchParams` would drop it without the `&`.
 */
export const parseQuery = (text: string): URLSearchParams => new URLSearchParams(`&${text}`);

/** Returns the last value of a parameter, because later repetitions win as in Django. */
export const lastValueOf = (query: URLSearchParams, key: string): string | undefined =>
  query.getAll(key).at(-1);
