/** Conditions of a statement. Values only ever travel as parameters. */
import type { Parameters } from '../../database/rows';

/** Adds a value to the statement's parameters and tells its placeholder; `decisive` as in `Parameters`. */
export type Bind = (value: unknown, decisive?: boolean) => string;
export type Condition = (alias: string, bind: Bind) => string;

/** What rows meet all of; nothing where there are no conditions. */
export const conditionOf = (conditions: readonly Condition[], alias: string, bind: Bind): string =>
  conditions.map((condition) => condition(alias, bind)).join(' AND ');

export const whereOf = (conditions: readonly Condition[], alias: string, bind: Bind): string =>
  conditions.length ? ` WHERE ${conditionOf(conditions, alias, bind)}` : '';

/** Collects the parameters of one statement. */
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

const joined = (conditions: readonly Condition[], word: string, none: string): Condition => {
  if (conditions.length === 1) return conditions[0]!;
  return (alias, bind) => (conditions.length ? `(${conditions.map((condition) => condition(alias, bind)).join(` ${word} `)})` : none);
};

export const all = (conditions: readonly Condition[]): Condition => joined(conditions, 'AND', 'TRUE');
export const any = (conditions: readonly Condition[]): Condition => joined(conditions, 'OR', 'FALSE');

/** The complement: rows for which the condition is false, and those for which a null leaves it open. */
export const not =
  (condition: Condition): Condition =>
  (alias, bind) =>
    `((${condition(alias, bind)}) IS NOT TRUE)`;
