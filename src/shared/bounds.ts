/** Value ranges of PostgreSQL column types. */

/** Maximum of PostgreSQL's 32-bit `integer`, and thus of row ids. */
export const MAX_INTEGER = 2_147_483_647;
export const MIN_INTEGER = -MAX_INTEGER - 1;

/** Source of a regular expression for UUIDs as PostgreSQL writes them, without anchors. */
export const UUID_REGEX_SOURCE = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const UUID_PATTERN = new RegExp(`^${UUID_REGEX_SOURCE}$`);

export const isUuid = (text: string): boolean => UUID_PATTERN.test(text);
