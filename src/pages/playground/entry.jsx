/** The playground in the browser: GraphiQL over our own `/graphql`, from our own bundle. `scripts/build.mjs` compiles this file. */
/* global document, location, PLAYGROUND_WORKERS */
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import 'graphiql/style.css';
import { createRoot } from 'react-dom/client';

// The build replaces PLAYGROUND_WORKERS with the addresses of the compiled workers, whose names carry a hash of their content.
globalThis.MonacoEnvironment = {
  getWorker: (_id, label) => new Worker(PLAYGROUND_WORKERS[label] ?? PLAYGROUND_WORKERS.editor, { name: label }),
};

const welcome = `# Fitgraph: fitness and nutrition data over GraphQL.
#
# Exercises, ingredients and the like are open to everyone. Your own data
# needs your API key, in the "Headers" pane below:
#
#   {"Authorization": "Token <key>"}
#
# The headers are not stored: they are gone when this page is closed.
# Run the query with Ctrl-Enter, complete a word with Ctrl-Space; the book on
# the left opens the documentation of the schema.

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

const asked = new URL(location.href).searchParams;

createRoot(document.getElementById('playground')).render(
  <GraphiQL
    fetcher={createGraphiQLFetcher({ url: '/graphql' })}
    defaultQuery={welcome}
    // Undefined, not '' or null: only then GraphiQL goes on with what the visitor had in its tabs last time.
    initialQuery={asked.get('query') ?? undefined}
    initialVariables={asked.get('variables') ?? undefined}
    isHeadersEditorEnabled
    defaultEditorToolsVisibility={asked.has('variables') ? 'variables' : 'headers'}
    shouldPersistHeaders={false}
  >
    <GraphiQL.Logo>Fitgraph</GraphiQL.Logo>
  </GraphiQL>,
);
