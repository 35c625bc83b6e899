/** Headers of every page: what it may load, who may frame it, and that nobody keeps it. */
import { createHash } from 'node:crypto';
import { STYLE } from './style';

const hash = createHash('sha256').update(STYLE).digest('base64');

/** `styles` are those that a page may have. */
export const protection = (styles: string): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // A page knows its visitor: names, tokens of forms, keys.
  'Cache-Control': 'no-store',
});

export const PAGE_HEADERS = protection(`'sha256-${hash}'`);
