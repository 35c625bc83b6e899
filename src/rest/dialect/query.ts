/** The parameters of an address, which are written as those of a form. */

/** A question mark at the start is the first character of the first name, which `URLSearchParams` would drop. */
export const queryOf = (text: string): URLSearchParams => new URLSearchParams(`&${text}`);

/** Of repeated parameters the last counts. */
export const lastOf = (query: URLSearchParams, key: string): string | undefined => query.getAll(key).at(-1);
