/** Syntax of idempotency keys, and retention of the stored responses. */
export const IDEMPOTENCY_KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;
export const KEY_RETENTION_HOURS = 24;
