/** View of a query result, as chosen by an example question, a user or a share link. */
export const VIEWS = ['tree', 'table', 'chart'] as const;
export type ResultViewName = (typeof VIEWS)[number];

export const CHARTS = ['line', 'bar', 'stacked', 'scatter', 'heatmap'] as const;
export type ChartKind = (typeof CHARTS)[number];

/** Kind of a chart, and the names of the columns that it draws. */
export interface ChartSettings {
  kind: ChartKind;
  x: string;
  /** Columns with the values; in a heat map, the column of the vertical axis. */
  y: readonly string[];
  /** Column that distinguishes lines or bars; in a heat map, the column of the colours. */
  by?: string;
}
