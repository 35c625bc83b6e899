/** Entry point of the playground in the browser: GraphiQL for `/graphql` with the panels of Fitgraph. Bundled by `scripts/build.mjs`. */
import { DOC_EXPLORER_PLUGIN } from '@graphiql/plugin-doc-explorer';
import '@graphiql/plugin-explorer/style.css';
import { GraphiQL, HISTORY_PLUGIN } from 'graphiql';
import 'graphiql/style.css';
import { createRoot } from 'react-dom/client';
import { ResultPanel } from './resultpanel';
import { parsePageUrlRequest } from './urlrequest';
import { QUERY_BUILDER_PLUGIN } from './lazypanels';
import { fetcher } from './fetcher';
import { EXAMPLE_QUESTIONS_PLUGIN } from './questions';
import { storageWithoutHeaders } from './storage';
import './style.css';
import { WELCOME_QUERY } from './welcome';

const getWorker = (_id: string, label: string) =>
  new Worker(PLAYGROUND_WORKERS[label] ?? PLAYGROUND_WORKERS.editor, { name: label });
Object.assign(globalThis, { MonacoEnvironment: { getWorker } });

const initialRequest = parsePageUrlRequest(new URL(location.href).searchParams);
const plugins = [EXAMPLE_QUESTIONS_PLUGIN, QUERY_BUILDER_PLUGIN, HISTORY_PLUGIN];

createRoot(document.getElementById('playground')!).render(
  <GraphiQL
    fetcher={fetcher}
    defaultQuery={WELCOME_QUERY}
    // Without a request in the URL, the initial query must be undefined, not '' or null. Only then does GraphiQL restore the last visit's tabs.
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
