/** Columns as people call them: `keys.exercise.name` is the exercise, and `max.weightKg` the greatest weight. */
import type { Column } from './table';

/** They say where a value stands, and nothing of what it is. */
const AROUND = new Set(['keys', 'nodes', 'node', 'edges', 'bucket']);
/** What stands for the thing itself, where there is one before it. */
const ITSELF = new Set(['name', 'nameEn', 'start', 'number', 'label', 'title']);
const OF_MANY: Readonly<Record<string, string>> = { avg: 'mean', stddev: 'standard deviation of' };

/** `dateBucket` beside `date`, `repsBin` beside `reps`. */
const PARTS = /(?<=.)(?:Bucket|Bin)$/;

const wordsOf = (part: string) =>
  part
    .replace(PARTS, '')
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase();

function named({ name, unit }: Column, from: number): string {
  const parts = name
    .split('.')
    .slice(from)
    .filter((part, index, all) => !AROUND.has(part) || index === all.length - 1);
  if (parts.length > 1 && ITSELF.has(parts.at(-1)!)) parts.pop();
  const words = parts.map((part) => OF_MANY[part] ?? wordsOf(part)).join(' ');
  const title = unit ? words.replace(/ kg$/, '') : words;
  return title.charAt(0).toUpperCase() + title.slice(1);
}

const withUnit = (title: string, { unit }: Column) => (unit ? `${title} (${unit})` : title);

/** By the names of the columns; those that would be called the same keep them. */
export function titlesOf(columns: readonly Column[]): ReadonlyMap<string, string> {
  const [outer] = columns[0]?.name.split('.') ?? [];
  // Of a single row they all stand below its field, which tells none from another.
  const isWithin = columns.length > 1 && columns.every(({ name }) => name.startsWith(`${outer}.`));
  const titles = columns.map((column) => withUnit(named(column, isWithin ? 1 : 0), column));
  const isShared = (title: string) => titles.indexOf(title) !== titles.lastIndexOf(title);
  return new Map(columns.map((column, index) => [column.name, isShared(titles[index]!) ? withUnit(column.name, column) : titles[index]!]));
}

/** In a table, where names are those of the file. */
export const headingOf = (column: Column): string => withUnit(column.name, column);
