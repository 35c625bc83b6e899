/** Builders for SQL conditions. Values are always passed as bind parameters. */
import type { StatementParameters } from '../../database/rows';

/**
 * Adds a bind parameter and returns its placeholder (`$1`). `needsCustomPlan` makes PostgreSQL plan
 * each execution for the actual values.
 */
export type ParameterBinder = (value: unknown, needsCustomPlan?: boolean) => string;
export type SqlCondition = (alias: string, bind: ParameterBinder) => string;

/** Joins conditions by AND, without the keyword WHERE. */
export const allOfSql = (
  conditions: readonly SqlCondition[],
  alias: string,
  bind: ParameterBinder,
): string => conditions.map((condition) => condition(alias, bind)).join(' AND ');

export const whereClause = (
  conditions: readonly SqlCondition[],
  alias: string,
  bind: ParameterBinder,
): string => (conditions.length ? ` WHERE ${allOfSql(conditions, alias, bind)}` : '');

export function createParameterBinder(): { bind: ParameterBinder; values: StatementParameters } {
  const values: StatementParameters = [];

  const bind: ParameterBinder = (value, needsCustomPlan = false) => {
    if (needsCustomPlan) values.needsCustomPlan = true;

    return `$${values.push(value)}`;
  };

  return { values, bind };
}

export const columnEquals =
  (column: string, value: unknown): SqlCondition =>
  (alias, bind) =>
    `${alias}."${column}" = ${bind(value)}`;

export const columnIsOneOf =
  (column: string, values: readonly unknown[]): SqlCondition =>
  (alias, bind) =>
    `${alias}."${column}" = ANY(${bind(values)})`;

const joinConditions = (
  conditions: readonly SqlCondition[],
  operator: string,
  sqlIfEmpty: string,
): SqlCondition => {
  if (!conditions.length) return () => sqlIfEmpty;
  if (conditions.length === 1) return conditions[0]!;

  return (alias, bind) =>
    `(${conditions.map((condition) => condition(alias, bind)).join(` ${operator} `)})`;
};

export const allOf = (conditions: readonly SqlCondition[]): SqlCondition =>
  joinConditions(conditions, 'AND', 'TRUE');
export const anyOf = (conditions: readonly SqlCondition[]): SqlCondition =>
  joinConditions(conditions, 'OR', 'FALSE');

/** Negates a condition. Unlike SQL's NOT, also matches rows for which the condition is null. */
export const negate =
  (condition: SqlCondition): SqlCondition =>
  (alias, bind) =>
    `((${condition(alias, bind)}) IS NOT TRUE)`;
