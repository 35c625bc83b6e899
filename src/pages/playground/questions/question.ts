/** A worked question: what is asked in plain words, the query that answers it, and how its answer is best drawn. */
import type { ChartSettings } from '../answer/settings';

export const GROUPS = ['Training', 'Nutrition', 'Body', 'Catalogue'] as const;

export interface Question {
  slug: string;
  group: (typeof GROUPS)[number];
  title: string;
  /** What the answer shows, and what of it may be changed. */
  sentence: string;
  query: string;
  variables?: Readonly<Record<string, unknown>>;
  /** The variable `since` is the day so many days ago. */
  days?: number;
  chart: ChartSettings;
}

const DAY_MS = 86_400_000;

/** `today` is an ISO date. */
export function variablesOf({ variables, days }: Question, today: string): Record<string, unknown> {
  if (days === undefined) return { ...variables };
  return { since: new Date(Date.parse(today) - days * DAY_MS).toISOString().slice(0, 10), ...variables };
}
