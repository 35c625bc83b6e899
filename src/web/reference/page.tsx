/**
 * HTML page of the API reference, filled in by Swagger UI. Without JavaScript it only links to the
 * OpenAPI document.
 */
import { renderPage, type Visitor } from '../layout';
import { LAYOUT_STYLE } from '../style';

interface ApiReferencePaths {
  /** Path of the OpenAPI document, without file extension. */
  documentPath: string;
  assetsPath: string;
}

const DocumentLinks = ({ documentPath }: { documentPath: string }) => (
  <>
    <a href={`${documentPath}.json`}>JSON</a> or <a href={`${documentPath}.yaml`}>YAML</a>
  </>
);

function AuthorizationHint({ username }: Pick<Visitor, 'username'>) {
  if (username === undefined) {
    return (
      <>
        Enter your API key under “Authorize”, with or without the prefix <code>Token</code>.
      </>
    );
  }

  return (
    <>
      You are signed in as <strong>{username}</strong>. Requests that you try here run as this user
      and need no key.
    </>
  );
}

export function renderReferencePage(
  { documentPath, assetsPath }: ApiReferencePaths,
  visitor: Visitor,
): string {
  return renderPage({
    title: 'REST API reference',
    visitor,
    crumbs: [{ label: 'Reference' }],
    style: LAYOUT_STYLE,
    head: (
      <>
        {visitor.csrfToken !== undefined && <meta name="csrf-token" content={visitor.csrfToken} />}
        <link rel="stylesheet" href={`${assetsPath}/swagger-ui.css`} />
        <link rel="stylesheet" href={`${assetsPath}/page.css`} />
        <script src={`${assetsPath}/swagger-ui-bundle.js`} defer />
        <script src={`${assetsPath}/start.js`} defer />
      </>
    ),
    children: (
      <>
        <h1>REST API reference</h1>
        <p class="lead">
          Also available as an OpenAPI document: <DocumentLinks documentPath={documentPath} />.
        </p>
        <p class="lead">
          <AuthorizationHint username={visitor.username} />
        </p>
        <noscript>
          <p>
            The reference needs JavaScript. Its content is also available as an OpenAPI document in{' '}
            <DocumentLinks documentPath={documentPath} />, which many tools can read.
          </p>
        </noscript>
        <div id="reference" data-document={`${documentPath}.json`} />
      </>
    ),
  });
}
