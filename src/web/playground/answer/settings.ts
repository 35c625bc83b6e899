/** How a query result is shown, as chosen by the user, an example question or a share link. */
export const RESULT_VIEWS = ['tree', 'table', 'chart'] as const;
export type ResultViewName = (typeof RESULT_VIEWS)[number];

export const CHART_KINDS = ['line', 'bar', 'stacked', 'scatter', 'heatmap'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

export interface ChartSettings {
  kind: ChartKind;
  x: string;

  /** Columns with the values. In a heat map, the column of the vertical axis. */
  y: readonly string[];

  /**
   * Column whose values distinguish the lines or bars. In a heat map, the column of the colours.
   */
  by?: string;
}
