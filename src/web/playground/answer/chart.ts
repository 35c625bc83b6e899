/** Suggests a chart for a table, and computes its axes and series without the charting library. */
import { categoriesOf, cellText } from './categories';
import type { ChartSettings } from './settings';
import type { Column, Table } from './table';
import { columnTitlesOf } from './column-titles';

/** Further series are merged into one, because more colours would be hard to distinguish. */
const MAX_SERIES = 12;

/** Further rows are not drawn, because the points would overlap and take long to draw. */
const MAX_CHART_ROWS = 5_000;
const MAX_SUGGESTED_LINES = 3;

export interface Series {
  name: string;

  /**
   * `x` is an index into the categories of the horizontal axis. Without categories it is the value
   * itself.
   */
  points: [x: number | string, y: number, label: string][];
}

/** Axes and series of a chart, independent of the charting library. */
export interface ChartData {
  kind: ChartSettings['kind'];
  x: { name: string; kind: Column['kind']; categories: string[]; hasDates: boolean };

  /**
   * `names` are the drawn columns, and `unit` the unit that they share. Only a heat map has vertical
   * `categories`.
   */
  y: { names: string[]; unit?: string; categories: string[] };
  series: Series[];
  omittedRowCount: number;
}

const distinctLabels = (values: readonly unknown[]) => [...new Set(values.map(cellText))];
const indexByCategory = (categories: readonly string[]) =>
  new Map(categories.map((name, index) => [name, index]));

/** Whether the table has all columns of the chart. */
export function isChartCompatible({ columns }: Table, { x, y, by }: ChartSettings): boolean {
  const usedNames = [x, ...y, ...(by === undefined ? [] : [by])];

  return y.length > 0 && usedNames.every((name) => columns.some((column) => column.name === name));
}

/** Suggests a chart for the kinds of columns in the table. A chart needs a numeric column. */
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

  // Several series are needed only if several rows have the same x value.
  const findSeriesColumn = (x: string) =>
    distinctValueCount(x) < rows.length ? seriesColumnNames.find((name) => name !== x) : undefined;

  if (time !== undefined) {
    const by = findSeriesColumn(time);

    if (by !== undefined) return { kind: 'stacked', x: time, y: [number], by };

    return { kind: 'line', x: time, y: numbers.slice(0, MAX_SUGGESTED_LINES) };
  }

  const [category] = seriesColumnNames;

  if (category !== undefined) {
    const by = findSeriesColumn(category);

    if (by !== undefined) return { kind: 'heatmap', x: category, y: [by], by: number };

    return { kind: 'bar', x: category, y: [number] };
  }

  if (secondNumber !== undefined) return { kind: 'scatter', x: number, y: [secondNumber] };

  return { kind: 'bar', x: columns[0]!.name, y: [number] };
}

/**
 * Computes the data of a chart. Bar charts and heat maps add up the values at the same position;
 * line and scatter charts show each value.
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
  // Bars have a category axis even if the column contains dates.
  const hasBars = kind !== 'scatter' && kind !== 'line';
  const xColumn = table.columns[xColumnIndex]!;
  const xKind = hasBars ? 'text' : xColumn.kind;
  const isXContinuous = xKind !== 'text';
  const categories = isXContinuous
    ? []
    : categoriesOf(
        xColumn,
        rows.map((row) => row[xColumnIndex]),
      );
  const xPositions = indexByCategory(categories);

  const xValueOf = (row: readonly unknown[]): number | string => {
    const value = row[xColumnIndex];

    if (!isXContinuous) return xPositions.get(cellText(value))!;

    return xKind === 'number' ? Number(value) : cellText(value);
  };

  const xAxis = { name: titleOf(x), kind: xKind, categories, hasDates: xColumn.kind === 'time' };

  if (kind === 'heatmap') {
    const yColumnIndex = columnIndexOf(y[0]!);
    const yCategories = categoriesOf(
      table.columns[yColumnIndex]!,
      rows.map((row) => row[yColumnIndex]),
    ).reverse();
    const yPositions = indexByCategory(yCategories);
    // Without a column for the colours, each cell shows its number of rows.
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
  // A scatter chart uses a column with too many values as point labels, not as series.
  const labelsPoints =
    kind === 'scatter' && distinctLabels(rows.map((row) => row[byColumnIndex])).length > MAX_SERIES;
  let labelColumnIndex = -1;

  if (labelsPoints) labelColumnIndex = byColumnIndex;
  else if (kind === 'scatter' && by === undefined) {
    labelColumnIndex = findLabelColumnIndex(table, x, y);
  }

  const seriesNames = new Set<string>();

  for (const row of rows) {
    if (row[xColumnIndex] === null && isXContinuous) continue;

    for (const name of y) {
      const value = row[columnIndexOf(name)];

      if (value === null || value === undefined || !Number.isFinite(Number(value))) continue;
      let seriesName = titleOf(name);

      if (byColumnIndex >= 0 && !labelsPoints) {
        const groupName = cellText(row[byColumnIndex]);

        seriesName = y.length > 1 ? `${groupName}, ${seriesName}` : groupName;
      }

      // Further series are merged.
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

  const units = new Set(y.map((name) => table.columns[columnIndexOf(name)]?.unit));

  return {
    kind,
    x: xAxis,
    y: {
      names: y.map(titleOf),
      unit: units.size === 1 ? [...units][0] : undefined,
      categories: [],
    },
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
  // A line connects its points in array order, so they are sorted along the axis.
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

  for (const [x, y, value] of values) {
    const key = `${x},${y}`;
    const previousTotal = heatmapCells.get(key)?.[2] ?? 0;

    heatmapCells.set(key, [x, y, previousTotal + value]);
  }

  return [...heatmapCells.values()].map(([x, y, value]) => [x, y, String(value)]);
}
