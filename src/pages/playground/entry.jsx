/** The playground in the browser: GraphiQL over our own `/graphql`, from our own bundle. `scripts/build.mjs` compiles this file. */
/* global document, localStorage, location, PLAYGROUND_WORKERS */
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { getOperationAST } from 'graphql';
import { createClient } from 'graphql-sse';
import 'graphiql/style.css';
import { createRoot } from 'react-dom/client';

// The build replaces PLAYGROUND_WORKERS with the addresses of the compiled workers, whose names carry a hash of their content.
globalThis.MonacoEnvironment = {
  getWorker: (_id, label) => new Worker(PLAYGROUND_WORKERS[label] ?? PLAYGROUND_WORKERS.editor, { name: label }),
};

/** There for a visitor who is signed in: the session gives queries its rights only together with this token. */
const csrfToken = document.querySelector('meta[name="csrf-token"]')?.content;

const ownData = csrfToken
  ? `# to everyone. You are signed in: your own
# data are under "viewer".`
  : `# to everyone. For your own data sign in at
# /login, or put your API key into the
# "Headers" pane below:
#
#   {"Authorization": "Token <key>"}
#
# It is not stored: this page forgets it when
# you leave.`;

const welcome = `# Fitgraph: fitness and nutrition data.
#
# Exercises, ingredients and the like are open
${ownData} Ctrl-Enter runs the query.

{
  exercises(first: 5) {
    totalCount
    nodes {
      id
      name
    }
  }
}
`;

/**
 * localStorage without any headers. `shouldPersistHeaders` alone is not enough: the history of queries would still write them, and so
 * leave API keys on a shared computer.
 */
const storage = {
  getItem: (key) => localStorage.getItem(key),
  setItem: (key, value) => localStorage.setItem(key, withoutHeaders(value)),
  removeItem: (key) => localStorage.removeItem(key),
  clear: () => keys().forEach((key) => localStorage.removeItem(key)),
  get length() {
    return keys().length;
  },
};

/** GraphiQL's own keys; the other pages of this origin keep theirs. */
function keys() {
  return Object.keys(localStorage).filter((key) => key.startsWith('graphiql:'));
}

function withoutHeaders(value) {
  try {
    return JSON.stringify(JSON.parse(value, (key, part) => (key === 'headers' ? null : part)));
  } catch {
    // Not JSON: a plain setting, such as the theme.
    return value;
  }
}

const ownHeaders = csrfToken ? { 'X-CSRFToken': csrfToken } : {};
const single = createGraphiQLFetcher({ url: '/graphql', headers: ownHeaders });

/** Subscriptions come as server-sent events, which take the headers of the pane as other operations do. */
function fetcher(request, options) {
  const operation = options?.documentAST && getOperationAST(options.documentAST, request.operationName);
  if (operation?.operation !== 'subscription') return single(request, options);
  const headers = { ...ownHeaders, ...options.headers };
  return createClient({ url: '/graphql/stream', headers, retryAttempts: 0 }).iterate(request);
}

const asked = new URL(location.href).searchParams;

createRoot(document.getElementById('playground')).render(
  <GraphiQL
    fetcher={fetcher}
    defaultQuery={welcome}
    // Undefined, not '' or null: only then GraphiQL goes on with what the visitor had in its tabs last time.
    initialQuery={asked.get('query') ?? undefined}
    initialVariables={asked.get('variables') ?? undefined}
    isHeadersEditorEnabled
    defaultEditorToolsVisibility={asked.has('variables') ? 'variables' : 'headers'}
    shouldPersistHeaders={false}
    storage={storage}
  >
    <GraphiQL.Logo>
      <a href="/">Fitgraph</a>
    </GraphiQL.Logo>
  </GraphiQL>,
);
