/**
 * Post/Redirect/Get: a successful write by an HTML form is answered with a redirect, so that reloading the page repeats a read. A short-lived cookie,
 * limited to the path of the next page, carries the notice that this page shows once.
 */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { IncomingHttpHeaders } from 'node:http';
import type { RenderInput } from '../../rest/htmlrenderer';
import { detailPath, listPath } from './view/pageroutes';
import type { SavedNotice } from './view/viewmodel';

const COOKIE_NAME = 'fitgraph-notice';
const LIFETIME_SECONDS = 60;
export const NOTICE_BY_METHOD: Readonly<Record<string, SavedNotice>> = { POST: 'created', PUT: 'saved', PATCH: 'saved', DELETE: 'deleted' };

const noticeCookie = (notice: SavedNotice | undefined, path: string, baseUrl: string): string =>
  stringifySetCookie(COOKIE_NAME, notice ?? '', {
    httpOnly: true,
    sameSite: 'strict',
    path,
    secure: baseUrl.startsWith('https:'),
    maxAge: notice ? LIFETIME_SECONDS : 0,
  });

/** Returns the notice that the browser carries from the last form. */
export function noticeOf({ cookie }: IncomingHttpHeaders): SavedNotice | undefined {
  const value = cookie === undefined ? undefined : parseCookie(cookie)[COOKIE_NAME];
  return Object.values(NOTICE_BY_METHOD).find((notice) => notice === value);
}

/** Returns the header that deletes the cookie of a page that shows its notice. */
export const forgetNotice = (path: string, baseUrl: string): Record<string, string> => ({
  'Set-Cookie': noticeCookie(undefined, path, baseUrl),
});

export function redirectAfterWrite({ request, answer }: RenderInput): Record<string, string> | undefined {
  const { form, method, route, context } = request;
  const notice = NOTICE_BY_METHOD[method];
  if (!form || !notice || answer.status >= 300 || (route?.kind !== 'list' && route?.kind !== 'detail')) return undefined;
  const { endpoint } = route;
  const id = route.kind === 'detail' ? route.id : (answer.body as { id: number }).id;
  const location = method === 'DELETE' ? listPath(endpoint) : detailPath(endpoint, id);
  return { Location: location, 'Set-Cookie': noticeCookie(notice, location, context.info.baseUrl) };
}
