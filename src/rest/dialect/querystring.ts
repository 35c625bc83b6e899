/** Parses a query string. A question mark at its start belongs to the first name: the `&` keeps `URLSearchParams` from dropping it. */
export const parseQuery = (text: string): URLSearchParams => new URLSearchParams(`&${text}`);

/** Returns the last value of a parameter, because later repetitions win as in Django. */
export const lastValueOf = (query: URLSearchParams, key: string): string | undefined => query.getAll(key).at(-1);
