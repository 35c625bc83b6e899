/**
 * Result panel: the choice of the view, the statistics of the run, and the table or chart. GraphiQL
 * itself shows the tree.
 */
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { parse, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { lazy, Suspense, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { arrangeTable, csvOf } from '../answer/arrangement';
import { RESULT_VIEWS } from '../answer/settings';
import {
  resultListsOf,
  defaultResultList,
  tableOf,
  type ResultList,
  type Table,
} from '../answer/table';
import {
  unitsOf,
  DISPLAY_MASS_UNITS,
  convertMasses,
  isDisplayMassUnit,
  type UnitByPath,
} from '../answer/mass-units';
import type { PageUrlRequest } from './url-request';
import { CostGauge } from './cost-gauge';
import { downloadFile, fileNameForDownload } from './download-file';
import { BASE_PATH } from './base-path';
import { csrfToken } from './fetcher';
import { useKeyboardAccess } from './keyboard';
import { LabelledSelect } from './labelled-select';
import { ListCompleteness } from './list-completeness';
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
  const summary = [`Status ${status}`, `${durationMs.toFixed(0)} ms`, formatBytes(responseBytes)];

  if (cost !== undefined) summary.push(`charged ${cost}`);

  if (statementCount !== undefined) {
    summary.push(`${statementCount} ${statementCount === 1 ? 'statement' : 'statements'}`);
  }

  return (
    <p className="facts" role="status">
      {summary.join(' · ')}
    </p>
  );
}

function parseTabResponse(response: string | null | undefined): ExecutionResult | undefined {
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

/** Servers reject long URLs, so a long query of a share link is left out. */
const MAX_RETURN_URL_LENGTH = 2_000;

function loginUrlOf({ pathname, search, hash }: Location): string {
  const path = pathname.slice(BASE_PATH.length) + search;
  const returnUrl = path.length + hash.length > MAX_RETURN_URL_LENGTH ? path : path + hash;

  return `${BASE_PATH}/login?next=${encodeURIComponent(returnUrl)}`;
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
          <a href={loginUrlOf(location)}>Sign in</a> to query your own data. You will return to this
          tab.
        </p>
      )}
    </div>
  );
}

const NO_UNITS: UnitByPath = new Map();

function unitsOfRun(
  run: ViewState['lastRun'],
  schema: GraphQLSchema | null | undefined,
): UnitByPath {
  if (!run || !schema) return NO_UNITS;
  const { query, variables, operationName } = run.request;

  try {
    return unitsOf(schema, { query: parse(query), variables, operationName });
  } catch {
    // A query with a syntax error has no units.
    return NO_UNITS;
  }
}

const chosenListOf = (lists: readonly ResultList[], listPath: string | undefined) =>
  lists.find(({ path }) => path === listPath) ?? defaultResultList(lists);

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
  const list = chosenListOf(lists, viewState.listPath);
  const receivedTable: Table | undefined = useMemo(
    () => (result.data ? tableOf(result.data, list) : undefined),
    [result, list],
  );
  const unitByPath = useMemo(
    () => (result.data ? unitsOfRun(viewState.lastRun, schema) : NO_UNITS),
    [result, viewState.lastRun, schema],
  );
  const table = useMemo(
    () => receivedTable && convertMasses(receivedTable, unitByPath, list, viewState.massUnit),
    [receivedTable, unitByPath, list, viewState.massUnit],
  );

  if (!table) return <ErrorList result={result} />;
  const tableMassUnit = table.columns.map(({ unit }) => unit).find(isDisplayMassUnit);

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
      {viewState.view === 'table' && (
        <TableView
          table={table}
          arrangement={viewState.arrangement}
          onChange={(arrangement) => viewStateStore.update(tabId, { arrangement })}
        />
      )}
      {viewState.view !== 'table' && (
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

/** Gives the result the width of the playground, without the question panel and the editors. */
function WidenButton() {
  const [isWide, setIsWide] = useState(false);
  const buttonRef = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    buttonRef.current?.closest('.graphiql-container')?.toggleAttribute('data-wide', isWide);
  }, [isWide]);

  return (
    <button ref={buttonRef} aria-pressed={isWide} onClick={() => setIsWide(!isWide)}>
      Full width
    </button>
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

  useKeyboardAccess();
  const { id = '', response, title } = tabs[activeTabIndex] ?? {};
  const viewState = useViewState(id);
  const result = useMemo(() => parseTabResponse(response), [response]);
  const list = useMemo(
    () => chosenListOf(resultListsOf(result?.data), viewState.listPath),
    [result, viewState.listPath],
  );
  const panelRef = useRef<HTMLElement>(null);
  const isInitialRunDoneRef = useRef(!urlRequest?.runsOnLoad);

  useLayoutEffect(() => {
    viewStateStore.activeTabId = id;
    // Stops the run of the previous tab, because GraphiQL would show its response in the new tab.
    return stop;
  }, [id, stop]);
  // On load, GraphiQL opens the request from the page URL in the active tab.
  useLayoutEffect(() => {
    if (urlRequest) {
      viewStateStore.update(viewStateStore.activeTabId, {
        view: urlRequest.view ?? 'tree',
        listPath: urlRequest.listPath,
        chart: urlRequest.chart,
        massUnit: urlRequest.massUnit,
      });
    }
  }, [urlRequest]);
  useEffect(() => {
    const titlePrefix = title && title !== '<untitled>' ? `${title} – ` : '';

    document.title = `${titlePrefix}Playground – Fitgraph`;
  }, [title]);
  useEffect(() => {
    if (isInitialRunDoneRef.current || !queryEditor || !variableEditor || !responseEditor) return;
    isInitialRunDoneRef.current = true;
    void run();
  }, [queryEditor, variableEditor, responseEditor, run]);
  useEffect(() => {
    // GraphiQL always renders the tree. The style sheet hides it in the other views by this
    // attribute.
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
        <WidenButton />
        <RunStatistics run={viewState.lastRun} />
        {viewState.lastRun && result && list && (
          <ListCompleteness run={viewState.lastRun} result={result} list={list} />
        )}
        <CostGauge />
        <ShareControls viewState={viewState} />
      </div>
      {viewState.view !== 'tree' && (
        <div className="shown">
          {result && <ResultView tabId={id} viewState={viewState} result={result} />}
          {!result && (
            <p className="hint">
              {isFetching ? 'Running …' : 'Run the query to see its result here.'}
            </p>
          )}
        </div>
      )}
    </section>
  );
}
