/** Landing page: what Fitgraph is, where to sign in, and example requests for REST and GraphQL. */
import { CopyButton, CopyScript } from './copy-button';
import type { RequestExample, RequestExamples } from './examples';
import { loginUrl, renderPage, type Visitor } from './layout';

const CHART_WIDTH = 420;
const CHART_HEIGHT = 150;
const DECORATIVE_CHART_DAYS = 90;

function DecorativeChart() {
  const points = Array.from({ length: DECORATIVE_CHART_DAYS }, (_none, day) => {
    const y = 24 + day * 0.95 + 9 * Math.sin(day / 4.1) + 5 * Math.sin(day * 1.7);

    return `${((day * CHART_WIDTH) / (DECORATIVE_CHART_DAYS - 1)).toFixed(1)} ${y.toFixed(1)}`;
  });

  return (
    <svg viewBox={`0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`} aria-hidden="true" focusable="false">
      {[30, 70, 110].map((y) => (
        <path key={y} d={`M0 ${y}H${CHART_WIDTH}`} stroke="var(--line)" />
      ))}
      <path
        d={`M${points.join('L')}`}
        fill="none"
        stroke="var(--accent)"
        stroke-width="2.5"
        stroke-linejoin="round"
      />
    </svg>
  );
}

function HeroPicture({ muscleFigure }: Pick<RequestExamples, 'muscleFigure'>) {
  return (
    <div class="picture">
      <div class="chart">
        <DecorativeChart />
      </div>
      {muscleFigure && (
        <img
          src={`/static/images/muscles/body.svg?main=${muscleFigure.mainMuscleIds.join(',')}&secondary=${muscleFigure.secondaryMuscleIds.join(',')}`}
          alt={`Muscles trained by ${muscleFigure.exerciseName}`}
          width={220}
          height={220}
        />
      )}
    </div>
  );
}

function ExampleRequest({
  id,
  title,
  example,
}: {
  id: string;
  title: string;
  example: RequestExample;
}) {
  return (
    <section>
      <h2 id={id}>{title}</h2>
      <pre tabindex={0} aria-labelledby={id}>
        <code id={`${id}-command`}>{example.command}</code>
      </pre>
      <CopyButton sourceId={`${id}-command`} label="Copy" />
      {example.response !== undefined && (
        <pre tabindex={0} role="region" aria-label={`${title}: response`}>
          <code>{example.response}</code>
        </pre>
      )}
    </section>
  );
}

function SignInHint({ visitor, hasDemoAccount }: { visitor: Visitor; hasDemoAccount: boolean }) {
  if (visitor.username !== undefined) {
    return (
      <p>
        You are signed in as <strong>{visitor.username}</strong>. Programs authenticate with{' '}
        <a href="/user/api-key">your API key</a>.
      </p>
    );
  }

  return (
    <p>
      <a href={loginUrl(visitor.returnUrl)}>Sign in</a> to see and edit your own data.{' '}
      {hasDemoAccount && (
        <>
          A new server has the account <code>demo</code> with a year of training and nutrition data.
          The server printed its password when it first started;{' '}
          <code>npm run fitgraph -- user password demo --new</code> sets a new one.{' '}
        </>
      )}
      No account yet? See <a href="/register">how to get one</a>.
    </p>
  );
}

/**
 * Renders the landing page. It mentions the demo account if the server creates one at its first
 * start.
 */
export function renderLandingPage(
  visitor: Visitor,
  { rest, graphql, muscleFigure }: RequestExamples,
  hasDemoAccount: boolean,
): string {
  return renderPage({
    title: 'Training, nutrition and body weight as data',
    visitor,
    head: <CopyScript />,
    children: (
      <>
        <div class="hero">
          <div>
            <h1>Your training, nutrition and body weight as data</h1>
            <p class="lead">
              Fitgraph stores workouts, training logs, meals and body weight, has a catalogue of
              exercises and ingredients, and serves the same data over REST and GraphQL.
            </p>
            <p class="row">
              <a class="button" href="/api/v2/">
                Browse the data
              </a>
              <a class="button plain" href="/playground">
                Try a query
              </a>
            </p>
            <SignInHint visitor={visitor} hasDemoAccount={hasDemoAccount} />
          </div>
          <HeroPicture muscleFigure={muscleFigure} />
        </div>
        <h2>Three ways to use it</h2>
        <ul class="cards ways">
          <li>
            <h3>
              <a href="/api/v2/">In the browser</a>
            </h3>
            <p>Lists as tables and rows as pages, with charts, and forms to edit your data.</p>
          </li>
          <li>
            <h3>
              <a href="/api/v2/schema/docs">Over REST</a>
            </h3>
            <p>
              Version 2, for existing clients: the same URLs as JSON, described by an{' '}
              <a href="/api/v2/schema">OpenAPI document</a>.
            </p>
          </li>
          <li>
            <h3>
              <a href="/playground">Over GraphQL</a>
            </h3>
            <p>Exactly the fields you need in one request, and live updates.</p>
          </li>
        </ul>
        <div class="halves">
          <ExampleRequest id="rest" title="A first REST request" example={rest} />
          <ExampleRequest id="graphql" title="A first GraphQL request" example={graphql} />
        </div>
        <p>
          <a href={`/playground?query=${encodeURIComponent(graphql.query)}`}>
            Open this query in the playground
          </a>
        </p>
      </>
    ),
  });
}
