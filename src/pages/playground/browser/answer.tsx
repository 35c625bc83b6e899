/** Above the answer: how it is looked at, and what came of the run. Below it the table or the chart, where the tree gives way to them. */
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { parse, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { lazy, Suspense, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { VIEWS } from '../answer/settings';
import { listsOf, mainList, tableOf, type List, type Table } from '../answer/table';
import { massesOf, UNITS, withUnits, type Masses, type Unit } from '../answer/units';
import type { Asked } from './asked';
import { Downloads } from './downloads';
import { csrfToken } from './fetcher';
import { Share } from './share';
import { looks, useLook, type Look } from './state';
import { TableView } from './table';

const ChartView = lazy(() => import('./chart'));

const TITLES = { tree: 'Tree', table: 'Table', chart: 'Chart' } as const;
/** Larger answers are read a moment after they have come. */
const KILOBYTE = 1_000;

function sizeOf(bytes: number): string {
  if (bytes < KILOBYTE) return `${bytes} B`;
  const [size, unit] = bytes < KILOBYTE * KILOBYTE ? [bytes / KILOBYTE, 'kB'] : [bytes / KILOBYTE / KILOBYTE, 'MB'];
  return `${size.toFixed(1)} ${unit}`;
}

function Facts({ run }: { run: Look['run'] }) {
  if (!run) return null;
  const { status, milliseconds, bytes, cost, statements } = run;
  const facts = [
    `Status ${status}`,
    `${milliseconds.toFixed(0)} ms`,
    sizeOf(bytes),
    ...(cost === undefined ? [] : [`cost ${cost}`]),
    ...(statements === undefined ? [] : [`${statements} ${statements === 1 ? 'statement' : 'statements'}`]),
  ];
  return (
    <p className="facts" role="status">
      {facts.join(' · ')}
    </p>
  );
}

function read(response: string | null | undefined): ExecutionResult | undefined {
  try {
    return response ? (JSON.parse(response) as ExecutionResult) : undefined;
  } catch {
    return undefined;
  }
}

/** As they are in JSON. */
interface Mistake {
  message: string;
  extensions?: { code?: string };
}

function Problems({ answer }: { answer: ExecutionResult }) {
  const mistakes = (answer.errors ?? []) as readonly Mistake[];
  const mustSignIn = csrfToken === undefined && mistakes.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  return (
    <div className="problems" role="alert">
      {mistakes.map(({ message }, index) => (
        <p key={index}>{message}</p>
      ))}
      {mustSignIn && (
        <p>
          <a href={`/login?next=${encodeURIComponent(location.pathname + location.search)}`}>Sign in</a> to ask for your own data: you come
          back to this tab.
        </p>
      )}
    </div>
  );
}

function Lists({ lists, list, choose }: { lists: readonly List[]; list: List | undefined; choose: (name: string) => void }) {
  if (lists.length < 2) return null;
  return (
    <label>
      Rows of{' '}
      <select aria-label="Rows of" value={list?.name} onChange={({ target }) => choose(target.value)}>
        {lists.map(({ name, rows }) => (
          <option key={name} value={name}>
            {name} ({rows})
          </option>
        ))}
      </select>
    </label>
  );
}

const NO_MASSES: Masses = new Map();

function massesIn(run: Look['run'], schema: GraphQLSchema | null | undefined): Masses {
  if (!run || !schema) return NO_MASSES;
  const { query, variables, operationName } = run.request;
  try {
    return massesOf(schema, { query: parse(query), variables, operationName });
  } catch {
    // The server says what is wrong with it.
    return NO_MASSES;
  }
}

/** There where something is a mass. */
function UnitChoice({ table, chosen, choose }: { table: Table; chosen: Unit | undefined; choose: (unit: Unit) => void }) {
  const units = table.columns.flatMap(({ unit }) => unit ?? []);
  if (units.length === 0) return null;
  return (
    <label>
      Unit{' '}
      <select aria-label="Unit" value={chosen ?? units[0]} onChange={({ target }) => choose(target.value as Unit)}>
        {UNITS.map((unit) => (
          <option key={unit}>{unit}</option>
        ))}
      </select>
    </label>
  );
}

function Shown({ tab, look, answer }: { tab: string; look: Look; answer: ExecutionResult }) {
  const { schema } = useGraphiQL(pick('schema'));
  const lists = useMemo(() => listsOf(answer.data), [answer]);
  const list = lists.find(({ name }) => name === look.list) ?? mainList(lists);
  const came: Table | undefined = useMemo(() => (answer.data ? tableOf(answer.data, list) : undefined), [answer, list]);
  const masses = useMemo(() => massesIn(look.run, schema), [look.run, schema]);
  const table = useMemo(() => came && withUnits(came, masses, list, look.unit), [came, masses, list, look.unit]);
  if (!table) return <Problems answer={answer} />;
  return (
    <>
      {answer.errors && <Problems answer={answer} />}
      <div className="tools">
        <Lists lists={lists} list={list} choose={(name) => looks.change(tab, { list: name, chart: undefined })} />
        <UnitChoice table={table} chosen={look.unit} choose={(unit) => looks.change(tab, { unit })} />
        <Downloads table={table} look={look} answer={answer} />
      </div>
      {look.view === 'table' ? (
        <TableView table={table} arrangement={look.arrangement} change={(arrangement) => looks.change(tab, { arrangement })} />
      ) : (
        <Suspense fallback={<p className="hint">The charts are loaded …</p>}>
          <ChartView table={table} settings={look.chart} change={(chart) => looks.change(tab, { chart })} />
        </Suspense>
      )}
    </>
  );
}

/** `asked` is what the address of the page asks for. */
export function Answer({ asked }: { asked: Asked | undefined }) {
  const { tabs, activeTabIndex, isFetching, queryEditor, variableEditor, responseEditor } = useGraphiQL(
    pick('tabs', 'activeTabIndex', 'isFetching', 'queryEditor', 'variableEditor', 'responseEditor'),
  );
  const { run } = useGraphiQLActions();
  const { id = '', response, title } = tabs[activeTabIndex] ?? {};
  const look = useLook(id);
  const answer = useMemo(() => read(response), [response]);
  const box = useRef<HTMLElement>(null);
  const hasRun = useRef(!asked?.runs);

  useLayoutEffect(() => {
    looks.active = id;
  }, [id]);
  // The tab that is in front first is that of the address.
  useLayoutEffect(() => {
    if (asked) looks.change(looks.active, { view: asked.view ?? 'tree', chart: asked.chart, unit: asked.unit });
  }, [asked]);
  useEffect(() => {
    document.title = `${title && title !== '<untitled>' ? `${title} – ` : ''}Playground – Fitgraph`;
  }, [title]);
  useEffect(() => {
    if (hasRun.current || !queryEditor || !variableEditor || !responseEditor) return;
    hasRun.current = true;
    void run();
  }, [queryEditor, variableEditor, responseEditor, run]);
  useEffect(() => {
    // The tree is GraphiQL's own, beside this in the page.
    box.current?.closest('.graphiql-response')?.setAttribute('data-view', look.view);
  }, [look.view]);

  return (
    <section className="answer" aria-label="Answer" ref={box}>
      <div className="bar">
        <div role="group" aria-label="View of the answer" className="views">
          {VIEWS.map((view) => (
            <button key={view} aria-pressed={look.view === view} onClick={() => looks.change(id, { view })}>
              {TITLES[view]}
            </button>
          ))}
        </div>
        <Facts run={look.run} />
        <Share look={look} />
      </div>
      {look.view !== 'tree' && (
        <div className="shown">
          {answer ? (
            <Shown tab={id} look={look} answer={answer} />
          ) : (
            <p className="hint">{isFetching ? 'Asked …' : 'Run the query, and its answer is shown here.'}</p>
          )}
        </div>
      )}
    </section>
  );
}
