/** What of a table a chart draws, and which chart suits it. */
import { textOf } from '../../../platform/csv';
import type { ChartSettings } from './settings';
import type { Column, Table } from './table';
import { titlesOf } from './titles';

/** More colours than these nobody tells apart. */
const MAX_SERIES = 12;
/** More points than these are drawn over each other, and for long. */
export const MAX_POINTS = 5_000;
const MANY_LINES = 3;

export interface Series {
  name: string;
  /** By place on the axis of categories, else x itself. */
  points: [x: number | string, y: number, label: string][];
}

export interface Drawing {
  kind: ChartSettings['kind'];
  x: { name: string; kind: Column['kind']; categories: string[] };
  /** Of a heat map the one that runs upwards, with its categories. */
  y: { names: string[]; categories: string[] };
  series: Series[];
  /** Rows that are left out, because there are more than can be seen. */
  omitted: number;
}

const textOfCell = (value: unknown) => (value === null ? '–' : textOf(value));
const distinct = (values: readonly unknown[]) => [...new Set(values.map(textOfCell))];

export const fits = ({ columns }: Table, { x, y, by }: ChartSettings): boolean =>
  [x, ...y, ...(by === undefined ? [] : [by])].every((name) => columns.some((column) => column.name === name)) && y.length > 0;

/** Undefined where nothing can be drawn, because there is no number. */
export function suggested({ columns, rows }: Table): ChartSettings | undefined {
  const of = (kind: Column['kind']) => columns.filter((column) => column.kind === kind).map(({ name }) => name);
  const [times, numbers] = [of('time'), of('number')];
  // What is the same in all rows, or different in each, tells no series apart.
  const telling = of('text').filter((name) => {
    const place = columns.findIndex((column) => column.name === name);
    return distinct(rows.map((row) => row[place])).length > 1;
  });
  const [time] = times;
  const [number, second] = numbers;
  if (number === undefined || rows.length === 0) return undefined;
  const series = (x: string) => {
    const place = columns.findIndex(({ name }) => name === x);
    const isRepeated = distinct(rows.map((row) => row[place])).length < rows.length;
    return isRepeated ? telling.find((name) => name !== x) : undefined;
  };
  if (time !== undefined) {
    const by = series(time);
    return by === undefined ? { kind: 'line', x: time, y: numbers.slice(0, MANY_LINES) } : { kind: 'stacked', x: time, y: [number], by };
  }
  const [category] = telling;
  if (category !== undefined) {
    const by = series(category);
    return by === undefined ? { kind: 'bar', x: category, y: [number] } : { kind: 'heatmap', x: category, y: [by], by: number };
  }
  return second === undefined ? { kind: 'bar', x: columns[0]!.name, y: [number] } : { kind: 'scatter', x: number, y: [second] };
}

/** Points of the same place are added up where a bar or a field of a heat map stands for them; lines and scatter charts show each. */
export function drawingOf(table: Table, settings: ChartSettings): Drawing {
  const { kind, x, y, by } = settings;
  const place = (name: string) => table.columns.findIndex((column) => column.name === name);
  const titles = titlesOf(table.columns);
  const title = (name: string) => titles.get(name) ?? name;
  const xAt = place(x);
  const xKind = table.columns[xAt]?.kind ?? 'text';
  const rows = table.rows.slice(0, MAX_POINTS);
  const omitted = table.rows.length - rows.length;
  // A bar stands over its category, also where that is a day.
  const isNumeric = kind === 'scatter' ? xKind !== 'text' : kind === 'line' && xKind !== 'text';
  const categories = isNumeric ? [] : distinct(rows.map((row) => row[xAt]));
  const xPlaces = new Map(categories.map((name, index) => [name, index]));
  const xOf = (row: readonly unknown[]): number | string =>
    isNumeric ? (xKind === 'number' ? Number(row[xAt]) : textOf(row[xAt])) : xPlaces.get(textOfCell(row[xAt]))!;
  if (kind === 'heatmap') return heatmap(rows, settings, { place, title, xOf, categories, omitted });

  const series = new Map<string, Series['points']>();
  const byAt = by === undefined ? -1 : place(by);
  // Of a scatter chart it is the name of each point.
  const isLabel = kind === 'scatter' && distinct(rows.map((row) => row[byAt])).length > MAX_SERIES;
  const labelAt = isLabel || (kind === 'scatter' && by === undefined) ? (isLabel ? byAt : labelOf(table, x, y)) : -1;
  const seen = new Set<string>();
  for (const row of rows) {
    if (row[xAt] === null && isNumeric) continue;
    for (const name of y) {
      const value = row[place(name)];
      if (value === null || value === undefined || !Number.isFinite(Number(value))) continue;
      const told = byAt < 0 || isLabel ? title(name) : y.length > 1 ? `${textOfCell(row[byAt])}, ${title(name)}` : textOfCell(row[byAt]);
      // The last ones share a colour.
      if (seen.size < MAX_SERIES) seen.add(told);
      const key = seen.has(told) ? told : 'Others';
      const points = series.get(key) ?? [];
      series.set(key, points);
      points.push([xOf(row), Number(value), labelAt < 0 ? '' : textOfCell(row[labelAt])]);
    }
  }
  return {
    kind,
    x: { name: title(x), kind: isNumeric ? xKind : 'text', categories },
    y: { names: y.map(title), categories: [] },
    series: [...series].map(([name, points]) => ({ name, points: kind === 'bar' || kind === 'stacked' ? added(points) : points })),
    omitted,
  };
}

const labelOf = ({ columns }: Table, x: string, y: readonly string[]) =>
  columns.findIndex(({ name, kind }) => kind === 'text' && name !== x && !y.includes(name));

function added(points: Series['points']): Series['points'] {
  const sums = new Map<number | string, number>();
  for (const [x, value] of points) sums.set(x, (sums.get(x) ?? 0) + value);
  return [...sums].map(([x, value]) => [x, value, '']);
}

interface Placed {
  place(name: string): number;
  title(name: string): string;
  xOf(row: readonly unknown[]): number | string;
  categories: string[];
  omitted: number;
}

/** Without a column for the colours they are the numbers of rows. */
function heatmap(rows: Table['rows'], { x, y, by }: ChartSettings, { place, title, xOf, categories, omitted }: Placed): Drawing {
  const yAt = place(y[0]!);
  const byAt = by === undefined ? -1 : place(by);
  const upwards = distinct(rows.map((row) => row[yAt])).reverse();
  const yPlaces = new Map(upwards.map((name, index) => [name, index]));
  const fields = new Map<string, [number | string, number, number]>();
  for (const row of rows) {
    const value = byAt < 0 ? 1 : Number(row[byAt] ?? 0);
    const at: [number | string, number] = [xOf(row), yPlaces.get(textOfCell(row[yAt]))!];
    fields.set(at.join(), [...at, (fields.get(at.join())?.[2] ?? 0) + value]);
  }
  return {
    kind: 'heatmap',
    x: { name: title(x), kind: 'text', categories },
    y: { names: [title(y[0]!)], categories: upwards },
    series: [
      { name: by === undefined ? 'Rows' : title(by), points: [...fields.values()].map(([at, up, value]) => [at, up, String(value)]) },
    ],
    omitted,
  };
}
