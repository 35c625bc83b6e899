/** Types of statement parameters and result rows. */

/** Values of a row by column. Their types are known only at run time, from the field metadata. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each caller knows the columns that it has selected
export type Row = Record<string, any>;

export interface StatementParameters extends Array<unknown> {
  /**
   * Whether the best query plan depends on the values of the parameters. Such a statement is not prepared, so that PostgreSQL plans each execution.
   */
  needsCustomPlan?: boolean;
}
