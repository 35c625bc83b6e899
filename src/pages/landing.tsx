/** The front door: what is here, and where to go. */
import { renderPage, type Visitor } from './layout';

const EXERCISES = '{ exercises(first: 3) { totalCount nodes { name category { name } } } }';

export function landingPage(visitor: Visitor, baseUrl: string): string {
  return renderPage({
    title: 'Fitness and nutrition data',
    visitor,
    children: (
      <>
        <h1>Fitgraph</h1>
        <p class="lead">
          Exercises, workouts, training logs, nutrition plans, diaries and body weight: one set of data, two interfaces with the same rules.
        </p>
        <ul class="cards">
          <li>
            <h2>
              <a href="/api/v2/">REST API</a>
            </h2>
            <p>Version 2, for clients that exist. Every list and row opens in the browser too, with forms to change what is yours.</p>
          </li>
          <li>
            <h2>
              <a href="/playground">GraphQL playground</a>
            </h2>
            <p>
              Write queries for <code>/graphql</code> with completion, and read the schema beside them.
            </p>
          </li>
          <li>
            <h2>
              <a href="/api/v2/schema/docs">Reference</a>
            </h2>
            <p>
              Every REST endpoint with its parameters and answers; for tools as <a href="/api/v2/schema">OpenAPI</a>.
            </p>
          </li>
          {visitor.username === undefined ? (
            <li>
              <h2>
                <a href="/login">Sign in</a>
              </h2>
              <p>
                To see and change your own data. No account yet? Read <a href="/register">how to get one</a>.
              </p>
            </li>
          ) : (
            <li>
              <h2>
                <a href="/user/api-key">Your API key</a>
              </h2>
              <p>Programs sign in with it. See it, make one, or replace it.</p>
            </li>
          )}
        </ul>
        <h2 id="rest">A first call: REST</h2>
        <pre tabindex={0} aria-labelledby="rest">
          <code>{`curl '${baseUrl}/api/v2/exercise/?limit=3'`}</code>
        </pre>
        <h2 id="graphql">The same with GraphQL</h2>
        <pre tabindex={0} aria-labelledby="graphql">
          <code>{`curl ${baseUrl}/graphql -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ query: EXERCISES })}'`}</code>
        </pre>
        <p>
          <a href={`/playground?query=${encodeURIComponent(EXERCISES)}`}>Open this query in the playground</a>
        </p>
      </>
    ),
  });
}
