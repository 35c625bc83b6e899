/** What a list can be asked: filters, orders, neighbouring pages. All of it is links and a GET form, so every state has an address. */
import type { HtmlView } from './view/view';
import { Field } from './controls';

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

export function Filters({ view }: { view: HtmlView }) {
  const { filters, query, errors, path, base, kind, window } = view;
  if (filters.length === 0) return null;
  const isList = kind === 'list';
  const active = filters.filter(({ key }) => query.getAll(key).some((value) => value !== ''));
  const mistaken = view.method === 'GET' && filters.some(({ key }) => errors[key]);
  const kept = ['ordering', 'format'].filter((key) => query.get(key));
  return (
    <details class="filters" open={mistaken || active.length > 0 || !isList}>
      <summary>
        {isList ? 'Filter' : 'Parameters'}
        {active.length > 0 && <span class="count">{` (${active.length} set)`}</span>}
      </summary>
      {mistaken && (
        <p class="alert" role="alert">
          {`Nothing was looked up: ${filters.flatMap(({ key, label }) => (errors[key] ? [`${label}: ${errors[key].join(' ')}`] : [])).join(' ')}`}
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
          {isList && (
            <Field
              control={{ key: 'limit', label: 'Rows a page', kind: 'integer', required: false }}
              prefix="f"
              values={[String(window!.limit)]}
              filter
              base={base}
            />
          )}
        </div>
        <div class="row">
          <button>{isList ? 'Show' : 'Ask'}</button>
          {active.length > 0 && (
            <a href={address(view, { offset: null, ...Object.fromEntries(active.map(({ key }) => [key, null])) })}>Clear</a>
          )}
        </div>
      </form>
    </details>
  );
}

export function Ordering({ view }: { view: HtmlView }) {
  const { orderable, query, labels } = view;
  const current = query.getAll('ordering').at(-1) ?? '';
  const link = (term: string, text: string, sign: string) => (
    <a
      href={address(view, { ordering: term, offset: null })}
      {...(term === current && { 'aria-current': 'true', class: 'current' })}
      aria-label={text}
      title={text}
    >
      {sign}
    </a>
  );
  return (
    <nav class="ordering" aria-label="Order">
      <span>Order by</span>
      <ul>
        {orderable.map((key) => (
          <li key={key} class={current.replace(/^-/, '') === key ? 'chosen' : ''}>
            {key} {link(key, `${labels[key]}, smallest first`, '↑')} {link(`-${key}`, `${labels[key]}, largest first`, '↓')}
          </li>
        ))}
        {current !== '' && (
          <li>
            <a href={address(view, { ordering: null, offset: null })}>default order</a>
          </li>
        )}
      </ul>
    </nav>
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

export function Neighbours({ view, label }: { view: HtmlView; label: string }) {
  const envelope = envelopeOf(view);
  if (!envelope) return null;
  const { count, results } = envelope;
  const { offset, limit } = view.window!;
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
        {Number(view.query.getAll('limit').at(-1)) > limit && `Pages show at most ${limit} rows; JSON has more. `}
        {results.length ? `${offset + 1}–${offset + results.length} of ${count}` : count ? `None here; ${count} in all` : 'No rows'}
      </span>
      {step('next', 'Next →', envelope.next ? offset + limit : undefined)}
    </nav>
  );
}
