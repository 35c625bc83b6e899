/** Query string parser. The added `&` keeps a leading question mark of the first name, which `URLSearchParams` would drop. */
export const parseQuery = (text: string): URLSearchParams => new URLSearchParams(`&${text}`);

/** Returns the last value of a parameter, because later repetitions win as in Django. */
export const lastValueOf = (query: URLSearchParams, key: string): string | undefined => query.getAll(key).at(-1);
