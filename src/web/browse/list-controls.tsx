/**
 * Filters, sort order and pagination of list pages. They are links and a GET form, so that every
 * state has a URL.
 */
import type { FieldMetadata } from '../../shared/metadata';
import { fieldLabelOf } from './view/labels';
import type { FormControl, HtmlView } from './view/view-model';
import { FormField } from './form-field';
import { validationMessage } from './validation-messages';
import { PERIOD_PARAMETER } from './view/time-series';

/** URL of the page with changed query parameters. A null value removes the parameter. */
export function urlWithChangedQuery(
  { path, query }: HtmlView,
  changes: Record<string, string | null>,
): string {
  const newQuery = new URLSearchParams(query);

  for (const [key, value] of Object.entries(changes)) {
    if (value === null) newQuery.delete(key);
    else newQuery.set(key, value);
  }

  const queryText = newQuery.toString();

  return queryText ? `${path}?${queryText}` : path;
}

const filterValueText = (
  { choices, chosenRowName }: FormControl,
  values: readonly string[],
): string =>
  chosenRowName ??
  values
    .map((value) => choices?.find((choice) => String(choice.value) === value)?.label ?? value)
    .join(', ');

export function FilterForm({ view }: { view: HtmlView }) {
  const { filters, query, errors, path, kind, pageWindow } = view;
  const isList = kind === 'list';
  const endpointFields = (isList && view.endpoint?.fields) || [];
  const sortableFields = endpointFields.filter((field) => !field.hiddenOnPages && field.isSortable);

  if (filters.length === 0 && sortableFields.length === 0) return null;
  const activeFilters = filters.filter(({ key }) =>
    query.getAll(key).some((value) => value !== ''),
  );
  const activeFiltersText = activeFilters
    .map((control) => `${control.label}: ${filterValueText(control, query.getAll(control.key))}`)
    .join(', ');
  const hasErrors = view.method === 'GET' && filters.some(({ key }) => errors[key]);
  const isSortable = sortableFields.length > 0;
  const preservedKeys = [isSortable ? '' : 'ordering', 'format', PERIOD_PARAMETER].filter((key) =>
    query.get(key),
  );

  return (
    <details class="filters" open={hasErrors || !isList}>
      <summary>
        {isList ? 'Filter and sort' : 'Parameters'}
        {isList && activeFilters.length > 0 && <span class="count">{` ${activeFiltersText}`}</span>}
      </summary>
      {hasErrors && (
        <p class="alert" role="alert">
          Invalid filter.{' '}
          {filters
            .filter(({ key }) => errors[key])
            .map(
              (control) =>
                `${control.label}: ${validationMessage(control, query.getAll(control.key), errors[control.key]!)}`,
            )
            .join(' ')}
        </p>
      )}
      <form method="get" action={path} noValidate>
        {preservedKeys.map((key) => (
          <input key={key} type="hidden" name={key} value={query.get(key)!} />
        ))}
        <div class="grid">
          {filters.map((control) => (
            <FormField
              key={control.key}
              control={control}
              idPrefix="f"
              values={query.getAll(control.key)}
              errors={hasErrors ? errors[control.key] : undefined}
              isFilter
            />
          ))}
          {isSortable && (
            <FormField
              control={sortControlOf(sortableFields)}
              idPrefix="f"
              values={query.getAll('ordering')}
              isFilter
            />
          )}
          {isList && (
            <FormField
              control={PAGE_SIZE_CONTROL}
              idPrefix="f"
              values={[String(pageWindow!.limit)]}
              isFilter
            />
          )}
        </div>
        <div class="row">
          <button>{isList ? 'Apply' : 'Run'}</button>
          {activeFilters.length > 0 && (
            <a
              href={urlWithChangedQuery(view, {
                offset: null,
                ...Object.fromEntries(activeFilters.map(({ key }) => [key, null])),
              })}
            >
              Clear
            </a>
          )}
        </div>
      </form>
    </details>
  );
}

/**
 * Input for the sort order. Clickable column headers are not enough, because narrow screens hide
 * them and some fields have no column.
 */
const sortControlOf = (fields: readonly FieldMetadata[]): FormControl => ({
  key: 'ordering',
  label: 'Sort by',
  kind: 'choice',
  required: false,
  choices: [
    { value: '', label: 'Default order' },
    ...fields.flatMap((field) => [
      { value: field.restKey, label: `${fieldLabelOf(field)} ↑` },
      { value: `-${field.restKey}`, label: `${fieldLabelOf(field)} ↓` },
    ]),
  ],
});

const PAGE_SIZE_CONTROL: FormControl = {
  key: 'limit',
  label: 'Rows per page',
  kind: 'integer',
  required: false,
};

interface ListResponse {
  count: number;
  next: string | null;
  previous: string | null;
  results: unknown[];
}

/** Response body of a list page that was read successfully. */
export function listResponseOf({ kind, status, method, body }: HtmlView): ListResponse | undefined {
  if (kind !== 'list' || status !== 200 || method !== 'GET') return undefined;

  return body as ListResponse;
}

function EmptyListMessage({ view: { filters, query, path } }: { view: HtmlView }) {
  if (!filters.some(({ key }) => query.get(key))) return <p>Nothing here yet.</p>;

  return (
    <p>
      Nothing found. <a href={path}>Show all</a>
    </p>
  );
}

export function Pagination({ view }: { view: HtmlView }) {
  const listResponse = listResponseOf(view);

  if (!listResponse) return null;
  const { count, results } = listResponse;
  const { offset, limit } = view.pageWindow!;

  if (count === 0) return <EmptyListMessage view={view} />;
  const pageUrl = (start: number) =>
    urlWithChangedQuery(view, { limit: String(limit), offset: start > 0 ? String(start) : null });

  const pageLink = (rel: string, text: string, start: number | undefined) => {
    if (start === undefined) return <span class="button plain off">{text}</span>;

    return (
      <a class="button plain" rel={rel} href={pageUrl(start)}>
        {text}
      </a>
    );
  };

  const rangeText = `${offset + 1}–${offset + results.length} of ${count}`;

  return (
    <nav class="neighbours row" aria-label="Pages">
      {pageLink('prev', '← Previous', listResponse.previous ? offset - limit : undefined)}
      <span>
        {Number(view.query.getAll('limit').at(-1)) > limit &&
          `Pages show at most ${limit} rows; the JSON response has more. `}
        {results.length ? rangeText : `No rows on this page; ${count} in total`}
      </span>
      {pageLink('next', 'Next →', listResponse.next ? offset + limit : undefined)}
    </nav>
  );
}
