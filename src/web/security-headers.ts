/** Security headers of HTML pages: content security policy, framing, referrer and caching. */
import { createHash } from 'node:crypto';
import { PRIVATE_CACHE_CONTROL } from '../rest/response';
import { DEFAULT_STYLE } from './style';

/** Content Security Policy source that allows an inline style sheet by its hash. */
export const inlineStyleSource = (style: string): string =>
  `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

export const securityHeaders = (
  styleSources: string,
  connectSources = "'none'",
): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styleSources}`,
    `connect-src ${connectSources}`,
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // Pages must not be cached, because they contain the user name, CSRF tokens and API keys.
  'Cache-Control': PRIVATE_CACHE_CONTROL,
});

export const PAGE_HEADERS = securityHeaders(inlineStyleSource(DEFAULT_STYLE));
