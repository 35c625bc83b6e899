/** Syntax of the Idempotency-Key header and the retention of stored responses. */
export const IDEMPOTENCY_KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;
export const KEY_RETENTION_HOURS = 24;
