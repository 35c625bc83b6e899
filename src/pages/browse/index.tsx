/**
 * Browsable API: renders REST responses as HTML pages with tables, forms and charts. (As in
 * https://www.django-rest-framework.org/topics/browsable-api/)
 */
import { setImmediate } from 'node:timers/promises';
import { renderFailurePage } from '../failurepage';
import { renderPage } from '../layout';
import { securityHeaders } from '../securityheaders';
import { AUTOCOMPLETE_SCRIPT_PATH } from '../autocomplete';
import type { HtmlPage, HtmlRenderer } from '../../rest/htmlrenderer';
import { ViewBuilder, type ViewDependencies } from './view/viewbuilder';
import { createNameResolver } from './view/nameresolver';
import { listPath } from './view/pageroutes';
import type { HtmlView, WriteNotice } from './view/viewmodel';
import { chartsOf, type ShownChart } from './timecharts';
import { Charts } from './charts';
import { headlineOf, ErrorExplanation, lacksArgument, MissingArgumentMessage } from './httperrors';
import { WriteForms, newRowLabel, ErrorSummary } from './forms';
import { ThumbnailList } from './images';
import { listResponseOf, FilterForm, Pagination } from './listcontrols';
import { hasNutritionValues, NutritionSection } from './nutrition';
import { crumbsOf, ActionLinks, ResourceList } from './navigation';
import { ApiDetails, csvExportUrlOf } from './apidetails';
import { cardLabelCss, RowTable } from './rowtable';
import { BROWSE_STYLE } from './style';
import { noticeDeletionHeader, NOTICE_BY_METHOD, redirectHeadersAfterWrite } from './postredirect';
import { SearchResults, searchResultsOf } from './searchresults';
import { TrainingPlanSection } from './trainingplan';
import { ChildLists, childListsOf, FieldList, childTableCssClassOf } from './detail';
import { TextWithUnbrokenDates, TextWithCode } from './richtext';

const NOTICE_TEXTS: Readonly<Record<WriteNotice, string>> = {
  created: 'Created.',
  saved: 'Saved.',
  deleted: 'Deleted.',
};

/** Notice that a row was created, saved or deleted: by the form on the previous page, or by the request to which this page is the response. */
function Notice({ view }: { view: HtmlView }) {
  const { method, status, kind, resource, path } = view;
  const notice = view.notice ?? (status < 300 ? NOTICE_BY_METHOD[method] : undefined);
  if (!notice || (kind !== 'list' && kind !== 'detail') || !resource) return null;
  return (
    <p class="notice" role="status">
      <strong>{NOTICE_TEXTS[notice]}</strong>{' '}
      {method === 'POST' && (
        <>
          <a href={path}>Open</a>{' '}
        </>
      )}
      {kind === 'detail' && (
        <a href={listPath(resource.name)}>All {resource.pluralLabel.toLowerCase()}</a>
      )}
    </p>
  );
}

function PageContent({ view, charts }: { view: HtmlView; charts: readonly ShownChart[] }) {
  const { resource, description, table, kind, status } = view;
  const hasFailedForm = view.forms.some((form) => form.rejectedPart);
  const isList = listResponseOf(view) !== undefined;
  const csvUrl = csvExportUrlOf(view);
  const pageShowsData =
    table !== undefined ||
    (kind === 'detail' && view.detailRow !== undefined) ||
    kind === 'root' ||
    lacksArgument(view) ||
    charts.length > 0 ||
    hasNutritionValues(view) ||
    searchResultsOf(view) !== undefined;
  return (
    <>
      <h1>
        <TextWithUnbrokenDates text={headlineOf(view)} />
        {resource?.isOwned && isList && <span class="tag">yours</span>}
      </h1>
      {description && (isList || kind !== 'detail') && status < 400 && (
        <p class="lead">
          <TextWithCode text={description} />
        </p>
      )}
      {isList && !hasFailedForm && view.forms.length > 0 && (
        <p>
          <a class="button plain" href="#write">
            {newRowLabel(view)}
          </a>
        </p>
      )}
      <Notice view={view} />
      <ErrorSummary view={view} />
      <ErrorExplanation view={view} />
      <MissingArgumentMessage view={view} />
      {hasFailedForm && <WriteForms view={view} />}
      <FilterForm view={view} />
      <Charts view={view} charts={charts} />
      {table && table.rows.length > 0 && (
        <RowTable
          table={table}
          baseUrl={view.baseUrl}
          tableCssClass={LIST_TABLE_CSS_CLASS}
          view={view}
        />
      )}
      <Pagination view={view} />
      {csvUrl !== undefined && (
        <p class="help further">
          Download all rows: <a href={csvUrl}>CSV</a>
        </p>
      )}
      {!table && <NutritionSection view={view} />}
      {!table && <ThumbnailList view={view} />}
      <SearchResults view={view} />
      {kind === 'detail' && <FieldList view={view} />}
      <TrainingPlanSection view={view} />
      <ChildLists view={view} />
      <ResourceList view={view} />
      <ActionLinks view={view} />
      {!hasFailedForm && <WriteForms view={view} />}
      <ApiDetails view={view} isInitiallyOpen={!pageShowsData && !hasFailedForm} />
    </>
  );
}

const LIST_TABLE_CSS_CLASS = 'listed';

/** Returns the CSS that labels the values in all tables of the page on narrow screens, where rows are shown as cards. */
const cardLabelCssOf = (view: HtmlView): string =>
  [
    ...(view.table ? [cardLabelCss(LIST_TABLE_CSS_CLASS, view.table)] : []),
    ...childListsOf(view).map(({ table }, index) =>
      cardLabelCss(childTableCssClassOf(index), table),
    ),
  ].join('');

/** Bars and charts have inline styles that depend on the data, so the Content Security Policy cannot allow them by hash. */
const STYLE_SOURCES = "'unsafe-inline'";
const pageHeaders = securityHeaders(STYLE_SOURCES);
const headersOfPagesWithSuggestions = securityHeaders(STYLE_SOURCES, "'self'");

/** Returns the document title; for a row its name and its type. */
function titleOf(view: HtmlView): string {
  const { kind, resource, detailRow, actionName, status } = view;
  const headline = headlineOf(view);
  if (status >= 400 || !detailRow || !resource) return headline;
  if (kind !== 'detail' || actionName !== undefined) return `${headline} – ${detailRow.name}`;
  return headline.startsWith(resource.singularLabel)
    ? headline
    : `${headline} – ${resource.singularLabel}`;
}

export function renderBrowsePage(view: HtmlView): HtmlPage {
  const charts = chartsOf(view);
  const cardStyle = cardLabelCssOf(view);
  const hasSuggestions = [...view.filters, ...view.forms.flatMap(({ controls }) => controls)].some(
    ({ searchedTypeName }) => searchedTypeName,
  );
  const text = renderPage({
    title: titleOf(view),
    visitor: view.visitor,
    crumbs: crumbsOf(view),
    style: `${BROWSE_STYLE}@media screen and (max-width:44rem){${cardStyle}}`,
    head: hasSuggestions && <script src={AUTOCOMPLETE_SCRIPT_PATH} defer />,
    children: <PageContent view={view} charts={charts} />,
  });
  return {
    htmlText: text,
    headers: {
      ...(hasSuggestions ? headersOfPagesWithSuggestions : pageHeaders),
      ...(view.notice && noticeDeletionHeader(view.path, view.baseUrl)),
    },
  };
}

export function htmlRenderer(dependencies: ViewDependencies): HtmlRenderer {
  const viewBuilder = new ViewBuilder(dependencies);
  return {
    replaceRowNamesWithIds: createNameResolver(dependencies),
    redirectHeaders: redirectHeadersAfterWrite,
    renderError({ request: { message: request }, restResponse: { status, body }, headers }) {
      const { detail = 'The request failed.' } = (body ?? {}) as { detail?: string };
      return renderFailurePage({
        status,
        message: detail,
        retryAfterSeconds: headers['Retry-After'],
        request,
      });
    },
    async render(input) {
      const view = await viewBuilder.buildView(input);
      // Lets the event loop handle other requests between reading the data and rendering the page.
      await setImmediate();
      const startedAt = performance.now();
      const page = renderBrowsePage(view);
      input.request.context.chargeMilliseconds(performance.now() - startedAt);
      return page;
    },
  };
}
