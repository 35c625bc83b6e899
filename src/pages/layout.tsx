/** Layout of every HTML page: head, navigation, breadcrumbs and main content. Works without JavaScript, in light and dark mode, on narrow screens. */
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { DEFAULT_STYLE } from './style';

export interface Crumb {
  label: string;
  /** URL of the page to which the breadcrumb links; absent for the current page. */
  href?: string;
}

export interface Visitor {
  /** Name of the signed-in user; absent if nobody is signed in. */
  username?: string;
  /** CSRF token of the session; present if the user is signed in with a session cookie. */
  csrfToken?: string;
}

interface PageProps {
  title: string;
  visitor: Visitor;
  /** Breadcrumbs after the link to the home page. */
  crumbs?: readonly Crumb[];
  /** URL to return to after login. */
  returnUrl?: string;
  /** Style sheet that replaces the default one. */
  style?: string;
  head?: ComponentChildren;
  children: ComponentChildren;
}

function Navigation({ visitor, returnUrl }: Pick<PageProps, 'visitor' | 'returnUrl'>) {
  return (
    <nav aria-label="Main">
      <a class="brand" href="/">
        Fitgraph
      </a>
      <a href="/api/v2/">REST API</a>
      <a href="/playground">Playground</a>
      <a href="/api/v2/schema/docs">Reference</a>
      <span class="grow" />
      {visitor.username === undefined ? (
        <a
          href={returnUrl === undefined ? '/login' : `/login?next=${encodeURIComponent(returnUrl)}`}
        >
          Sign in
        </a>
      ) : (
        <>
          <a href="/user/api-key">{visitor.username}</a>
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

function Page({
  title,
  visitor,
  crumbs = [],
  returnUrl,
  style = DEFAULT_STYLE,
  head,
  children,
}: PageProps) {
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
          <Navigation visitor={visitor} returnUrl={returnUrl} />
        </header>
        {crumbs.length > 0 && <Breadcrumbs crumbs={crumbs} />}
        <main id="content">{children}</main>
      </body>
    </html>
  );
}

export const renderPage = (props: PageProps): string =>
  `<!doctype html>${renderToString(<Page {...props} />)}`;
