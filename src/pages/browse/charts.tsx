/** Charts with their values, and how far back they go. */
import type { Chart } from './chart';
import { address } from './lists';
import { PERIOD_KEY, PERIODS } from './view/series';
import type { HtmlView } from './view/view';

/** Of more days the newest are shown. */
const MAX_DAYS = 60;

const nameOf = (days: number) => (days === 0 ? 'All' : days === 365 ? '1 year' : `${days} days`);

function Periods({ view, days }: { view: HtmlView; days: number }) {
  return (
    <nav class="periods row" aria-label="Period">
      {PERIODS.map((period, index) => (
        <a
          key={period}
          href={address(view, { [PERIOD_KEY]: index === 0 ? null : String(period) })}
          {...(period === days && { 'aria-current': 'true' })}
        >
          {nameOf(period)}
        </a>
      ))}
    </nav>
  );
}

function Values({ chart: { names, values, title } }: { chart: Chart }) {
  return (
    <details>
      <summary>Values</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Values: ${title}`}>
        <table class="values">
          <thead>
            <tr>
              <th scope="col">Day</th>
              {names.map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {values.slice(0, MAX_DAYS).map(([day, numbers]) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                {numbers.map((number, index) => (
                  <td key={index} class="number">
                    {number}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {values.length > MAX_DAYS && <p class="help">{`The newest ${MAX_DAYS} of ${values.length} days.`}</p>}
    </details>
  );
}

/** Beside the picture, where long names have room. */
function Legend({ chart: { legend } }: { chart: Chart }) {
  if (legend.length === 0) return null;
  return (
    <ul class="legend" aria-label="Lines">
      {legend.map(({ name, colour, dashed }) => (
        <li key={name} class={dashed ? 'dashed' : undefined} style={`--ink:var(--${colour})`}>
          {name}
        </li>
      ))}
    </ul>
  );
}

export function Charts({ view, charts }: { view: HtmlView; charts: readonly Chart[] }) {
  const { drawn } = view;
  if (charts.length === 0) return null;
  return (
    <section aria-label="Charts">
      {charts.map((chart) => (
        <figure key={chart.title} class="chart">
          <figcaption>
            {chart.title} <span class="help">{chart.range}</span>
            {chart.left > 0 && <span class="help">{`, ${chart.left} more: filter to see them`}</span>}
          </figcaption>
          <div
            class="scroll"
            tabIndex={0}
            role="img"
            aria-label={`${chart.title}. ${chart.summary}`}
            dangerouslySetInnerHTML={{ __html: chart.svg }}
          />
          <Legend chart={chart} />
          <Values chart={chart} />
        </figure>
      ))}
      {drawn && <Periods view={view} days={drawn.days} />}
    </section>
  );
}
