/** HTML page of the API reference, filled in by Swagger UI. Without JavaScript it links to the OpenAPI document. */
import { renderPage, type Visitor } from '../layout';
import { LAYOUT_STYLE } from '../style';

interface ApiReferencePaths {
  /** Path of the OpenAPI document without a file extension. */
  document: string;
  assets: string;
}

const DocumentLinks = ({ document }: { document: string }) => (
  <>
    <a href={`${document}.json`}>JSON</a> or <a href={`${document}.yaml`}>YAML</a>
  </>
);

export function renderApiDocsPage({ document, assets }: ApiReferencePaths, visitor: Visitor): string {
  return renderPage({
    title: 'REST API reference',
    visitor,
    crumbs: [{ label: 'Reference' }],
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
        <h1>REST API reference</h1>
        <p class="lead">
          Also available as an OpenAPI document: <DocumentLinks document={document} />.
        </p>
        <p class="lead">
          {visitor.username === undefined ? (
            <>
              Enter your API key under “Authorize”, with or without the prefix <code>Token</code>.
            </>
          ) : (
            <>
              You are signed in as <strong>{visitor.username}</strong>. Requests that you try here run as this user and need no key.
            </>
          )}
        </p>
        <noscript>
          <p>
            The reference needs JavaScript. Its content is also available as an OpenAPI document in <DocumentLinks document={document} />,
            which many tools can read.
          </p>
        </noscript>
        <div id="reference" />
      </>
    ),
  });
}
