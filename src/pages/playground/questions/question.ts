/** An example question: a question in plain words, the GraphQL query that answers it, and a chart of the result. */
import type { ChartSettings } from '../answer/settings';

export interface ExampleQuestion {
  slug: string;
  title: string;
  /** Explains the result, and what can be changed in the query. */
  explanation: string;
  query: string;
  variables?: Readonly<Record<string, unknown>>;
  /** Number of days between the variable `since` and today. */
  sinceDaysAgo?: number;
  chart: ChartSettings;
}

const DAY_MS = 86_400_000;

/** Returns the variables of the query. `today` is an ISO date. */
export function variablesOf({ variables, sinceDaysAgo }: ExampleQuestion, today: string): Record<string, unknown> {
  if (sinceDaysAgo === undefined) return { ...variables };
  return { since: new Date(Date.parse(today) - sinceDaysAgo * DAY_MS).toISOString().slice(0, 10), ...variables };
}
