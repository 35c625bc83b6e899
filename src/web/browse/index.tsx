/**
 * Browsable API: renders REST responses as HTML pages with tables, forms and charts
 * (https://www.django-rest-framework.org/topics/browsable-api/).
 */
import { setImmediate } from 'node:timers/promises';
import { renderFailurePage } from '../failure-page';
import { renderPage } from '../layout';
import { LocalTimesScript, TimeZoneNote } from '../local-times';
import { securityHeaders } from '../security-headers';
import { AUTOCOMPLETE_SCRIPT_PATH } from '../autocomplete';
import { CATALOGUE_PATH } from '../catalogue/request';
import type { HtmlPage, HtmlRenderer } from '../../rest/request';
import { ViewBuilder, type ViewDependencies } from './view/view-builder';
import { createTypedTextInterpreter } from './view/name-resolver';
import { listPath } from './view/page-routes';
import type { HtmlView, WriteNotice } from './view/view-model';
import { chartsOf, type ChartModel } from './time-charts';
import { Charts } from './charts';
import {
  headlineOf,
  ErrorExplanation,
  isArgumentMissing,
  MissingArgumentMessage,
} from './http-errors';
import { WriteForms, ErrorSummary } from './forms';
import { listResponseOf, FilterForm, Pagination } from './list-controls';
import { hasNutritionValues, NutritionSection } from './nutrition';
import { crumbsOf, ActionLinks, ResourceList } from './navigation';
import { ApiDetails, csvExportUrlOf } from './api-details';
import { cardLabelCss, RowTable } from './row-table';
import { BROWSE_STYLE } from './style';
import { noticeDeletionHeader, NOTICE_BY_METHOD, redirectHeadersAfterWrite } from './post-redirect';
import { SearchResults, searchResultsOf } from './search-results';
import { TrainingPlanSection } from './training-plan';
import { ChildLists, childListsOf, FieldList, childTableClass } from './detail';
import { TextWithUnbrokenDates, TextWithCode } from './rich-text';

const NOTICE_TEXTS: Readonly<Record<WriteNotice, string>> = {
  created: 'Created.',
  saved: 'Saved.',
  deleted: 'Deleted.',
};

/** Notice that a row was created, saved or deleted, by the previous page or by this request. */
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

/** Parameters for spreadsheets in languages with a decimal comma. */
const SPREADSHEET_PARAMETERS = { delimiter: ';', decimal: ',', bom: '1' };

function PageContent({ view, charts }: { view: HtmlView; charts: readonly ChartModel[] }) {
  const { resource, description, table, kind, status } = view;
  const hasFailedForm = view.form?.isRejected;
  const isList = listResponseOf(view) !== undefined;
  const isFormFirst = hasFailedForm || kind === 'list';
  const csvUrl = csvExportUrlOf(view);
  const pageShowsData =
    table !== undefined ||
    (kind === 'detail' && view.detailRow !== undefined) ||
    kind === 'root' ||
    isArgumentMissing(view) ||
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
      <Notice view={view} />
      <ErrorSummary view={view} />
      <ErrorExplanation view={view} />
      <MissingArgumentMessage view={view} />
      {isFormFirst && <WriteForms view={view} />}
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
          Download all rows: <a href={csvUrl}>CSV</a>,{' '}
          <a href={csvExportUrlOf(view, SPREADSHEET_PARAMETERS)}>
            CSV with semicolons and decimal commas
          </a>
        </p>
      )}
      {!table && <NutritionSection view={view} />}
      <SearchResults view={view} />
      {kind === 'detail' && <FieldList view={view} />}
      {kind === 'detail' && view.visitor.isCurator && resource?.isOwned === false && (
        <p>
          <a href={`${CATALOGUE_PATH}/${view.endpoint!.resource.rowQueryName}/${view.rowId}`}>
            Edit in the catalogue
          </a>
        </p>
      )}
      {pageHasTimes(view) && <TimeZoneNote timeZone={view.timeZone} />}
      <TrainingPlanSection view={view} />
      <ChildLists view={view} />
      <ResourceList view={view} />
      <ActionLinks view={view} />
      {!isFormFirst && <WriteForms view={view} />}
      <ApiDetails view={view} isInitiallyOpen={!pageShowsData && !hasFailedForm} />
    </>
  );
}

function pageHasTimes(view: HtmlView): boolean {
  const tables = [view.table, ...childListsOf(view).map(({ table }) => table)];
  const tableCells = tables.flatMap((table) => table?.rows.flatMap(({ cells }) => cells) ?? []);
  const fieldCells = view.kind === 'detail' ? (view.detailRow?.fields ?? []) : [];

  return [...tableCells, ...fieldCells.map(({ cell }) => cell)].some(({ time }) => time);
}

const LIST_TABLE_CSS_CLASS = 'listed';

/** CSS that labels the values of all tables on narrow screens, where rows are shown as cards. */
const pageCardLabelCss = (view: HtmlView): string =>
  [
    ...(view.table ? [cardLabelCss(LIST_TABLE_CSS_CLASS, view.table)] : []),
    ...childListsOf(view).map(({ table }, index) => cardLabelCss(childTableClass(index), table)),
  ].join('');

/**
 * Bars and charts have inline styles that depend on the data, so the Content Security Policy cannot
 * allow them by their hashes.
 */
const STYLE_SOURCES = "'unsafe-inline'";
const pageHeaders = securityHeaders(STYLE_SOURCES);
const suggestionPageHeaders = securityHeaders(STYLE_SOURCES, "'self'");

/** Document title. For a row it consists of the name and the type. */
function documentTitleOf(view: HtmlView): string {
  const { kind, resource, detailRow, actionName, status } = view;
  const headline = headlineOf(view);

  if (status >= 400 || !detailRow || !resource) return headline;
  if (kind !== 'detail' || actionName !== undefined) return `${headline} – ${detailRow.name}`;

  if (headline.startsWith(resource.singularLabel)) return headline;

  return `${headline} – ${resource.singularLabel}`;
}

export function renderBrowsePage(view: HtmlView): HtmlPage {
  const charts = chartsOf(view);
  const cardStyle = pageCardLabelCss(view);
  const hasSuggestions = [...view.filters, ...(view.form?.controls ?? [])].some(
    ({ searchedTypeName }) => searchedTypeName,
  );
  const htmlText = renderPage({
    title: documentTitleOf(view),
    visitor: view.visitor,
    crumbs: crumbsOf(view),
    style: `${BROWSE_STYLE}@media screen and (max-width:44rem){${cardStyle}}`,
    head: (
      <>
        {hasSuggestions && <script src={AUTOCOMPLETE_SCRIPT_PATH} defer />}
        {pageHasTimes(view) && <LocalTimesScript />}
      </>
    ),
    children: <PageContent view={view} charts={charts} />,
  });

  return {
    htmlText,
    headers: {
      ...(hasSuggestions ? suggestionPageHeaders : pageHeaders),
      ...(view.notice &&
        noticeDeletionHeader(view.path, {
          baseUrl: view.baseUrl,
          basePath: view.visitor.basePath,
        })),
    },
  };
}

export function htmlRenderer(dependencies: ViewDependencies): HtmlRenderer {
  const viewBuilder = new ViewBuilder(dependencies);

  return {
    interpretTypedText: createTypedTextInterpreter(dependencies),
    redirectHeaders: redirectHeadersAfterWrite,
    renderError({ request: { message, context }, restResponse: { status, body }, headers }) {
      const { detail = 'The request failed.' } = (body ?? {}) as { detail?: string };

      return renderFailurePage({
        status,
        message: detail,
        retryAfterSeconds: headers['Retry-After'],
        request: message,
        basePath: context.request.basePath,
      });
    },
    async render(input) {
      const view = await viewBuilder.buildView(input);

      // Yields to the event loop between reading the data and rendering the page.
      await setImmediate();
      const startedAt = performance.now();
      const page = renderBrowsePage(view);

      input.request.context.chargeMilliseconds(performance.now() - startedAt);
      return page;
    },
  };
}
