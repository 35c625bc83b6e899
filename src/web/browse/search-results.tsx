/** Shows search results as links to the rows. */
import type { HtmlView } from './view/view-model';

interface Suggestion {
  value: string;
  data: { id: number; category?: string };
}

export function searchResultsOf({
  kind,
  status,
  body,
}: HtmlView): readonly Suggestion[] | undefined {
  if (kind !== 'standalone' || status !== 200) return undefined;
  const { suggestions } = (body ?? {}) as { suggestions?: readonly Suggestion[] };

  return Array.isArray(suggestions) ? suggestions : undefined;
}

export function SearchResults({ view }: { view: HtmlView }) {
  const results = searchResultsOf(view);

  if (!results) return null;
  if (results.length === 0) return <p>Nothing found.</p>;
  // Row URLs begin with the search path without its last segment: `…/exercise/search/` →
  // `…/exercise/`.
  const rowPathPrefix = view.path.slice(0, view.path.lastIndexOf('/', view.path.length - 2) + 1);

  return (
    <ul class="found">
      {results.map(({ value, data: { id, category } }) => (
        <li key={id}>
          <a href={`${rowPathPrefix}${id}/`}>{value}</a>{' '}
          {category !== undefined && <span class="count">{category}</span>}
        </li>
      ))}
    </ul>
  );
}
