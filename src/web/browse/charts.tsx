/** Charts of a page, with tables of their values and, on list pages, a choice of the period. */
import { csvExportUrlOf } from './api-details';
import { LineChart } from './line-chart';
import { urlWithChangedQuery } from './list-controls';
import type { ChartModel } from './time-charts';
import { PERIOD_PARAMETER, PERIODS_IN_DAYS } from './view/time-series';
import type { HtmlView, TimeSeries } from './view/view-model';

const MAX_TABLE_DAYS = 60;

function periodLabel(days: number): string {
  if (days === 0) return 'All';

  return days === 365 ? '1 year' : `${days} days`;
}

function PeriodSelector({ view, periodDays }: { view: HtmlView; periodDays: number }) {
  return (
    <nav class="periods row" aria-label="Period">
      {PERIODS_IN_DAYS.map((period, index) => (
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

function ValueTable({ chart: { lineNames, valuesByDay, title } }: { chart: ChartModel }) {
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
            {valuesByDay.slice(0, MAX_TABLE_DAYS).map(([day, numbers]) => (
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
      {valuesByDay.length > MAX_TABLE_DAYS && (
        <p class="help">{`The latest ${MAX_TABLE_DAYS} of ${valuesByDay.length} days.`}</p>
      )}
    </details>
  );
}

/** Legend below the SVG, because long names do not fit inside. */
function Legend({ chart: { lines } }: { chart: ChartModel }) {
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

const COUNT_FORMAT = new Intl.NumberFormat('en');

/** Says that the oldest rows are not drawn, and where they are. */
function OmittedRowsHint({ view, timeSeries }: { view: HtmlView; timeSeries: TimeSeries }) {
  const { omittedRowCount, rowCount } = timeSeries;
  const csvUrl = csvExportUrlOf(view);

  if (omittedRowCount === 0) return null;

  return (
    <p class="help">
      {`The oldest ${COUNT_FORMAT.format(omittedRowCount)} of ${COUNT_FORMAT.format(rowCount)} rows are not drawn. Filter the list`}
      {csvUrl !== undefined && (
        <>
          , or download all rows as <a href={csvUrl}>CSV</a>
        </>
      )}
      .
    </p>
  );
}

/** Says that the period has no chart, if earlier rows may have one. */
function EmptyPeriod({ view, timeSeries }: { view: HtmlView; timeSeries: TimeSeries }) {
  const { periodDays, rowCount, earlierRowCount } = timeSeries;

  if (earlierRowCount === 0) return null;
  const period = `the last ${periodLabel(periodDays).replace('1 year', 'year')}`;

  return (
    <section aria-label="Charts">
      <p>{rowCount === 0 ? `No rows in ${period}.` : `Nothing to draw in ${period}.`}</p>
      <PeriodSelector view={view} periodDays={periodDays} />
    </section>
  );
}

export function Charts({ view, charts }: { view: HtmlView; charts: readonly ChartModel[] }) {
  const { timeSeries } = view;

  if (charts.length === 0) {
    return timeSeries ? <EmptyPeriod view={view} timeSeries={timeSeries} /> : null;
  }

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
      {timeSeries && <OmittedRowsHint view={view} timeSeries={timeSeries} />}
      {timeSeries && timeSeries.futureRowCount > 0 && (
        <p class="help">{`Rows dated after today, which are not drawn: ${timeSeries.futureRowCount}`}</p>
      )}
    </section>
  );
}
