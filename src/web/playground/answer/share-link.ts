/**
 * Share links: playground URLs with a query, its variables and the view of its result. They never
 * contain headers. Browsers keep the fragment to themselves, so that no server or proxy rejects a
 * long query.
 */
import {
  CHART_KINDS,
  RESULT_VIEWS,
  type ChartKind,
  type ChartSettings,
  type ResultViewName,
} from './settings';
import { DISPLAY_MASS_UNITS, type DisplayMassUnit } from './mass-units';

export interface SharedRequest {
  query: string;

  /** JSON text of the variables editor. */
  variables?: string;
  view?: ResultViewName;

  /** Path of the list whose rows are shown. Absent for the default list. */
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

  return `${PLAYGROUND_PATH}#${parameters.toString()}`;
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
    ) {
      return undefined;
    }

    return { kind: kind as ChartKind, x, y, ...(typeof by === 'string' && { by }) };
  } catch {
    // Someone may have edited the link. The page opens without the invalid chart settings.
    return undefined;
  }
}

/** Parses a share link, or a link with the same parameters in the query string. */
export const parseShareUrl = ({ hash, searchParams }: URL): SharedRequest | undefined =>
  parseShareParameters(new URLSearchParams(hash.slice(1))) ?? parseShareParameters(searchParams);

function parseShareParameters(parameters: URLSearchParams): SharedRequest | undefined {
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
