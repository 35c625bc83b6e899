/** Headers of every page: what it may load, who may frame it, and that nobody keeps it. */
import { createHash } from 'node:crypto';
import { PRIVATE } from '../rest/respond';
import { STYLE } from './style';

/** As a source of styles: this very sheet, inlined. */
export const inlined = (style: string): string => `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** `styles` are those that a page may have; `connections` where its scripts may send requests. */
export const protection = (styles: string, connections = "'none'"): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    `connect-src ${connections}`,
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // A page knows its visitor: names, tokens of forms, keys.
  'Cache-Control': PRIVATE,
});

export const PAGE_HEADERS = protection(inlined(STYLE));
