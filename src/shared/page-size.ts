/** Default and maximum page sizes of both APIs. Also bundled for browsers. */

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 10_000;
