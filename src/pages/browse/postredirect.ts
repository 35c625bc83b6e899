/**
 * Post/Redirect/Get: the response to a successful write by an HTML form is a redirect, so that reloading the page repeats only a read. A short-lived
 * cookie, limited to the path of the next page, contains a notice such as “Saved.”, which that page shows once.
 */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { IncomingHttpHeaders } from 'node:http';
import type { RenderInput } from '../../rest/htmlrenderer';
import { detailPath, listPath } from './view/pageroutes';
import type { WriteNotice } from './view/viewmodel';

const COOKIE_NAME = 'fitgraph-notice';
const NOTICE_LIFETIME_SECONDS = 60;
export const NOTICE_BY_METHOD: Readonly<Record<string, WriteNotice>> = {
  POST: 'created',
  PUT: 'saved',
  PATCH: 'saved',
  DELETE: 'deleted',
};

const noticeCookie = (notice: WriteNotice | undefined, path: string, baseUrl: string): string =>
  stringifySetCookie(COOKIE_NAME, notice ?? '', {
    httpOnly: true,
    sameSite: 'strict',
    path,
    secure: baseUrl.startsWith('https:'),
    maxAge: notice ? NOTICE_LIFETIME_SECONDS : 0,
  });

export function noticeOf({ cookie }: IncomingHttpHeaders): WriteNotice | undefined {
  const value = cookie === undefined ? undefined : parseCookie(cookie)[COOKIE_NAME];
  return Object.values(NOTICE_BY_METHOD).find((notice) => notice === value);
}

/** Returns the header that deletes the notice cookie. It is sent with the page that shows the notice. */
export const noticeDeletionHeader = (path: string, baseUrl: string): Record<string, string> => ({
  'Set-Cookie': noticeCookie(undefined, path, baseUrl),
});

/** Returns the headers of the redirect after a write by an HTML form; undefined for other requests, such as those with an access token. */
export function redirectHeadersAfterWrite({
  request,
  restResponse,
}: RenderInput): Record<string, string> | undefined {
  const { form, method, route, context, message } = request;
  const notice = NOTICE_BY_METHOD[method];
  if (
    !form ||
    message.headers.authorization !== undefined ||
    !notice ||
    restResponse.status >= 300 ||
    (route?.kind !== 'list' && route?.kind !== 'detail')
  )
    return undefined;
  const { endpoint } = route;
  const id = route.kind === 'detail' ? route.id : (restResponse.body as { id: number }).id;
  const location =
    method === 'DELETE' ? listPath(endpoint.view.restName) : detailPath(endpoint.view.restName, id);
  return {
    Location: location,
    'Set-Cookie': noticeCookie(notice, location, context.requestInfo.baseUrl),
  };
}
