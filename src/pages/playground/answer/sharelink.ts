/** Share links: the URL of the playground with a query, its variables and the view of its result. Headers are never part of a link. */
import {
  CHART_KINDS,
  RESULT_VIEWS,
  type ChartKind,
  type ChartSettings,
  type ResultViewName,
} from './settings';
import { DISPLAY_MASS_UNITS, type DisplayMassUnit } from './massunits';

export interface SharedRequest {
  query: string;
  /** JSON text of the variables editor. */
  variables?: string;
  view?: ResultViewName;
  /** Path of the list whose rows are shown; absent for the default list. */
  listPath?: string;
  chart?: ChartSettings;
  massUnit?: DisplayMassUnit;
}

export const PLAYGROUND_PATH = '/playground';
export const SCHEMA_FILE_PATH = '/playground/schema.json';

export function shareUrlOf({
  query,
  variables,
  view,
  listPath,
  chart,
  massUnit,
}: SharedRequest): string {
  const parameters = new URLSearchParams({ query });
  if (variables?.trim()) parameters.set('variables', variables);
  if (view) parameters.set('view', view);
  if (listPath) parameters.set('list', listPath);
  if (chart) parameters.set('chart', JSON.stringify(chart));
  if (massUnit) parameters.set('unit', massUnit);
  return `${PLAYGROUND_PATH}?${parameters.toString()}`;
}

const isStringArray = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

function parseChartSettings(text: string | null): ChartSettings | undefined {
  try {
    const { kind, x, y, by } = JSON.parse(text ?? '{}') as Record<string, unknown>;
    if (
      !CHART_KINDS.includes(kind as ChartKind) ||
      typeof x !== 'string' ||
      !isStringArray(y) ||
      y.length === 0
    )
      return undefined;
    return { kind: kind as ChartKind, x, y, ...(typeof by === 'string' && { by }) };
  } catch {
    // If the chart settings are invalid, because someone edited the link, the page is opened without them.
    return undefined;
  }
}

/** Parses the parameters of a share link; undefined if they contain no query. */
export function parseShareParameters(parameters: URLSearchParams): SharedRequest | undefined {
  const query = parameters.get('query');
  if (query === null) return undefined;
  return {
    query,
    variables: parameters.get('variables') ?? undefined,
    view: RESULT_VIEWS.find((view) => view === parameters.get('view')),
    listPath: parameters.get('list') ?? undefined,
    chart: parseChartSettings(parameters.get('chart')),
    massUnit: DISPLAY_MASS_UNITS.find((unit) => unit === parameters.get('unit')),
  };
}
