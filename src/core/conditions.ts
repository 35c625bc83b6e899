/** Conditions of a statement. Values only ever travel as parameters. */

/** Adds a value to the statement's parameters and tells its placeholder. */
export type Bind = (value: unknown) => string;
export type Condition = (alias: string, bind: Bind) => string;

export const whereOf = (conditions: readonly Condition[], alias: string, bind: Bind): string =>
  conditions.length ? ` WHERE ${conditions.map((condition) => condition(alias, bind)).join(' AND ')}` : '';

/** Collects the parameters of one statement. */
export function binder(): { bind: Bind; values: unknown[] } {
  const values: unknown[] = [];
  return { values, bind: (value) => `$${values.push(value)}` };
}

export const equals =
  (column: string, value: unknown): Condition =>
  (alias, bind) =>
    `${alias}."${column}" = ${bind(value)}`;

export const anyOf =
  (column: string, values: readonly unknown[]): Condition =>
  (alias, bind) =>
    `${alias}."${column}" = ANY(${bind(values)})`;
