/** HTML page of the playground, with links to the example questions until the script has loaded. */
import { renderPage, type Visitor } from '../layout';
import { LAYOUT_STYLE } from '../style';
import { ANSWER_ID, QUERY_ID } from './answer/landmarks';
import { PLAYGROUND_PATH } from './answer/share-link';
import { QUESTIONS_BY_GROUP } from './questions/all';

/** File names of the bundle with content hashes, written by `scripts/build.mjs`. */
export interface BundleManifest {
  script: string;
  style: string;

  /** Modules that the script imports. The page preloads them. */
  needed: string[];
}

export const ASSETS_PATH = `${PLAYGROUND_PATH}/assets`;

const PLAYGROUND_STYLE = `${LAYOUT_STYLE}
html,body{height:100%}
body{display:flex;flex-direction:column}
header nav{max-width:none;padding:.45rem 1rem}
main{flex:1;min-height:0;display:flex;flex-direction:column;max-width:none;width:100%;padding:0}
.title{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:baseline;padding:.45rem 1rem;border-bottom:1px solid var(--line)}
.title :is(h1,p){font-size:1rem;margin:0}
.title p{font-size:.85rem;color:var(--muted)}
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
  persistedOperationsOnly,
}: PlaygroundPageProps): string {
  return renderPage({
    title: 'Playground',
    visitor,
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
        <div class="title">
          <h1>GraphQL playground</h1>
          <a class="skip" href={`#${QUERY_ID}`}>
            Skip to the query
          </a>
          <a class="skip" href={`#${ANSWER_ID}`}>
            Skip to the answer
          </a>
          <p>In an editor, press Esc, then Tab, to leave it.</p>
        </div>
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
        {/* The style sheet is in the body, so that it does not delay the first paint. */}
        <link rel="stylesheet" href={`${ASSETS_PATH}/${manifest.style}`} />
      </>
    ),
  });
}
