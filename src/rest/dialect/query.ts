/** Query string parser (application/x-www-form-urlencoded). */

/** Parses a query or an encoded form. The added `&` keeps a leading question mark, which `URLSearchParams` would drop, as a part of the first name. */
export const queryOf = (text: string): URLSearchParams => new URLSearchParams(`&${text}`);

/** Returns the last value of a parameter, because later repetitions win as in Django. */
export const lastOf = (query: URLSearchParams, key: string): string | undefined => query.getAll(key).at(-1);
