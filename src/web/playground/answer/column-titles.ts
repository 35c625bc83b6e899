/**
 * Readable titles of columns: `keys.exercise.name` becomes `Exercise`, and `max.weightKg` becomes
 * `Max weight (kg)`.
 */
import type { Column } from './table';

/** Path segments that titles omit, because they say nothing about the values of a column. */
const OMITTED_PATH_SEGMENTS = new Set(['keys', 'nodes', 'node', 'edges', 'bucket']);

/**
 * Last path segments that titles omit, because they only identify an object: `exercise.name`
 * becomes `Exercise`.
 */
const OMITTED_LAST_SEGMENTS = new Set(['name', 'nameEn', 'start', 'number', 'label', 'title']);
const STATISTIC_TITLES: Readonly<Record<string, string>> = {
  avg: 'mean',
  stddev: 'standard deviation of',
};

/**
 * Suffixes of grouping keys, which titles omit: `dateBucket` groups by `date`, `repsBin` by `reps`.
 */
const GROUPING_SUFFIX_PATTERN = /(?<=.)(?:Bucket|Bin)$/;

const splitWords = (segment: string) =>
  segment
    .replace(GROUPING_SUFFIX_PATTERN, '')
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase();

function titleOf({ name, unit }: Column, startIndex: number): string {
  const pathSegments = name
    .split('.')
    .slice(startIndex)
    .filter((part, index, all) => !OMITTED_PATH_SEGMENTS.has(part) || index === all.length - 1);

  if (pathSegments.length > 1 && OMITTED_LAST_SEGMENTS.has(pathSegments.at(-1)!)) {
    pathSegments.pop();
  }

  const words = pathSegments.map((part) => STATISTIC_TITLES[part] ?? splitWords(part)).join(' ');
  const title = unit ? words.replace(/ kg$/, '') : words;

  return title.charAt(0).toUpperCase() + title.slice(1);
}

const withUnit = (title: string, { unit }: Column) => (unit ? `${title} (${unit})` : title);

/** Titles by column name. Columns whose titles would be equal keep their names. */
export function columnTitlesOf(columns: readonly Column[]): ReadonlyMap<string, string> {
  const [rootSegment] = columns[0]?.name.split('.') ?? [];
  // Titles omit a segment with which all paths start, as in a result of one object.
  const hasCommonRoot =
    columns.length > 1 && columns.every(({ name }) => name.startsWith(`${rootSegment}.`));
  const titles = columns.map((column) => withUnit(titleOf(column, hasCommonRoot ? 1 : 0), column));
  const isAmbiguous = (title: string) => titles.indexOf(title) !== titles.lastIndexOf(title);

  return new Map(
    columns.map((column, index) => {
      const title = titles[index]!;

      return [column.name, isAmbiguous(title) ? columnHeadingOf(column) : title];
    }),
  );
}

/** Heading of a table column: its name, as in the CSV export, with its unit. */
export const columnHeadingOf = (column: Column): string => withUnit(column.name, column);
