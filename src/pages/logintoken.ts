/**
 * The CSRF token of the sign-in form, where there is no session yet that it could belong to: the form sends what a cookie says too. Other
 * sites' pages can neither read that cookie nor have it sent along.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';

const NAME = 'fitgraph-login';
const PATH = '/login';
const LIFETIME_SECONDS = 60 * 60;
const TOKEN = /^[\w-]{43}$/;

export const newLoginToken = (): string => randomBytes(32).toString('base64url');

export function loginTokenOf(cookies: string | undefined): string | undefined {
  const token = cookies === undefined ? undefined : parseCookie(cookies)[NAME];
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** The Set-Cookie header that gives the browser a token, or takes it away. */
export const loginTokenCookie = (token: string | undefined, secure: boolean): string =>
  stringifySetCookie(NAME, token ?? '', {
    httpOnly: true,
    sameSite: 'strict',
    path: PATH,
    secure,
    maxAge: token === undefined ? 0 : LIFETIME_SECONDS,
  });

export function isLoginToken(expected: string | undefined, actual: string | undefined): boolean {
  if (expected === undefined || actual === undefined) return false;
  const [a, b] = [Buffer.from(expected), Buffer.from(actual)];
  return a.length === b.length && timingSafeEqual(a, b);
}
