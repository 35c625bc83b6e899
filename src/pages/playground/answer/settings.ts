/** How an answer is looked at: what a worked question says of it, a reader chooses and a shared link carries. */
export const VIEWS = ['tree', 'table', 'chart'] as const;
export type View = (typeof VIEWS)[number];

export const CHARTS = ['line', 'bar', 'stacked', 'scatter', 'heatmap'] as const;
export type ChartKind = (typeof CHARTS)[number];

/** Columns by their names. */
export interface ChartSettings {
  kind: ChartKind;
  x: string;
  /** Of a heat map one: what runs upwards. */
  y: readonly string[];
  /** What tells lines or bars apart; of a heat map what its colours mean. */
  by?: string;
}
