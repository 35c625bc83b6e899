/**
 * The section "API" of a page: the HTTP request, the JSON response and the equivalent GraphQL
 * operation.
 */
import { STATUS_CODES } from 'node:http';
import { detailPath, listPath } from './view/page-routes';
import type { HtmlView } from './view/view-model';
import { API_KEY_PAGE_PATH } from '../account/account-paths';
import { EXPORT_PATH } from '../export-path';
import { urlWithChangedQuery, listResponseOf } from './list-controls';
import { highlightJson } from './highlight-json';

/** Headers of the request that returns the data of this page as JSON. */
function RequestHeaders({ view }: { view: HtmlView }) {
  const { baseUrl, method, isSignedIn, endpoint } = view;
  const lines = [`Host: ${new URL(baseUrl).host}`, 'Accept: application/json'];

  if (!['GET', 'HEAD', 'DELETE'].includes(method)) {
    const hasImageFields = endpoint?.fields.some(
      ({ hiddenInRest, kind }) => !hiddenInRest && kind === 'image',
    );

    lines.push(`Content-Type: ${hasImageFields ? 'multipart/form-data' : 'application/json'}`);
  }

  return (
    <>
      {lines.map((line) => `\n${line}`)}
      {isSignedIn && (
        <>
          {'\nAuthorization: Token '}
          <a href={API_KEY_PAGE_PATH}>&lt;your key&gt;</a>
        </>
      )}
    </>
  );
}

/** URL that exports all rows of the list as CSV, not only the current page. */
export function csvExportUrlOf(
  view: HtmlView,
  formatParameters: Readonly<Record<string, string>> = {},
): string | undefined {
  const { csvOperation } = view;

  if (!csvOperation || !listResponseOf(view)) return undefined;
  const query = csvOperation.document.replace(/\s+/g, ' ').trim();
  const variables = JSON.stringify(csvOperation.variables);
  const parameters = new URLSearchParams({ query, variables, ...formatParameters });

  return `${EXPORT_PATH}.csv?${parameters.toString()}`;
}

const DISPLAYED_RESPONSE_HEADERS = [
  'Allow',
  'Content-Type',
  'Vary',
  'Server-Timing',
  'Retry-After',
];

/** Links to other REST endpoints that return the same rows with other fields. */
function AlternativeEndpoints({ view: { endpoint, actionName, rowId } }: { view: HtmlView }) {
  const alternativeViews = endpoint?.resource.views.filter((view) => view !== endpoint.view) ?? [];

  if (alternativeViews.length === 0 || actionName !== undefined) return null;

  return (
    <p class="help">
      The same rows with other fields:{' '}
      {alternativeViews.map(({ restName }) => (
        <a
          key={restName}
          href={rowId === undefined ? listPath(restName) : detailPath(restName, rowId)}
        >
          {restName}
        </a>
      ))}
    </p>
  );
}

/**
 * JSON rows beyond this size are replaced by a link to the full response. The first row is always
 * shown.
 */
const MAX_JSON_ROWS_CHARACTERS = 1200;

/**
 * Longer JSON is omitted from the page, because syntax highlighting makes it five times as long.
 */
const MAX_JSON_CHARACTERS = 100_000;

/** Shortens a list response to the rows that fit on the page. */
function clipRows(view: HtmlView): { body: unknown; omittedRowCount: number } {
  const listResponse = listResponseOf(view);

  if (!listResponse) return { body: view.body, omittedRowCount: 0 };
  let length = 0;

  const isClipped = (row: unknown, index: number) => {
    length += JSON.stringify(row).length;
    return length > MAX_JSON_ROWS_CHARACTERS && index > 0;
  };

  const clipIndex = listResponse.results.findIndex(isClipped);
  const visibleRows =
    clipIndex < 0 ? listResponse.results : listResponse.results.slice(0, clipIndex);

  return {
    body: { ...listResponse, results: visibleRows },
    omittedRowCount: listResponse.results.length - visibleRows.length,
  };
}

function ResponseBody({ view }: { view: HtmlView }) {
  if (view.body === undefined) return null;
  const { body, omittedRowCount } = clipRows(view);
  const isTooLong = JSON.stringify(body).length > MAX_JSON_CHARACTERS;
  const rowsPhrase = omittedRowCount === 1 ? 'row of this page is' : 'rows of this page are';
  const omittedRowsHint = `${omittedRowCount} more ${rowsPhrase} in `;
  const hint = isTooLong ? 'The JSON is too long for this page: see ' : omittedRowsHint;

  return (
    <>
      {!isTooLong && (
        <pre
          class="json"
          tabIndex={0}
          role="region"
          aria-label="Response as JSON"
          dangerouslySetInnerHTML={{
            __html: highlightJson(body, view.idLinkTree, new URL(view.baseUrl).origin),
          }}
        />
      )}
      {(isTooLong || omittedRowCount > 0) && (
        <p class="help">
          {hint}
          <a href={urlWithChangedQuery(view, { format: 'json', indent: '2' })}>the full response</a>
          .
        </p>
      )}
    </>
  );
}

function HttpExchange({ view }: { view: HtmlView }) {
  const { method, url, status, headers, allowedMethods, body } = view;
  const responseHeaders: Record<string, string> = {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...headers,
  };

  return (
    <div class="exchange">
      <pre class="line" tabIndex={0} aria-label="Request" role="region">
        <strong>{method}</strong> {view.visitor.basePath + url}
        <RequestHeaders view={view} />
      </pre>
      <p class="answer">
        <span class={status < 400 ? 'status good' : 'status bad'}>
          {status} {STATUS_CODES[status]}
        </span>
        {allowedMethods.length > 0 && (
          <span class="methods">
            <span class="help">Methods</span>{' '}
            {allowedMethods.map((allowedMethod) => (
              <code key={allowedMethod}>{allowedMethod}</code>
            ))}
          </span>
        )}
        {method === 'GET' && (
          <span class="formats">
            <a href={urlWithChangedQuery(view, { format: 'json' })}>JSON</a>
            <a href={urlWithChangedQuery(view, { format: 'json', indent: '2' })}>Indented</a>
            {view.options && <a href="#options">OPTIONS</a>}
          </span>
        )}
      </p>
      <dl class="headers">
        {DISPLAYED_RESPONSE_HEADERS.filter((name) => responseHeaders[name]).map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{responseHeaders[name]}</dd>
          </div>
        ))}
      </dl>
      {view.isTextSearch && (
        <p class="help">
          The filters of this page search for text. As JSON, the same URL returns only the rows with
          exactly this text, and rows are referred to by their ids.
        </p>
      )}
      <AlternativeEndpoints view={view} />
    </div>
  );
}

/** Escapes HTML text. Quotes, which are frequent in JSON, need escaping only in attributes. */
const escapeHtmlText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function OptionsBody({ view }: { view: HtmlView }) {
  if (!view.options) return null;

  return (
    <>
      <h3>OPTIONS</h3>
      <pre
        id="options"
        tabIndex={0}
        role="region"
        aria-label="OPTIONS"
        dangerouslySetInnerHTML={{ __html: escapeHtmlText(JSON.stringify(view.options, null, 1)) }}
      />
    </>
  );
}

function PlaygroundLink({ view: { graphqlOperation } }: { view: HtmlView }) {
  if (!graphqlOperation) return null;
  const variables = JSON.stringify(graphqlOperation.variables, null, 2);
  const link = `/playground?${new URLSearchParams({ query: graphqlOperation.document, variables }).toString()}`;

  return (
    <p class="row">
      <a class="button plain" href={link}>
        Open in the playground
      </a>
      <span class="help">The same as GraphQL.</span>
    </p>
  );
}

/**
 * The section is collapsed unless nothing else on the page shows the data. Links into it work
 * nevertheless, because browsers expand a `<details>` if a link targets an element inside it.
 */
export function ApiDetails({
  view,
  isInitiallyOpen,
}: {
  view: HtmlView;
  isInitiallyOpen: boolean;
}) {
  return (
    <details class="api" open={isInitiallyOpen}>
      <summary>API</summary>
      <HttpExchange view={view} />
      <ResponseBody view={view} />
      <PlaygroundLink view={view} />
      <OptionsBody view={view} />
    </details>
  );
}
