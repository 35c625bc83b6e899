/** An example question: a question in plain words, the GraphQL query that answers it, and a chart of the result. */
import type { ChartSettings } from '../answer/settings';

export interface ExampleQuestion {
  slug: string;
  title: string;
  explanation: string;
  query: string;
  variables?: Readonly<Record<string, unknown>>;
  /** Number of days before today to which the query variable `since` is set. */
  sinceDaysAgo?: number;
  chart: ChartSettings;
}

const DAY_MS = 86_400_000;

/** Returns the GraphQL variables of an example question. The variable `since`, if needed, is computed from `today`, an ISO date. */
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
