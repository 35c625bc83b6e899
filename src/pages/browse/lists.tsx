/** What a list can be asked: filters, orders, neighbouring pages. All of it is links and a GET form, so every state has an address. */
import type { Control, HtmlView } from './view/view';
import { Field } from './controls';
import { messageOf } from './messages';
import { PERIOD_KEY } from './view/series';

/** The address with these parameters set, or (null) left out. */
export function address({ path, query }: HtmlView, changes: Record<string, string | null>): string {
  const next = new URLSearchParams(query);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) next.delete(key);
    else next.set(key, value);
  }
  const text = next.toString();
  return text ? `${path}?${text}` : path;
}

/** What was chosen, as people read it. */
const saidOf = ({ choices, chosen }: Control, values: readonly string[]): string =>
  chosen ?? values.map((value) => choices?.find((choice) => String(choice.value) === value)?.label ?? value).join(', ');

export function Filters({ view }: { view: HtmlView }) {
  const { filters, query, errors, path, base, kind, window } = view;
  const isList = kind === 'list';
  if (filters.length === 0 && (!isList || view.orderable.length === 0)) return null;
  const active = filters.filter(({ key }) => query.getAll(key).some((value) => value !== ''));
  const mistaken = view.method === 'GET' && filters.some(({ key }) => errors[key]);
  const sorted = isList && view.orderable.length > 0;
  const kept = [sorted ? '' : 'ordering', 'format', PERIOD_KEY].filter((key) => query.get(key));
  return (
    <details class="filters" open={mistaken || !isList}>
      <summary>
        {isList ? 'Filter and sort' : 'Parameters'}
        {isList && active.length > 0 && (
          <span class="count">{` ${active.map((control) => `${control.label}: ${saidOf(control, query.getAll(control.key))}`).join(', ')}`}</span>
        )}
      </summary>
      {mistaken && (
        <p class="alert" role="alert">
          The filter could not be used.{' '}
          {filters
            .filter(({ key }) => errors[key])
            .map((control) => `${control.label}: ${messageOf(control, query.getAll(control.key), errors[control.key]!)}`)
            .join(' ')}
        </p>
      )}
      <form method="get" action={path} noValidate>
        {kept.map((key) => (
          <input key={key} type="hidden" name={key} value={query.get(key)!} />
        ))}
        <div class="grid">
          {filters.map((control) => (
            <Field
              key={control.key}
              control={control}
              prefix="f"
              values={query.getAll(control.key)}
              errors={mistaken ? errors[control.key] : undefined}
              filter
              base={base}
            />
          ))}
          {sorted && <Order view={view} />}
          {isList && (
            <Field
              control={{ key: 'limit', label: 'Rows per page', kind: 'integer', required: false }}
              prefix="f"
              values={[String(window!.limit)]}
              filter
              base={base}
            />
          )}
        </div>
        <div class="row">
          <button>{isList ? 'Show' : 'Run'}</button>
          {active.length > 0 && (
            <a href={address(view, { offset: null, ...Object.fromEntries(active.map(({ key }) => [key, null])) })}>Clear</a>
          )}
        </div>
      </form>
    </details>
  );
}

/** Where there are no headers to sort by, as on a phone, and for what has no column. */
function Order({ view }: { view: HtmlView }) {
  const { orderable, query, labels } = view;
  const current = query.getAll('ordering').at(-1) ?? '';
  const options = orderable.flatMap((key) => [
    { value: key, text: `${labels[key]} ↑` },
    { value: `-${key}`, text: `${labels[key]} ↓` },
  ]);
  if (current !== '' && !options.some(({ value }) => value === current)) options.push({ value: current, text: current });
  return (
    <div class="field">
      <label class="label" for="f-ordering">
        Sort by
      </label>
      <select id="f-ordering" name="ordering">
        <option value="">Usual order</option>
        {options.map(({ value, text }) => (
          <option key={value} value={value} selected={value === current}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface Envelope {
  count: number;
  next: string | null;
  previous: string | null;
  results: unknown[];
}

export const envelopeOf = ({ kind, status, method, body }: HtmlView): Envelope | undefined =>
  kind === 'list' && status === 200 && method === 'GET' ? (body as Envelope) : undefined;

function Nothing({ view: { filters, query, path } }: { view: HtmlView }) {
  if (!filters.some(({ key }) => query.get(key))) return <p>Nothing here yet.</p>;
  return (
    <p>
      Nothing found. <a href={path}>Show all</a>
    </p>
  );
}

export function Neighbours({ view, label }: { view: HtmlView; label: string }) {
  const envelope = envelopeOf(view);
  if (!envelope) return null;
  const { count, results } = envelope;
  const { offset, limit } = view.window!;
  if (count === 0) return <Nothing view={view} />;
  const to = (start: number) => address(view, { limit: String(limit), offset: start > 0 ? String(start) : null });
  const step = (rel: string, text: string, start: number | undefined) =>
    start === undefined ? (
      <span class="button plain off">{text}</span>
    ) : (
      <a class="button plain" rel={rel} href={to(start)}>
        {text}
      </a>
    );
  return (
    <nav class="neighbours row" aria-label={label}>
      {step('prev', '← Previous', envelope.previous ? offset - limit : undefined)}
      <span>
        {Number(view.query.getAll('limit').at(-1)) > limit && `Pages show at most ${limit} rows; the JSON answer has more. `}
        {results.length ? `${offset + 1}–${offset + results.length} of ${count}` : `None here; ${count} in all`}
      </span>
      {step('next', 'Next →', envelope.next ? offset + limit : undefined)}
    </nav>
  );
}
