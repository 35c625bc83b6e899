/** Page for a failed request: what happened, and when and how to try again. */
import Negotiator from 'negotiator';
import { renderPage } from './layout';
import { PAGE_HEADERS } from './securityheaders';

export interface RequestFailure {
  status: number;
  message: string;
  retryAfterSeconds?: number | string;
  request: { method?: string; url?: string };
}

const TITLE_BY_STATUS: Readonly<Record<number, string>> = {
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Temporarily unavailable',
};

/** Maximum length of the `Accept` header. A longer one is not parsed; browsers send about 200 characters. */
const MAX_ACCEPT_HEADER_CHARACTERS = 4000;
const JSON_URL_PATTERN = /[?&]format=json(?:&|$)|\.json\/?(?:\?|$)/;
const LOCAL_URL_PATTERN = /^\/(?![/\\])/;

/** Whether the client prefers HTML to JSON, as browsers do when they open a page. */
export function prefersHtml(acceptHeader: string | undefined, url = ''): boolean {
  if (
    !acceptHeader?.includes('text/html') ||
    acceptHeader.length > MAX_ACCEPT_HEADER_CHARACTERS ||
    JSON_URL_PATTERN.test(url)
  )
    return false;
  return (
    new Negotiator({ headers: { accept: acceptHeader } }).mediaType([
      'application/json',
      'text/html',
    ]) === 'text/html'
  );
}

export const formatWaitingTime = (seconds: number | string): string =>
  `${seconds} ${Number(seconds) === 1 ? 'second' : 'seconds'}`;

function NextStep({ retryAfterSeconds, request: { method = 'GET', url = '/' } }: RequestFailure) {
  const waitAdvice =
    retryAfterSeconds === undefined ? '' : `Wait ${formatWaitingTime(retryAfterSeconds)}, then `;
  if (method !== 'GET' && method !== 'HEAD')
    return (
      <p>{`${waitAdvice || 'To try again, '}reload this page to send your input again. It is stored only once, even if it has been stored already.`}</p>
    );
  return (
    <p>
      {waitAdvice}
      {LOCAL_URL_PATTERN.test(url) ? (
        <a href={url}>{waitAdvice ? 'try again' : 'Try again'}</a>
      ) : (
        'try again'
      )}
      .
    </p>
  );
}

/** Renders the page for a failed request, without a user name: the request may have failed before it was authenticated. */
export function renderFailurePage(failure: RequestFailure): {
  htmlText: string;
  headers: Readonly<Record<string, string>>;
} {
  const { status, message } = failure;
  const title = TITLE_BY_STATUS[status] ?? 'Request failed';
  const htmlText = renderPage({
    title,
    visitor: {},
    children: (
      <>
        <h1>{title}</h1>
        <p class="alert" role="alert">
          {message}
        </p>
        <NextStep {...failure} />
      </>
    ),
  });
  return { htmlText, headers: { 'Content-Type': 'text/html; charset=utf-8', ...PAGE_HEADERS } };
}
