/** Charts of a page, with a table of their values and, on list pages, a period selector. */
import { LineChart } from './linechart';
import { urlWithChangedQuery } from './listcontrols';
import type { ShownChart } from './timecharts';
import { PERIOD_PARAMETER, PERIOD_CHOICES_DAYS } from './view/timeseries';
import type { HtmlView } from './view/viewmodel';

const MAX_LISTED_DAYS = 60;

const periodLabel = (days: number) =>
  days === 0 ? 'All' : days === 365 ? '1 year' : `${days} days`;

function PeriodSelector({ view, periodDays }: { view: HtmlView; periodDays: number }) {
  return (
    <nav class="periods row" aria-label="Period">
      {PERIOD_CHOICES_DAYS.map((period, index) => (
        <a
          key={period}
          href={urlWithChangedQuery(view, {
            [PERIOD_PARAMETER]: index === 0 ? null : String(period),
          })}
          {...(period === periodDays && { 'aria-current': 'true' })}
        >
          {periodLabel(period)}
        </a>
      ))}
    </nav>
  );
}

function ValueTable({ chart: { lineNames, valuesByDay, title } }: { chart: ShownChart }) {
  return (
    <details>
      <summary>Values</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Values: ${title}`}>
        <table class="values">
          <thead>
            <tr>
              <th scope="col">Day</th>
              {lineNames.map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {valuesByDay.slice(0, MAX_LISTED_DAYS).map(([day, numbers]) => (
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
      {valuesByDay.length > MAX_LISTED_DAYS && (
        <p class="help">{`The latest ${MAX_LISTED_DAYS} of ${valuesByDay.length} days.`}</p>
      )}
    </details>
  );
}

/** Legend below the SVG, where long names have room. */
function Legend({ chart: { lines } }: { chart: ShownChart }) {
  const namedLines = lines.filter(({ name }) => name !== undefined);
  if (namedLines.length === 0) return null;
  return (
    <ul class="legend" aria-label="Lines">
      {namedLines.map(({ name, colourVariable, isDashed }) => (
        <li
          key={name}
          class={isDashed ? 'dashed' : undefined}
          style={`--ink:var(--${colourVariable})`}
        >
          {name}
        </li>
      ))}
    </ul>
  );
}

export function Charts({ view, charts }: { view: HtmlView; charts: readonly ShownChart[] }) {
  const { timeSeries } = view;
  if (charts.length === 0) return null;
  return (
    <section aria-label="Charts">
      {charts.map((chart) => (
        <figure key={chart.title} class="chart">
          <figcaption>
            {chart.title} <span class="help">{chart.dateRange}</span>
            {chart.omittedLineCount > 0 && (
              <span class="help">{`, ${chart.omittedLineCount} more hidden: filter the list to see them`}</span>
            )}
          </figcaption>
          <div
            class="scroll"
            tabIndex={0}
            role="img"
            aria-label={`${chart.title}. ${chart.summary}`}
          >
            <LineChart chart={chart} />
          </div>
          <Legend chart={chart} />
          <ValueTable chart={chart} />
        </figure>
      ))}
      {timeSeries && <PeriodSelector view={view} periodDays={timeSeries.periodDays} />}
    </section>
  );
}
