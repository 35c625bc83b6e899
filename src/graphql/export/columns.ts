/**
 * The columns of a file: the fields of a row in the order in which they were selected, those of an object under both names, such as
 * `exercise.name`. What stands in a list below the row shares a cell, one value after the other.
 */
import type { FieldNode, GraphQLCompositeType } from 'graphql';
import { line, quoted, textOf } from '../../platform/csv';
import { isPaged } from './list';
import { refused } from './refusal';
import type { Selections } from './selection';

const BETWEEN = '; ';
/** Few words make millions, by fragments in fragments. */
const MAX_FIELDS = 1_000;

export interface Column {
  name: string;
  path: readonly string[];
}

/** Throws a Refused for too many, and for a list with pages below a row, of which a cell would show only the first. */
export function columnsOf(rows: readonly FieldNode[], type: GraphQLCompositeType, selections: Selections): Column[] {
  const columns: Column[] = [];
  let fields = 0;
  const walk = (nodes: readonly FieldNode[], parent: GraphQLCompositeType, path: readonly string[]): void => {
    for (const selected of selections.below(nodes, parent)) {
      fields += 1;
      if (fields > MAX_FIELDS)
        throw refused(`A row of a file may have ${MAX_FIELDS} fields, those of objects below it included, and this one has more.`);
      const at = [...path, selected.key];
      const name = at.join('.');
      if (isPaged(selected))
        throw refused(
          `\`${name}\` is a list with pages of its own, which has no place in a cell. Ask for that list by itself, or for the file as .jsonl.`,
          name,
        );
      const within = selections.typeBelow(selected);
      if (within) walk(selected.nodes, within, at);
      else columns.push({ name, path: at });
    }
  };
  walk(rows, type, []);
  return columns;
}

/** What a cell shows; null for nothing. */
export function cellOf(row: unknown, path: readonly string[], from = 0): unknown {
  let value = row;
  for (let index = from; index < path.length; index += 1) {
    if (value === null || value === undefined) return null;
    if (Array.isArray(value)) return joined(value, path, index);
    value = (value as Record<string, unknown>)[path[index]!];
  }
  return Array.isArray(value) ? joined(value, path, path.length) : (value ?? null);
}

const joined = (values: readonly unknown[], path: readonly string[], from: number): string =>
  values.map((value) => textOf(cellOf(value, path, from))).join(BETWEEN);

export const headerOf = (columns: readonly Column[]): string => line(columns.map(({ name }) => name));

export function linesOf(rows: readonly unknown[], columns: readonly Column[]): string {
  let text = '';
  for (const row of rows) text += line(columns.map(({ path }) => quoted(cellOf(row, path))));
  return text;
}
