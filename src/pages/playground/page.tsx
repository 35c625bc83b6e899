/** HTML page of the playground: header, title and links to the example questions, which are visible before the script has loaded. */
import { renderPage, type Visitor } from '../layout';
import { LAYOUT_STYLE } from '../style';
import { PLAYGROUND_PATH } from './answer/sharelink';
import { QUESTIONS_BY_GROUP } from './questions/all';

/** File names of the playground's bundle, which contain a hash of the content. `scripts/build.mjs` writes the manifest. */
export interface BundleManifest {
  script: string;
  style: string;
  /** File names of the modules that the script imports, which pages preload in parallel with the script. */
  needed: string[];
}

export const ASSETS_PATH = `${PLAYGROUND_PATH}/assets`;

const PLAYGROUND_STYLE = `${LAYOUT_STYLE}
html,body{height:100%}
body{display:flex;flex-direction:column}
header nav{max-width:none;padding:.45rem 1rem}
main{flex:1;min-height:0;display:flex;flex-direction:column;max-width:none;width:100%;padding:0}
h1{font-size:1rem;margin:0;padding:.45rem 1rem;border-bottom:1px solid var(--line)}
[role=note]{margin:0;padding:.6rem 1rem;color:#1b1f24;background:#fff3cd}
noscript p{padding:0 1rem}
#playground{flex:1;min-height:0;display:flex}
.skeleton{flex:1;display:flex;min-width:0}
.skeleton nav{width:22rem;max-width:100%;box-sizing:border-box;overflow:auto;padding:0 1rem;border-right:1px solid var(--line)}
.skeleton h2{font-size:1rem;margin:.8rem 0 .3rem}
.skeleton ul{margin:0;padding-left:1.1rem}
.skeleton a{color:var(--link)}
.skeleton p{flex:1;margin:1rem;color:var(--muted)}
@media (max-width:45rem){html,body{height:auto}.skeleton{flex-direction:column}.skeleton nav{border:0;width:auto}}
`;

interface PlaygroundPageProps {
  manifest: BundleManifest;
  visitor: Visitor;
  /** URL of this page, to return to after login. */
  returnUrl: string;
  persistedOperationsOnly: boolean;
}

const PersistedOperationsOnlyNotice = () => (
  <p role="note">
    This server accepts only registered operations (PERSISTED_ONLY) and rejects queries that are
    typed here. The REST API is not affected.
  </p>
);

const LoadingPlaceholder = () => (
  <div class="skeleton">
    <nav aria-label="Example questions">
      {Object.entries(QUESTIONS_BY_GROUP).map(([group, questions]) => (
        <>
          <h2>{group}</h2>
          <ul>
            {questions.map(({ slug, title }) => (
              <li key={slug}>
                <a href={`${PLAYGROUND_PATH}?question=${slug}`}>{title}</a>
              </li>
            ))}
          </ul>
        </>
      ))}
    </nav>
    <p>Loading the editor …</p>
  </div>
);

export function renderPlaygroundPage({
  manifest,
  visitor,
  returnUrl,
  persistedOperationsOnly,
}: PlaygroundPageProps): string {
  return renderPage({
    title: 'Playground',
    visitor,
    returnUrl,
    style: PLAYGROUND_STYLE,
    head: (
      <>
        {visitor.csrfToken !== undefined && <meta name="csrf-token" content={visitor.csrfToken} />}
        <script type="module" src={`${ASSETS_PATH}/${manifest.script}`} />
        {manifest.needed.map((file) => (
          <link key={file} rel="modulepreload" href={`${ASSETS_PATH}/${file}`} />
        ))}
      </>
    ),
    children: (
      <>
        <h1>GraphQL playground</h1>
        {persistedOperationsOnly && <PersistedOperationsOnlyNotice />}
        <noscript>
          <p>
            The playground needs JavaScript. The API doesn't: send queries to <code>/graphql</code>{' '}
            with any HTTP client.
          </p>
        </noscript>
        <div id="playground">
          <LoadingPlaceholder />
        </div>
        {/* In the body, so that the page is rendered before the style sheet has loaded. */}
        <link rel="stylesheet" href={`${ASSETS_PATH}/${manifest.style}`} />
      </>
    ),
  });
}

export function renderNotBuiltPage(visitor: Visitor, persistedOperationsOnly: boolean): string {
  return renderPage({
    title: 'Playground',
    visitor,
    children: (
      <>
        {persistedOperationsOnly && <PersistedOperationsOnlyNotice />}
        <h1>The playground is not built</h1>
        <p>
          Run <code>npm run build</code> in the project directory, then reload this page.
        </p>
      </>
    ),
  });
}
