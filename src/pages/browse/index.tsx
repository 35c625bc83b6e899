/**
 * Browsable API: renders REST responses as HTML pages with tables, forms and charts. (As in
 * https://www.django-rest-framework.org/topics/browsable-api/)
 */
import { setImmediate } from 'node:timers/promises';
import { renderPage } from '../layout';
import { protection } from '../protection';
import { SUGGEST_PATH } from '../suggest';
import type { Page, Pages } from '../../rest/page';
import { Views, type Sources } from './view/browse';
import { understanding } from './view/understood';
import type { HtmlView } from './view/view';
import { chartsOf, type Chart } from './chart';
import { Charts } from './charts';
import { headlineOf, Trouble } from './errors';
import { Forms, newOf, Problems } from './forms';
import { Images } from './images';
import { highlight } from './json';
import { address, envelopeOf, Filters, Neighbours } from './lists';
import { isNutrition, Nutrition } from './nutrition';
import { crumbsOf, Related, Resources } from './places';
import { AsGraphQL, Exchange, fileOf, Options } from './request';
import { cardLabels, Table } from './sheets';
import { BROWSE_STYLE } from './style';
import { Suggestions, suggestionsOf } from './suggestions';
import { GROUP, TABS_PATH } from './tabs';
import { Training } from './training';
import { Branches, branchesOf, Facts, markOf } from './things';
import { Unbroken, Words } from './words';

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
          <a href={path}>Open it</a>{' '}
        </>
      )}
      <a href={`${base}/${resource.name}/`}>All {resource.plural.toLowerCase()}</a>
    </p>
  );
}

/** Characters of rows in the JSON panel. A link leads to the complete response. */
const MAX_JSON_LENGTH = 1200;

/** Returns the first rows of a list that fit into the JSON panel, at least one, and the number of rows left out. */
function clipRows(view: HtmlView): { body: unknown; remainingRows: number } {
  const envelope = envelopeOf(view);
  if (!envelope) return { body: view.body, remainingRows: 0 };
  let length = 0;
  const visibleRows = envelope.results.filter((row, index) => (length += JSON.stringify(row).length) <= MAX_JSON_LENGTH || index === 0);
  return { body: { ...envelope, results: visibleRows }, remainingRows: envelope.results.length - visibleRows.length };
}

/** JSON panel; open if nothing else on the page shows the data. */
function JsonPanel({ view, open }: { view: HtmlView; open: boolean }) {
  const { links, base } = view;
  if (view.body === undefined) return null;
  const { body, remainingRows } = clipRows(view);
  return (
    <details open={open} name={GROUP}>
      <summary>JSON</summary>
      <pre
        class="json"
        tabIndex={0}
        role="region"
        aria-label="The answer as JSON"
        dangerouslySetInnerHTML={{ __html: highlight(body, links, base) }}
      />
      {remainingRows > 0 && (
        <p class="help">
          {`${remainingRows} more rows of this page are in `}
          <a href={address(view, { format: 'json', indent: '2' })}>the whole answer</a>.
        </p>
      )}
    </details>
  );
}

function Content({ view, charts }: { view: HtmlView; charts: readonly Chart[] }) {
  const { resource, description, sheet, kind, status } = view;
  const hasFailedForm = view.forms.some((form) => form.failed);
  const isList = envelopeOf(view) !== undefined;
  const csvUrl = fileOf(view);
  const showsData =
    sheet !== undefined ||
    (kind === 'detail' && view.thing !== undefined) ||
    kind === 'root' ||
    charts.length > 0 ||
    isNutrition(view) ||
    suggestionsOf(view) !== undefined;
  return (
    <>
      <h1>
        <Unbroken text={headlineOf(view)} />
        {resource?.owned && isList && <span class="tag">yours</span>}
      </h1>
      {description && (isList || kind !== 'detail') && status < 400 && (
        <p class="lead">
          <Words text={description} />
        </p>
      )}
      {isList && !hasFailedForm && view.forms.length > 0 && (
        <p>
          <a class="button plain" href="#write">
            {newOf(view)}
          </a>
        </p>
      )}
      <Notice view={view} />
      <Problems view={view} />
      <Trouble view={view} />
      {hasFailedForm && <Forms view={view} />}
      <Filters view={view} />
      <Charts view={view} charts={charts} />
      {sheet && sheet.rows.length > 0 && <Table sheet={sheet} baseUrl={view.baseUrl} mark={LIST_TABLE_CLASS} view={view} />}
      <Neighbours view={view} label="Pages" />
      {csvUrl !== undefined && (
        <p class="help further">
          All rows as a file: <a href={csvUrl}>CSV</a>
        </p>
      )}
      {!sheet && <Nutrition view={view} />}
      {!sheet && <Images view={view} />}
      <Suggestions view={view} />
      {kind === 'detail' && <Facts view={view} />}
      <Training view={view} />
      <Branches view={view} />
      <Resources view={view} />
      <Related view={view} />
      {!hasFailedForm && <Forms view={view} />}
      <section class="programs" aria-labelledby="programs">
        <h2 id="programs">For programs</h2>
        <div class="tabs">
          <JsonPanel view={view} open={!showsData && !hasFailedForm} />
          <Exchange view={view} />
          <AsGraphQL view={view} />
          <Options view={view} />
        </div>
      </section>
    </>
  );
}

const LIST_TABLE_CLASS = 'listed';

/** Returns the CSS that labels the values of each table where rows are shown as cards. */
const cardStyleOf = (view: HtmlView): string =>
  [
    ...(view.sheet ? [cardLabels(LIST_TABLE_CLASS, view.sheet)] : []),
    ...branchesOf(view).map(({ sheet }, index) => cardLabels(markOf(index), sheet)),
  ].join('');

/** Bars and charts have inline styles that change with the data, so hashes cannot allow them. */
const STYLE_SOURCES = "'unsafe-inline'";
const headers = protection(STYLE_SOURCES);
const headersWithSuggestions = protection(STYLE_SOURCES, "'self'");

/** Returns the document title: for a row its name and what it is. */
function titleOf(view: HtmlView): string {
  const { kind, resource, thing, action, status } = view;
  const headline = headlineOf(view);
  if (status >= 400 || !thing || !resource) return headline;
  if (kind !== 'detail' || action !== undefined) return `${headline} – ${thing.name}`;
  return headline.startsWith(resource.singular) ? headline : `${headline} – ${resource.singular}`;
}

export async function browsePage(view: HtmlView): Promise<Page> {
  const charts = await chartsOf(view);
  const cardStyle = cardStyleOf(view);
  const hasSuggestions = [...view.filters, ...view.forms.flatMap(({ controls }) => controls)].some(({ searched }) => searched);
  const text = renderPage({
    title: titleOf(view),
    visitor: view.visitor,
    crumbs: crumbsOf(view),
    style: `${BROWSE_STYLE}@media screen and (max-width:44rem){${cardStyle}}`,
    head: (
      <>
        <script src={TABS_PATH} defer />
        {hasSuggestions && <script src={SUGGEST_PATH} defer />}
      </>
    ),
    children: <Content view={view} charts={charts} />,
  });
  return { text, headers: hasSuggestions ? headersWithSuggestions : headers };
}

export function browsePages(sources: Sources): Pages {
  const views = new Views(sources);
  return {
    understand: understanding(sources),
    async show(shown) {
      const view = await views.of(shown);
      // Yields to the event loop between reading and rendering.
      await setImmediate();
      return browsePage(view);
    },
  };
}
