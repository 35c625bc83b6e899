/** Page for a failed request: what happened, and when and how to try again. */
import Negotiator from 'negotiator';
import { renderPage } from './layout';
import { PAGE_HEADERS } from './security-headers';

export interface RequestFailure {
  status: number;
  message: string;
  retryAfterSeconds?: number | string;
  request: { method?: string; url?: string };

  /** Path of PUBLIC_URL; usually empty. */
  basePath: string;
}

const TITLE_BY_STATUS: Readonly<Record<number, string>> = {
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Temporarily unavailable',
};

/** Longer `Accept` headers are not parsed. Browsers send about 200 characters. */
const MAX_ACCEPT_HEADER_CHARACTERS = 4000;
const JSON_URL_PATTERN = /[?&]format=json(?:&|$)|\.json\/?(?:\?|$)/;
const LOCAL_URL_PATTERN = /^\/(?![/\\])/;

/** Whether the client prefers HTML to JSON, as a browser does. */
export function prefersHtml(acceptHeader: string | undefined, url = ''): boolean {
  if (
    !acceptHeader?.includes('text/html') ||
    acceptHeader.length > MAX_ACCEPT_HEADER_CHARACTERS ||
    JSON_URL_PATTERN.test(url)
  ) {
    return false;
  }

  const negotiator = new Negotiator({ headers: { accept: acceptHeader } });

  return negotiator.mediaType(['application/json', 'text/html']) === 'text/html';
}

export const formatSeconds = (seconds: number | string): string =>
  `${seconds} ${Number(seconds) === 1 ? 'second' : 'seconds'}`;

function RetryAdvice({
  retryAfterSeconds,
  request: { method = 'GET', url = '/' },
}: RequestFailure) {
  const waitAdvice =
    retryAfterSeconds === undefined ? '' : `Wait ${formatSeconds(retryAfterSeconds)}, then `;

  if (method !== 'GET' && method !== 'HEAD') {
    return (
      <p>{`${waitAdvice || 'To try again, '}reload this page to send your input again. It is stored only once, even if it has been stored already.`}</p>
    );
  }

  const isLocalUrl = LOCAL_URL_PATTERN.test(url);
  const linkText = waitAdvice ? 'try again' : 'Try again';

  return (
    <p>
      {waitAdvice}
      {isLocalUrl ? <a href={url}>{linkText}</a> : 'try again'}.
    </p>
  );
}

/** Renders the page without a user name, because a request may fail before it is authenticated. */
export function renderFailurePage(failure: RequestFailure): {
  htmlText: string;
  headers: Readonly<Record<string, string>>;
} {
  const { status, message, basePath, request } = failure;
  const title = TITLE_BY_STATUS[status] ?? 'Request failed';
  const htmlText = renderPage({
    title,
    visitor: { basePath, returnUrl: request.method === 'GET' ? request.url : undefined },
    children: (
      <>
        <h1>{title}</h1>
        <p class="alert" role="alert">
          {message}
        </p>
        <RetryAdvice {...failure} />
      </>
    ),
  });

  return { htmlText, headers: { 'Content-Type': 'text/html; charset=utf-8', ...PAGE_HEADERS } };
}
