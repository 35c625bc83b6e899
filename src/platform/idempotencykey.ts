/** What a header Idempotency-Key looks like, and how long its change is remembered. */
export const KEY = /^[\x21-\x7e]{1,255}$/;
export const KEPT_HOURS = 24;
