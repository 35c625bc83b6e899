/** Suggests a chart for a table, and computes its axes and series independently of the charting library. */
import { unquotedCellText as csvCellText } from '../../../platform/csv';
import type { ChartSettings } from './settings';
import type { Column, Table } from './table';
import { columnTitlesOf } from './columntitles';

/** Maximum number of series, because more colours would be hard to distinguish. Further series are merged into one. */
const MAX_SERIES = 12;
/** Maximum number of rows that are drawn. More points would overlap and take long to draw. */
export const MAX_CHART_ROWS = 5_000;
const MAX_SUGGESTED_LINES = 3;

export interface Series {
  name: string;
  /** Points of the series. `x` is an index into the categories of the horizontal axis or, without categories, the value itself. */
  points: [x: number | string, y: number, label: string][];
}

export interface ChartData {
  kind: ChartSettings['kind'];
  x: { name: string; kind: Column['kind']; categories: string[] };
  /** `names` are the names of the drawn columns; `categories` are the categories on the vertical axis of a heat map, otherwise empty. */
  y: { names: string[]; categories: string[] };
  series: Series[];
  omittedRowCount: number;
}

const cellText = (value: unknown) => (value === null ? '–' : csvCellText(value));
const distinctLabels = (values: readonly unknown[]) => [...new Set(values.map(cellText))];
const positionsOf = (categories: readonly string[]) =>
  new Map(categories.map((name, index) => [name, index]));

export const isChartCompatible = ({ columns }: Table, { x, y, by }: ChartSettings): boolean =>
  [x, ...y, ...(by === undefined ? [] : [by])].every((name) =>
    columns.some((column) => column.name === name),
  ) && y.length > 0;

/** Suggests a chart; undefined if the table has no rows or no numeric column. */
export function suggestChart({ columns, rows }: Table): ChartSettings | undefined {
  const columnNamesOfKind = (kind: Column['kind']) =>
    columns.filter((column) => column.kind === kind).map(({ name }) => name);
  const [times, numbers] = [columnNamesOfKind('time'), columnNamesOfKind('number')];
  const distinctValueCount = (name: string) => {
    const columnIndex = columns.findIndex((column) => column.name === name);
    return distinctLabels(rows.map((row) => row[columnIndex])).length;
  };
  // Only a text column with several values can distinguish series.
  const seriesColumnNames = columnNamesOfKind('text').filter(
    (name) => distinctValueCount(name) > 1,
  );
  const [time] = times;
  const [number, secondNumber] = numbers;
  if (number === undefined || rows.length === 0) return undefined;
  const seriesColumnNameFor = (x: string) =>
    distinctValueCount(x) < rows.length ? seriesColumnNames.find((name) => name !== x) : undefined;
  if (time !== undefined) {
    const by = seriesColumnNameFor(time);
    return by === undefined
      ? { kind: 'line', x: time, y: numbers.slice(0, MAX_SUGGESTED_LINES) }
      : { kind: 'stacked', x: time, y: [number], by };
  }
  const [category] = seriesColumnNames;
  if (category !== undefined) {
    const by = seriesColumnNameFor(category);
    return by === undefined
      ? { kind: 'bar', x: category, y: [number] }
      : { kind: 'heatmap', x: category, y: [by], by: number };
  }
  return secondNumber === undefined
    ? { kind: 'bar', x: columns[0]!.name, y: [number] }
    : { kind: 'scatter', x: number, y: [secondNumber] };
}

/**
 * Computes the data of a chart. Bar charts and heat maps show the sum of all values at the same position; line and scatter charts show each value. The
 * points of a line over times or numbers are in the order of that axis, other points in the order of the rows.
 */
export function chartDataOf(table: Table, settings: ChartSettings): ChartData {
  const { kind, x, y, by } = settings;
  const columnIndexOf = (name: string) => table.columns.findIndex((column) => column.name === name);
  const titles = columnTitlesOf(table.columns);
  const titleOf = (name: string) => titles.get(name) ?? name;
  const xColumnIndex = columnIndexOf(x);
  const byColumnIndex = by === undefined ? -1 : columnIndexOf(by);
  const rows = table.rows.slice(0, MAX_CHART_ROWS);
  const omittedRowCount = table.rows.length - rows.length;
  // Bars have categories on their axis, even if the column contains days.
  const xKind =
    kind === 'scatter' || kind === 'line' ? (table.columns[xColumnIndex]?.kind ?? 'text') : 'text';
  const isXContinuous = xKind !== 'text';
  const categories = isXContinuous ? [] : distinctLabels(rows.map((row) => row[xColumnIndex]));
  const xPositions = positionsOf(categories);
  const xValueOf = (row: readonly unknown[]): number | string =>
    isXContinuous
      ? xKind === 'number'
        ? Number(row[xColumnIndex])
        : cellText(row[xColumnIndex])
      : xPositions.get(cellText(row[xColumnIndex]))!;
  const xAxis = { name: titleOf(x), kind: xKind, categories };
  if (kind === 'heatmap') {
    const yColumnIndex = columnIndexOf(y[0]!);
    const yCategories = distinctLabels(rows.map((row) => row[yColumnIndex])).reverse();
    const yPositions = positionsOf(yCategories);
    // If no column is chosen for the colours of a heat map, each of its cells shows a number of rows.
    const heatmapValueOf = (row: readonly unknown[]) =>
      byColumnIndex < 0 ? 1 : Number(row[byColumnIndex] ?? 0);
    const points = sumByHeatmapCell(
      rows.map((row) => [
        xValueOf(row),
        yPositions.get(cellText(row[yColumnIndex]))!,
        heatmapValueOf(row),
      ]),
    );
    const series = [{ name: by === undefined ? 'Rows' : titleOf(by), points }];
    return {
      kind,
      x: xAxis,
      y: { names: [titleOf(y[0]!)], categories: yCategories },
      series,
      omittedRowCount,
    };
  }

  const series = new Map<string, Series['points']>();
  // In a scatter chart, a column that has too many values to distinguish series provides labels of the points instead.
  const byColumnLabelsPoints =
    kind === 'scatter' && distinctLabels(rows.map((row) => row[byColumnIndex])).length > MAX_SERIES;
  const labelColumnIndex =
    byColumnLabelsPoints || (kind === 'scatter' && by === undefined)
      ? byColumnLabelsPoints
        ? byColumnIndex
        : findLabelColumnIndex(table, x, y)
      : -1;
  const seriesNames = new Set<string>();
  for (const row of rows) {
    if (row[xColumnIndex] === null && isXContinuous) continue;
    for (const name of y) {
      const value = row[columnIndexOf(name)];
      if (value === null || value === undefined || !Number.isFinite(Number(value))) continue;
      const seriesName =
        byColumnIndex < 0 || byColumnLabelsPoints
          ? titleOf(name)
          : y.length > 1
            ? `${cellText(row[byColumnIndex])}, ${titleOf(name)}`
            : cellText(row[byColumnIndex]);
      if (seriesNames.size < MAX_SERIES) seriesNames.add(seriesName);
      const mergedName = seriesNames.has(seriesName) ? seriesName : 'Others';
      const points = series.get(mergedName) ?? [];
      series.set(mergedName, points);
      points.push([
        xValueOf(row),
        Number(value),
        labelColumnIndex < 0 ? '' : cellText(row[labelColumnIndex]),
      ]);
    }
  }
  return {
    kind,
    x: xAxis,
    y: { names: y.map(titleOf), categories: [] },
    series: [...series].map(([name, points]) => ({
      name,
      points: arrangePoints(points, kind, xKind),
    })),
    omittedRowCount,
  };
}

const findLabelColumnIndex = ({ columns }: Table, x: string, y: readonly string[]) =>
  columns.findIndex(({ name, kind }) => kind === 'text' && name !== x && !y.includes(name));

function arrangePoints(
  points: Series['points'],
  kind: ChartSettings['kind'],
  xKind: Column['kind'],
): Series['points'] {
  if (kind === 'bar' || kind === 'stacked') return sumByX(points);
  if (kind !== 'line' || xKind === 'text') return points;
  // A line connects its points in the order of the array, so they are sorted along the axis. The rows may have another order, such as by value.
  const positionOf = ([x]: Series['points'][number]) =>
    xKind === 'time' ? Date.parse(String(x)) : Number(x);
  return [...points].sort((a, b) => positionOf(a) - positionOf(b));
}

function sumByX(points: Series['points']): Series['points'] {
  const totalByX = new Map<number | string, number>();
  for (const [x, value] of points) totalByX.set(x, (totalByX.get(x) ?? 0) + value);
  return [...totalByX].map(([x, value]) => [x, value, '']);
}

function sumByHeatmapCell(
  values: readonly [x: number | string, y: number, value: number][],
): Series['points'] {
  const heatmapCells = new Map<string, [number | string, number, number]>();
  for (const [x, y, value] of values)
    heatmapCells.set(`${x},${y}`, [x, y, (heatmapCells.get(`${x},${y}`)?.[2] ?? 0) + value]);
  return [...heatmapCells.values()].map(([x, y, value]) => [x, y, String(value)]);
}
