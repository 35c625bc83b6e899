/** Security headers of HTML pages: content security policy, framing, referrer and caching. */
import { createHash } from 'node:crypto';
import { PRIVATE_CACHE_CONTROL } from '../rest/response';
import { DEFAULT_STYLE } from './style';

/** Returns the Content-Security-Policy source that permits the inline style sheet `style`, identified by its hash. */
export const inlineStyleSource = (style: string): string => `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** Returns the security headers of an HTML page. `styles` and `connections` are the sources of `style-src` and `connect-src`. */
export const securityHeaders = (styles: string, connections = "'none'"): Readonly<Record<string, string>> => ({
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
  // Pages must not be cached, because they contain personal data: the user name, CSRF tokens, API keys.
  'Cache-Control': PRIVATE_CACHE_CONTROL,
});

export const PAGE_HEADERS = securityHeaders(inlineStyleSource(DEFAULT_STYLE));
