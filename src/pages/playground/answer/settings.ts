/** View of a query result, as chosen by an example question, a user or a share link. */
export const RESULT_VIEWS = ['tree', 'table', 'chart'] as const;
export type ResultViewName = (typeof RESULT_VIEWS)[number];

export const CHART_KINDS = ['line', 'bar', 'stacked', 'scatter', 'heatmap'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

export interface ChartSettings {
  kind: ChartKind;
  x: string;
  /** Columns with the values of the chart; in a heat map, the column of its vertical axis. */
  y: readonly string[];
  /** Column whose values distinguish the lines or bars of a chart; in a heat map, the column of the colours. */
  by?: string;
}
