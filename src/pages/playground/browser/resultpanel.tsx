/** Result panel: the choice of the view, the statistics of the run, and the table or chart. The tree view is part of GraphiQL itself. */
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { parse, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { lazy, Suspense, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { arrangeTable, csvOf } from '../answer/arrangement';
import { RESULT_VIEWS } from '../answer/settings';
import { resultListsOf, defaultResultList, tableOf, type Table } from '../answer/table';
import {
  massUnitsOf,
  DISPLAY_MASS_UNITS,
  convertMasses,
  type MassUnitByPath,
} from '../answer/massunits';
import type { PageUrlRequest } from './urlrequest';
import { CostGauge } from './costgauge';
import { downloadFile, fileNameForDownload } from './downloadfile';
import { csrfToken } from './fetcher';
import { LabelledSelect } from './labelledselect';
import { ShareControls } from './share';
import { viewStateStore, useViewState, type ViewState } from './state';
import { TableView } from './table';

const ChartView = lazy(() => import('./chart'));

const VIEW_TITLES = { tree: 'Tree', table: 'Table', chart: 'Chart' } as const;
const KILOBYTE = 1_000;

function formatBytes(bytes: number): string {
  if (bytes < KILOBYTE) return `${bytes} B`;
  const [size, unit] =
    bytes < KILOBYTE * KILOBYTE ? [bytes / KILOBYTE, 'kB'] : [bytes / KILOBYTE / KILOBYTE, 'MB'];
  return `${size.toFixed(1)} ${unit}`;
}

function RunStatistics({ run }: { run: ViewState['lastRun'] }) {
  if (!run) return null;
  const { status, durationMs, responseBytes, cost, statementCount } = run;
  const summary = [
    `Status ${status}`,
    `${durationMs.toFixed(0)} ms`,
    formatBytes(responseBytes),
    ...(cost === undefined ? [] : [`charged ${cost}`]),
    ...(statementCount === undefined
      ? []
      : [`${statementCount} ${statementCount === 1 ? 'statement' : 'statements'}`]),
  ];
  return (
    <p className="facts" role="status">
      {summary.join(' · ')}
    </p>
  );
}

function parseResponse(response: string | null | undefined): ExecutionResult | undefined {
  try {
    return response ? (JSON.parse(response) as ExecutionResult) : undefined;
  } catch {
    return undefined;
  }
}

interface ResponseError {
  message: string;
  extensions?: { code?: string };
}

function ErrorList({ result }: { result: ExecutionResult }) {
  const errors = (result.errors ?? []) as readonly ResponseError[];
  const mustSignIn =
    csrfToken === undefined &&
    errors.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  return (
    <div className="problems" role="alert">
      {errors.map(({ message }, index) => (
        <p key={index}>{message}</p>
      ))}
      {mustSignIn && (
        <p>
          <a href={`/login?next=${encodeURIComponent(location.pathname + location.search)}`}>
            Sign in
          </a>{' '}
          to query your own data. You will return to this tab.
        </p>
      )}
    </div>
  );
}

const NO_MASS_UNITS: MassUnitByPath = new Map();

function massUnitsOfRun(
  run: ViewState['lastRun'],
  schema: GraphQLSchema | null | undefined,
): MassUnitByPath {
  if (!run || !schema) return NO_MASS_UNITS;
  const { query, variables, operationName } = run.request;
  try {
    return massUnitsOf(schema, { query: parse(query), variables, operationName });
  } catch {
    // Invalid queries contain no masses; the server reports their syntax errors.
    return NO_MASS_UNITS;
  }
}

function ResultView({
  tabId,
  viewState,
  result,
}: {
  tabId: string;
  viewState: ViewState;
  result: ExecutionResult;
}) {
  const { schema } = useGraphiQL(pick('schema'));
  const lists = useMemo(() => resultListsOf(result.data), [result]);
  const list = lists.find(({ path }) => path === viewState.listPath) ?? defaultResultList(lists);
  const receivedTable: Table | undefined = useMemo(
    () => (result.data ? tableOf(result.data, list) : undefined),
    [result, list],
  );
  const massUnits = useMemo(
    () => (result.data ? massUnitsOfRun(viewState.lastRun, schema) : NO_MASS_UNITS),
    [result, viewState.lastRun, schema],
  );
  const table = useMemo(
    () => receivedTable && convertMasses(receivedTable, massUnits, list, viewState.massUnit),
    [receivedTable, massUnits, list, viewState.massUnit],
  );
  if (!table) return <ErrorList result={result} />;
  const tableMassUnit = table.columns.find(({ unit }) => unit)?.unit;
  return (
    <>
      {result.errors && <ErrorList result={result} />}
      <div className="tools">
        {lists.length > 1 && (
          <LabelledSelect
            label="Rows of"
            value={list!.path}
            options={lists.map(({ path, rowCount }) => [path, `${path} (${rowCount})`])}
            onChoose={(path) => viewStateStore.update(tabId, { listPath: path, chart: undefined })}
          />
        )}
        {tableMassUnit && (
          <LabelledSelect
            label="Unit"
            value={viewState.massUnit ?? tableMassUnit}
            options={DISPLAY_MASS_UNITS.map((unit) => [unit, unit])}
            onChoose={(massUnit) => viewStateStore.update(tabId, { massUnit })}
          />
        )}
        <button
          onClick={() =>
            downloadFile(
              fileNameForDownload('csv'),
              'text/csv;charset=utf-8',
              csvOf(arrangeTable(table, viewState.arrangement)),
            )
          }
        >
          CSV
        </button>
        <button
          onClick={() =>
            downloadFile(
              fileNameForDownload('json'),
              'application/json',
              JSON.stringify(result.data, null, 2),
            )
          }
        >
          JSON
        </button>
      </div>
      {viewState.view === 'table' ? (
        <TableView
          table={table}
          arrangement={viewState.arrangement}
          onChange={(arrangement) => viewStateStore.update(tabId, { arrangement })}
        />
      ) : (
        <Suspense fallback={<p className="hint">Loading the chart …</p>}>
          <ChartView
            table={table}
            settings={viewState.chart}
            onChange={(chart) => viewStateStore.update(tabId, { chart })}
          />
        </Suspense>
      )}
    </>
  );
}

export function ResultPanel({ urlRequest }: { urlRequest: PageUrlRequest | undefined }) {
  const { tabs, activeTabIndex, isFetching, queryEditor, variableEditor, responseEditor } =
    useGraphiQL(
      pick(
        'tabs',
        'activeTabIndex',
        'isFetching',
        'queryEditor',
        'variableEditor',
        'responseEditor',
      ),
    );
  const { run, stop } = useGraphiQLActions();
  const { id = '', response, title } = tabs[activeTabIndex] ?? {};
  const viewState = useViewState(id);
  const result = useMemo(() => parseResponse(response), [response]);
  const panelRef = useRef<HTMLElement>(null);
  const isInitialRunDoneRef = useRef(!urlRequest?.runsOnLoad);

  useLayoutEffect(() => {
    viewStateStore.activeTabId = id;
    // When another tab becomes active, the current run is stopped and its response discarded, because GraphiQL would show the response in the new tab.
    return stop;
  }, [id, stop]);
  // On load, GraphiQL puts the request that the URL of the page contains into the active tab.
  useLayoutEffect(() => {
    if (urlRequest)
      viewStateStore.update(viewStateStore.activeTabId, {
        view: urlRequest.view ?? 'tree',
        listPath: urlRequest.listPath,
        chart: urlRequest.chart,
        massUnit: urlRequest.massUnit,
      });
  }, [urlRequest]);
  useEffect(() => {
    document.title = `${title && title !== '<untitled>' ? `${title} – ` : ''}Playground – Fitgraph`;
  }, [title]);
  useEffect(() => {
    if (isInitialRunDoneRef.current || !queryEditor || !variableEditor || !responseEditor) return;
    isInitialRunDoneRef.current = true;
    void run();
  }, [queryEditor, variableEditor, responseEditor, run]);
  useEffect(() => {
    // GraphiQL always shows the tree next to the result panel. Unless the tree view is chosen, the style sheet hides the tree by the attribute
    // `data-view`.
    panelRef.current?.closest('.graphiql-response')?.setAttribute('data-view', viewState.view);
  }, [viewState.view]);

  return (
    <section className="answer" aria-label="Result" ref={panelRef}>
      <div className="bar">
        <div role="group" aria-label="Result view" className="views">
          {RESULT_VIEWS.map((view) => (
            <button
              key={view}
              aria-pressed={viewState.view === view}
              onClick={() => viewStateStore.update(id, { view })}
            >
              {VIEW_TITLES[view]}
            </button>
          ))}
        </div>
        <RunStatistics run={viewState.lastRun} />
        <CostGauge />
        <ShareControls viewState={viewState} />
      </div>
      {viewState.view !== 'tree' && (
        <div className="shown">
          {result ? (
            <ResultView tabId={id} viewState={viewState} result={result} />
          ) : (
            <p className="hint">
              {isFetching ? 'Running …' : 'Run the query to see its result here.'}
            </p>
          )}
        </div>
      )}
    </section>
  );
}
