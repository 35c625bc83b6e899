/**
 * Layout of every HTML page: head, navigation, breadcrumbs and main content. Works without
 * JavaScript, in light and dark mode and on narrow screens.
 */
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { PreferredTimeZone } from './local-times';
import { DEFAULT_STYLE } from './style';

export interface Crumb {
  label: string;

  /** Target of the breadcrumb. Absent for the current page. */
  href?: string;
}

export interface Visitor {
  /** Name of the signed-in user. Absent for anonymous clients. */
  username?: string;

  /** CSRF token of the session. Present only after a login in the browser. */
  csrfToken?: string;

  /** Whether to link to the pages of superusers. */
  isSuperuser?: boolean;

  /** Whether to link from rows of the catalogue to the pages on which curators write them. */
  isCurator?: boolean;

  /** URL of this page, to which the visitor returns after login. */
  returnUrl?: string;

  /** Time zone that the user prefers, in which the page shows times. */
  timeZone?: string;

  /** Path of PUBLIC_URL, below which the links of the page lead; usually empty. */
  basePath: string;
}

interface PageProps {
  title: string;
  visitor: Visitor;

  /** Breadcrumbs after the link to the home page. */
  crumbs?: readonly Crumb[];

  /** Style sheet that replaces the default one. */
  style?: string;
  head?: ComponentChildren;
  children: ComponentChildren;
}

/** Longer URLs are shortened to their path, because proxies reject long ones. */
const MAX_RETURN_URL_LENGTH = 2_000;

/** Query of a sign-in, which leads back to a page of this site. */
export function nextQuery(returnUrl: string | undefined): string {
  if (returnUrl === undefined) return '';
  const isTooLong = returnUrl.length > MAX_RETURN_URL_LENGTH;
  const next = isTooLong ? returnUrl.split('?', 1)[0]! : returnUrl;

  return `?next=${encodeURIComponent(next)}`;
}

export const loginUrl = (returnUrl: string | undefined): string => `/login${nextQuery(returnUrl)}`;

function Navigation({ visitor }: Pick<PageProps, 'visitor'>) {
  const isAnonymous = visitor.username === undefined;

  return (
    <nav aria-label="Main">
      <a class="brand" href="/">
        Fitgraph
      </a>
      <a href="/api/v2/">REST API</a>
      <a href="/playground">Playground</a>
      <a href="/api/v2/schema/docs">Reference</a>
      <a href="/docs">Guides</a>
      {!isAnonymous && <a href="/catalogue">Catalogue</a>}
      {visitor.isSuperuser && <a href="/admin">Administration</a>}
      <span class="grow" />
      {isAnonymous && <a href={loginUrl(visitor.returnUrl)}>Sign in</a>}
      {!isAnonymous && (
        <>
          <a href="/user">{visitor.username}</a>
          <form method="post" action="/logout" class="inline">
            <input type="hidden" name="csrfToken" value={visitor.csrfToken} />
            <button class="link">Sign out</button>
          </form>
        </>
      )}
    </nav>
  );
}

const HOME_CRUMB: Crumb = { label: 'Fitgraph', href: '/' };

function Breadcrumbs({ crumbs }: { crumbs: readonly Crumb[] }) {
  return (
    <nav aria-label="Breadcrumbs" class="crumbs">
      <ol>
        {[HOME_CRUMB, ...crumbs].map(({ label, href }) => (
          <li key={label}>
            {href ? <a href={href}>{label}</a> : <span aria-current="page">{label}</span>}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Page({ title, visitor, crumbs = [], style = DEFAULT_STYLE, head, children }: PageProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} – Fitgraph`}</title>
        <link rel="icon" href="data:," />
        <style dangerouslySetInnerHTML={{ __html: style }} />
        {head}
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <header>
          <Navigation visitor={visitor} />
        </header>
        {crumbs.length > 0 && <Breadcrumbs crumbs={crumbs} />}
        <main id="content">{children}</main>
      </body>
    </html>
  );
}

/** Attributes with a path of this server. Quotation marks elsewhere in the HTML are escaped. */
const PATH_ATTRIBUTE_PATTERN = / (href|src|action|data-document)="\/(?!\/)/g;

/** Renders a page, and inserts the base path into the links of all its components. */
export function renderPage(props: PageProps): string {
  const { basePath } = props.visitor;
  const page = (
    <PreferredTimeZone.Provider value={props.visitor.timeZone}>
      <Page {...props} />
    </PreferredTimeZone.Provider>
  );
  const html = `<!doctype html>${renderToString(page)}`;

  return basePath === '' ? html : html.replace(PATH_ATTRIBUTE_PATTERN, ` $1="${basePath}/`);
}
