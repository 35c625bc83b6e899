/** The section "API" of a page: its request and responses as programs exchange them, and the equivalent GraphQL operation. */
import { STATUS_CODES } from 'node:http';
import { detailPath, listPath } from './view/pageroutes';
import type { HtmlView } from './view/viewmodel';
import { API_KEY_PAGE_PATH } from '../apikeypath';
import { EXPORT_PATH } from '../exportpath';
import { urlWithChangedQuery, listResponseOf } from './listcontrols';
import { highlightJson } from './highlightjson';

/** HTTP headers that a client has to send to get the response on this page as JSON. */
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

/** Returns the URL that exports all rows of the list as CSV, not only those of the current page. Undefined if there is no list or no export. */
export function csvExportUrlOf(view: HtmlView): string | undefined {
  if (!view.graphqlOperation || !view.permitsExports || !listResponseOf(view)) return undefined;
  const { first: _first, offset: _offset, ...variables } = view.graphqlOperation.variables;
  const query = view.graphqlOperation.document.replace(/\s+/g, ' ').trim();
  return `${EXPORT_PATH}.csv?${new URLSearchParams({ query, variables: JSON.stringify(variables) }).toString()}`;
}

const DISPLAYED_RESPONSE_HEADERS = [
  'Allow',
  'Content-Type',
  'Vary',
  'Server-Timing',
  'Retry-After',
];

/** Links to the other REST endpoints that return the same rows, in a different representation. */
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

/** Maximum number of characters of the rows in the section. The first row is always shown. If rows are omitted, there is a link to all of them. */
const MAX_JSON_ROWS_CHARACTERS = 1200;
/** Maximum number of characters of the JSON in the section. A longer body is omitted, because highlighting makes it five times as long. */
const MAX_JSON_CHARACTERS = 100_000;

/** Returns a list response with only the rows that fit into the section, at least one, and the number of omitted rows. */
function clipRows(view: HtmlView): { body: unknown; omittedRowCount: number } {
  const listResponse = listResponseOf(view);
  if (!listResponse) return { body: view.body, omittedRowCount: 0 };
  let length = 0;
  const isClipped = (row: unknown, index: number) =>
    (length += JSON.stringify(row).length) > MAX_JSON_ROWS_CHARACTERS && index > 0;
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
  return (
    <>
      {!isTooLong && (
        <pre
          class="json"
          tabIndex={0}
          role="region"
          aria-label="Response as JSON"
          dangerouslySetInnerHTML={{ __html: highlightJson(body, view.idLinkTree) }}
        />
      )}
      {(isTooLong || omittedRowCount > 0) && (
        <p class="help">
          {isTooLong
            ? 'The JSON is too long for this page: see '
            : `${omittedRowCount} more ${omittedRowCount === 1 ? 'row of this page is' : 'rows of this page are'} in `}
          <a href={urlWithChangedQuery(view, { format: 'json', indent: '2' })}>the full response</a>
          .
        </p>
      )}
    </>
  );
}

function Exchange({ view }: { view: HtmlView }) {
  const { method, url, status, headers, allowedMethods, body } = view;
  const responseHeaders: Record<string, string> = {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...headers,
  };
  return (
    <div class="exchange">
      <pre class="line" tabIndex={0} aria-label="Request" role="region">
        <strong>{method}</strong> {url}
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
      <AlternativeEndpoints view={view} />
    </div>
  );
}

/** Escapes a string for HTML. Keeps quotes, which are frequent in JSON and need escaping only in attributes. */
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

/** Initially open if nothing else on the page shows the data. Browsers open a `<details>` if a link targets an element inside it. */
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
      <Exchange view={view} />
      <ResponseBody view={view} />
      <PlaygroundLink view={view} />
      <OptionsBody view={view} />
    </details>
  );
}
