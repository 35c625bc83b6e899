/**
 * An example question in plain words, with the GraphQL query that answers it and a chart of the
 * result.
 */
import type { ChartSettings } from '../answer/settings';

export interface ExampleQuestion {
  slug: string;
  title: string;

  /** Further words by which people search the question, separated by spaces. */
  keywords: string;
  explanation: string;
  query: string;
  variables?: Readonly<Record<string, unknown>>;

  /** Sets the query variable `since` to this number of days before today. */
  sinceDaysAgo?: number;
  chart: ChartSettings;
}

/** Whether a question contains all words of a search text, or words that begin with them. */
export function matchesSearch(
  { title, keywords, explanation }: ExampleQuestion,
  searchText: string,
): boolean {
  const words = splitWords(`${title} ${keywords} ${explanation}`);

  return splitWords(searchText).every((searchWord) =>
    words.some((word) => word.startsWith(searchWord)),
  );
}

const splitWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

const DAY_MS = 86_400_000;

/** GraphQL variables of an example question. `since` depends on `today`, an ISO date. */
export function variablesOf(
  { variables, sinceDaysAgo }: ExampleQuestion,
  today: string,
): Record<string, unknown> {
  if (sinceDaysAgo === undefined) return { ...variables };

  return {
    since: new Date(Date.parse(today) - sinceDaysAgo * DAY_MS).toISOString().slice(0, 10),
    ...variables,
  };
}
