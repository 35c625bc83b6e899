/**
 * CSRF token of the login form, as a double-submit cookie: the form must send the value of the cookie, because there is no session yet that could
 * hold the token. Pages of other sites can neither read the cookie nor make browsers send it (SameSite=Strict).
 * (https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html)
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';

const COOKIE_NAME = 'fitgraph-login';
const COOKIE_PATH = '/login';
const COOKIE_LIFETIME_SECONDS = 60 * 60;
const TOKEN_PATTERN = /^[\w-]{43}$/;

export const newLoginCsrfToken = (): string => randomBytes(32).toString('base64url');

export function loginCsrfTokenOf(cookieHeader: string | undefined): string | undefined {
  const token = cookieHeader === undefined ? undefined : parseCookie(cookieHeader)[COOKIE_NAME];
  return token !== undefined && TOKEN_PATTERN.test(token) ? token : undefined;
}

/** Returns the Set-Cookie header that stores the token, or deletes the cookie if `token` is undefined. */
export const loginCsrfCookie = (token: string | undefined, secure: boolean): string =>
  stringifySetCookie(COOKIE_NAME, token ?? '', {
    httpOnly: true,
    sameSite: 'strict',
    path: COOKIE_PATH,
    secure,
    maxAge: token === undefined ? 0 : COOKIE_LIFETIME_SECONDS,
  });

export function isSameLoginCsrfToken(
  expected: string | undefined,
  actual: string | undefined,
): boolean {
  if (expected === undefined || actual === undefined) return false;
  const [a, b] = [Buffer.from(expected), Buffer.from(actual)];
  return a.length === b.length && timingSafeEqual(a, b);
}
