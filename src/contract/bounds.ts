/** What the database can hold. */

/** The largest integer of a column, and so the largest id: 32 bits with a sign. */
export const MAX_INTEGER = 2_147_483_647;
export const MIN_INTEGER = -MAX_INTEGER - 1;

/** A UUID as PostgreSQL writes it; a part of patterns. */
export const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const WHOLE_UUID = new RegExp(`^${UUID}$`);
export const isUuid = (text: string): boolean => WHOLE_UUID.test(text);
