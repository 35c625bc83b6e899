/** HTML page of the API reference, filled in by Swagger UI. Without JavaScript it links to the OpenAPI document. */
import { renderPage, type Visitor } from '../layout';
import { LAYOUT_STYLE } from '../style';

interface ReferencePaths {
  /** Path of the OpenAPI document without a file extension. */
  document: string;
  assets: string;
}

const DocumentLinks = ({ document }: { document: string }) => (
  <>
    <a href={`${document}.json`}>JSON</a> or <a href={`${document}.yaml`}>YAML</a>
  </>
);

export function renderApiDocsPage({ document, assets }: ReferencePaths, visitor: Visitor): string {
  return renderPage({
    title: 'Reference of the REST API',
    visitor,
    crumbs: [{ label: 'Fitgraph', href: '/' }, { label: 'Reference' }],
    style: LAYOUT_STYLE,
    head: (
      <>
        {visitor.csrfToken !== undefined && <meta name="csrf-token" content={visitor.csrfToken} />}
        <link rel="stylesheet" href={`${assets}/swagger-ui.css`} />
        <link rel="stylesheet" href={`${assets}/page.css`} />
        <script src={`${assets}/swagger-ui-bundle.js`} defer />
        <script src={`${assets}/start.js`} defer />
      </>
    ),
    children: (
      <>
        <h1>Reference of the REST API</h1>
        <p class="lead">
          The same for tools, as an OpenAPI document: <DocumentLinks document={document} />.
        </p>
        <p class="lead">
          {visitor.username === undefined ? (
            <>
              “Authorize” takes your API key, with or without <code>Token</code> before it.
            </>
          ) : (
            <>
              You are signed in as <strong>{visitor.username}</strong>: what you try here is done in your name, without a key.
            </>
          )}
        </p>
        <noscript>
          <p>
            The reference needs JavaScript. All that it shows is in the OpenAPI document, as <DocumentLinks document={document} />, which
            many tools read.
          </p>
        </noscript>
        <div id="reference" />
      </>
    ),
  });
}
