/** The API as pages: every answer with what a person wants to know of it, and what they can do next. */
import { setImmediate } from 'node:timers/promises';
import { renderPage } from '../layout';
import { protection } from '../protection';
import { SUGGEST_PATH } from '../suggest';
import { MAX_SHOWN } from '../../rest/dialect/pagination';
import type { Page, Shown, Sources } from '../../rest/page';
import { viewsOf } from './view/browse';
import type { HtmlView } from './view/view';
import { chartOf, type Chart } from './chart';
import { headlineOf, Trouble } from './errors';
import { Forms, Problems } from './forms';
import { Images } from './images';
import { highlight } from './json';
import { address, envelopeOf, Filters, Neighbours, Ordering } from './lists';
import { Nutrition } from './nutrition';
import { crumbsOf, Related, Resources } from './places';
import { AsGraphQL, Exchange, Options } from './request';
import { BROWSE_STYLE } from './style';
import { Words } from './words';

const NOTICES: Readonly<Record<string, string>> = { POST: 'Created.', PUT: 'Saved.', PATCH: 'Saved.', DELETE: 'Deleted.' };

function Notice({ view }: { view: HtmlView }) {
  const { method, status, kind, resource, base, path } = view;
  const notice = NOTICES[method];
  if (!notice || status >= 300 || kind === 'login' || !resource) return null;
  return (
    <p class="notice" role="status">
      <strong>{notice}</strong>{' '}
      {method === 'POST' && (
        <>
          Its address is <a href={path}>{path}</a>.{' '}
        </>
      )}
      <a href={`${base}/${resource.name}/`}>All of {resource.name}</a>
    </p>
  );
}

/** Of a list: how many of its rows are drawn, and a way to more. */
function Share({ view }: { view: HtmlView }) {
  const envelope = envelopeOf(view);
  if (!envelope) return null;
  const { count, results } = envelope;
  const all = Math.min(count, MAX_SHOWN);
  return (
    <span class="help">
      {`${results.length} of ${count} rows`}
      {results.length < all && (
        <>
          {' · '}
          <a href={address(view, { limit: String(all), offset: null })}>{all === count ? 'draw all' : `draw ${all}`}</a>
        </>
      )}
    </span>
  );
}

function Drawing({ view, chart }: { view: HtmlView; chart: Chart }) {
  return (
    <figure class="chart">
      <figcaption>
        {chart.title} <Share view={view} />
      </figcaption>
      <div
        class="scroll"
        tabIndex={0}
        role="img"
        aria-label={`${chart.title}. ${chart.summary}`}
        dangerouslySetInnerHTML={{ __html: chart.svg }}
      />
    </figure>
  );
}

function Json({ view }: { view: HtmlView }) {
  const { body, links, base } = view;
  if (body === undefined) return <p>The answer has no body.</p>;
  return (
    <>
      <h2>Answer</h2>
      <pre
        class="json"
        tabIndex={0}
        role="region"
        aria-label="The answer as JSON"
        dangerouslySetInnerHTML={{ __html: highlight(body, links, base) }}
      />
    </>
  );
}

function Content({ view, chart }: { view: HtmlView; chart?: Chart }) {
  const { resource, description, orderable } = view;
  const failed = view.forms.some((form) => form.failed);
  const isList = envelopeOf(view) !== undefined;
  return (
    <>
      <h1>
        {headlineOf(view)}
        {resource?.owned && isList && <span class="tag">yours</span>}
      </h1>
      {description && (
        <p class="lead">
          <Words text={description} />
        </p>
      )}
      <Notice view={view} />
      <Problems view={view} />
      <Trouble view={view} />
      <Exchange view={view} />
      <Related view={view} />
      {failed && <Forms view={view} />}
      <Filters view={view} />
      {isList && orderable.length > 0 && <Ordering view={view} />}
      {chart && <Drawing view={view} chart={chart} />}
      <Nutrition view={view} />
      <Images view={view} />
      <Resources view={view} />
      <Json view={view} />
      <Neighbours view={view} label="Pages" />
      <AsGraphQL view={view} />
      <Options view={view} />
      {!failed && <Forms view={view} />}
    </>
  );
}

/** Bars and charts have styles of their own, which change with the data. */
const STYLES = "'unsafe-inline'";
const headers = protection(STYLES);
const suggestingHeaders = protection(STYLES, "'self'");

export async function browsePage(view: HtmlView): Promise<Page> {
  const chart = await chartOf(view);
  const suggests = [...view.filters, ...view.forms.flatMap(({ controls }) => controls)].some(({ searched }) => searched);
  const text = renderPage({
    title: view.id === undefined ? headlineOf(view) : `${headlineOf(view)} ${view.id}`,
    visitor: view.visitor,
    crumbs: crumbsOf(view),
    style: BROWSE_STYLE,
    head: suggests && <script src={SUGGEST_PATH} defer />,
    children: <Content view={view} chart={chart} />,
  });
  return { text, headers: suggests ? suggestingHeaders : headers };
}

/** What a person is shown instead of bare JSON. */
export function browsePages(sources: Sources): (shown: Shown) => Promise<Page> {
  const viewOf = viewsOf(sources);
  return async (shown) => {
    const view = await viewOf(shown);
    // Others are heard in between.
    await setImmediate();
    return browsePage(view);
  };
}
