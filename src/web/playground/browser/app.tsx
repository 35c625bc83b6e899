/**
 * Entry point of the playground in the browser: GraphiQL with the panels of Fitgraph. Bundled by
 * `scripts/build.mjs`.
 */
import { DOC_EXPLORER_PLUGIN } from '@graphiql/plugin-doc-explorer';
import '@graphiql/plugin-explorer/style.css';
import { GraphiQL, HISTORY_PLUGIN } from 'graphiql';
import 'graphiql/style.css';
import { lazy, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { ResultPanel } from './result-panel';
import { parsePageUrlRequest } from './url-request';
import { Loading } from './loading';
import { fetcher } from './fetcher';
import { EXAMPLE_QUESTIONS_PLUGIN } from './questions';
import { storageWithoutHeaders } from './storage';
import './style.css';
import { WELCOME_QUERY } from './welcome';

function getWorker(_id: string, label: string): Worker {
  const file = PLAYGROUND_WORKERS[label] ?? PLAYGROUND_WORKERS.editor;

  return new Worker(new URL(file, import.meta.url), { name: label });
}

Object.assign(globalThis, { MonacoEnvironment: { getWorker } });

// The code of the query builder is loaded when its panel is first opened.
const QueryBuilder = lazy(() => import('./query-builder'));
const QUERY_BUILDER_PLUGIN = {
  title: 'Field builder',
  icon: () => (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M4 5h4v4H4zM4 15h4v4H4zM12 7h8M12 17h8" />
    </svg>
  ),
  content: () => (
    <Suspense fallback={<Loading />}>
      <QueryBuilder />
    </Suspense>
  ),
};

const initialRequest = parsePageUrlRequest(new URL(location.href));

// A share link that is opened in this tab changes only the fragment, so the page is not loaded.
addEventListener('hashchange', () => {
  if (new URLSearchParams(location.hash.slice(1)).has('query')) location.reload();
});

const plugins = [EXAMPLE_QUESTIONS_PLUGIN, QUERY_BUILDER_PLUGIN, HISTORY_PLUGIN];

createRoot(document.getElementById('playground')!).render(
  <GraphiQL
    fetcher={fetcher}
    defaultQuery={WELCOME_QUERY}
    // GraphiQL restores the tabs of the last visit only if the initial query is undefined.
    initialQuery={initialRequest?.query}
    initialVariables={initialRequest?.variables}
    isHeadersEditorEnabled
    defaultEditorToolsVisibility="variables"
    shouldPersistHeaders={false}
    storage={storageWithoutHeaders}
    referencePlugin={DOC_EXPLORER_PLUGIN}
    plugins={plugins}
    visiblePlugin={EXAMPLE_QUESTIONS_PLUGIN}
  >
    <GraphiQL.Logo>{null}</GraphiQL.Logo>
    <GraphiQL.Footer>
      <ResultPanel urlRequest={initialRequest} />
    </GraphiQL.Footer>
  </GraphiQL>,
);
