/** Developer panels of a page: the HTTP request and response, the OPTIONS response and the equivalent GraphQL operation. */
import { STATUS_CODES } from 'node:http';
import { detailPath, listPath } from './view/pageroutes';
import type { HtmlView } from './view/viewmodel';
import { API_KEY_PAGE_PATH } from '../apikeypath';
import { EXPORT_PATH } from '../exportpath';
import { urlWithChangedQuery, listResponseOf } from './listcontrols';
import { TAB_GROUP_NAME } from './tabs';

/** HTTP headers that a client has to send to get the response on this page as JSON. */
function RequestHeaders({ view }: { view: HtmlView }) {
  const { baseUrl, method, isSignedIn, endpoint } = view;
  const lines = [`Host: ${new URL(baseUrl).host}`, 'Accept: application/json'];
  if (!['GET', 'HEAD', 'DELETE'].includes(method)) {
    const hasImageFields = endpoint?.fields.some(({ hiddenInRest, kind }) => !hiddenInRest && kind === 'image');
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

const DISPLAYED_RESPONSE_HEADERS = ['Allow', 'Content-Type', 'Vary', 'Server-Timing', 'Retry-After'];

/** Links to the other REST endpoints that return the same rows, in a different representation. */
function AlternativeEndpoints({ view: { endpoint, actionName, rowId } }: { view: HtmlView }) {
  const alternativeViews = endpoint?.resource.views.filter((view) => view !== endpoint.view) ?? [];
  if (alternativeViews.length === 0 || actionName !== undefined) return null;
  return (
    <p class="help">
      The same rows with other fields:{' '}
      {alternativeViews.map(({ restName }) => (
        <a key={restName} href={rowId === undefined ? listPath(restName) : detailPath(restName, rowId)}>
          {restName}
        </a>
      ))}
    </p>
  );
}

export function RequestPanel({ view }: { view: HtmlView }) {
  const { method, url, status, headers, allowedMethods, body } = view;
  const responseHeaders: Record<string, string> = { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers };
  return (
    <details class="exchange" name={TAB_GROUP_NAME}>
      <summary>Request</summary>
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
    </details>
  );
}

/** Escapes a string for HTML. Keeps quotes, which are frequent in JSON and need escaping only in attributes. */
const escapeHtmlText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export function HttpOptionsPanel({ view }: { view: HtmlView }) {
  if (!view.options) return null;
  return (
    <details name={TAB_GROUP_NAME}>
      <summary>Fields (OPTIONS)</summary>
      {/* Browsers open a `<details>` if a link targets an element inside it. */}
      <pre
        id="options"
        tabIndex={0}
        role="region"
        aria-label="OPTIONS"
        dangerouslySetInnerHTML={{ __html: escapeHtmlText(JSON.stringify(view.options, null, 1)) }}
      />
    </details>
  );
}

/** Panel with the GraphQL operation that is equivalent to the request of this page, so that developers can send it themselves. */
export function GraphqlPanel({ view }: { view: HtmlView }) {
  const { graphqlOperation } = view;
  if (!graphqlOperation) return null;
  const variables = JSON.stringify(graphqlOperation.variables, null, 2);
  const link = `/playground?${new URLSearchParams({ query: graphqlOperation.document, variables }).toString()}`;
  return (
    <details class="graphql" name={TAB_GROUP_NAME}>
      <summary>GraphQL</summary>
      <p class="row">
        <a class="button plain" href={link}>
          Open in the playground
        </a>
        <span class="help">
          Or send it to <code>/graphql</code>.
        </span>
      </p>
      <div class="halves">
        <div>
          <h3>Operation</h3>
          <pre tabIndex={0} role="region" aria-label="Operation">
            {graphqlOperation.document}
          </pre>
        </div>
        <div>
          <h3>Variables</h3>
          <pre tabIndex={0} role="region" aria-label="Variables">
            {variables}
          </pre>
        </div>
      </div>
    </details>
  );
}
