/** Builders for SQL conditions. Values are always passed as bind parameters. */
import type { Parameters } from '../../database/rows';

/** Adds a bind parameter and returns its placeholder (`$1`). With `decisive` set, PostgreSQL plans the statement for its values on each execution. */
export type Bind = (value: unknown, decisive?: boolean) => string;
export type Condition = (alias: string, bind: Bind) => string;

/** Joins conditions by AND, without the keyword WHERE; empty if there are none. */
export const conditionOf = (conditions: readonly Condition[], alias: string, bind: Bind): string =>
  conditions.map((condition) => condition(alias, bind)).join(' AND ');

export const whereOf = (conditions: readonly Condition[], alias: string, bind: Bind): string =>
  conditions.length ? ` WHERE ${conditionOf(conditions, alias, bind)}` : '';

/** Creates the list of bind parameters of one statement. */
export function binder(): { bind: Bind; values: Parameters } {
  const values: Parameters = [];
  const bind: Bind = (value, decisive = false) => {
    if (decisive) values.decisive = true;
    return `$${values.push(value)}`;
  };
  return { values, bind };
}

export const equals =
  (column: string, value: unknown): Condition =>
  (alias, bind) =>
    `${alias}."${column}" = ${bind(value)}`;

export const anyOf =
  (column: string, values: readonly unknown[]): Condition =>
  (alias, bind) =>
    `${alias}."${column}" = ANY(${bind(values)})`;

const joinConditions = (conditions: readonly Condition[], operator: string, emptySql: string): Condition => {
  if (conditions.length === 1) return conditions[0]!;
  return (alias, bind) =>
    conditions.length ? `(${conditions.map((condition) => condition(alias, bind)).join(` ${operator} `)})` : emptySql;
};

export const all = (conditions: readonly Condition[]): Condition => joinConditions(conditions, 'AND', 'TRUE');
export const any = (conditions: readonly Condition[]): Condition => joinConditions(conditions, 'OR', 'FALSE');

/** Negates a condition so that rows for which it is null match as well. */
export const not =
  (condition: Condition): Condition =>
  (alias, bind) =>
    `((${condition(alias, bind)}) IS NOT TRUE)`;
