/**
 * Post/Redirect/Get: redirects after a successful write by an HTML form, so that a reload repeats
 * only a read. A short-lived cookie makes the next page show a notice such as “Saved.” once.
 */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { IncomingHttpHeaders } from 'node:http';
import type { RenderInput } from '../../rest/request';
import { detailPath, listPath } from './view/page-routes';
import type { WriteNotice } from './view/view-model';

const COOKIE_NAME = 'fitgraph-notice';
const NOTICE_LIFETIME_SECONDS = 60;

export const NOTICE_BY_METHOD: Readonly<Record<string, WriteNotice>> = {
  POST: 'created',
  PUT: 'saved',
  PATCH: 'saved',
  DELETE: 'deleted',
};

/** Scheme, host and path of the service. */
type ServiceUrl = Record<'baseUrl' | 'basePath', string>;

const noticeCookie = (
  notice: WriteNotice | undefined,
  path: string,
  { baseUrl, basePath }: ServiceUrl,
): string =>
  stringifySetCookie(COOKIE_NAME, notice ?? '', {
    httpOnly: true,
    sameSite: 'strict',
    path: basePath + path,
    secure: baseUrl.startsWith('https:'),
    maxAge: notice ? NOTICE_LIFETIME_SECONDS : 0,
  });

export function readNotice({ cookie }: IncomingHttpHeaders): WriteNotice | undefined {
  const value = cookie === undefined ? undefined : parseCookie(cookie)[COOKIE_NAME];

  return Object.values(NOTICE_BY_METHOD).find((notice) => notice === value);
}

/** Deletes the notice cookie. Sent with the page that shows the notice. */
export const noticeDeletionHeader = (
  path: string,
  serviceUrl: ServiceUrl,
): Record<string, string> => ({ 'Set-Cookie': noticeCookie(undefined, path, serviceUrl) });

/** Headers of the redirect after a successful write by an HTML form. */
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
  ) {
    return undefined;
  }

  const { endpoint } = route;
  const id = route.kind === 'detail' ? route.id : (restResponse.body as { id: number }).id;
  const location =
    method === 'DELETE' ? listPath(endpoint.view.restName) : detailPath(endpoint.view.restName, id);

  return {
    Location: location,
    'Set-Cookie': noticeCookie(notice, location, context.request),
  };
}
