/** Syntax of the Idempotency-Key header and the retention of stored responses. */
export const KEY = /^[\x21-\x7e]{1,255}$/;
export const KEPT_HOURS = 24;
