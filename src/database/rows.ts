/** Types of statement parameters and result rows. */

/** Values of a row by column, typed only at run time. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each caller knows the columns that it has selected
export type Row = Record<string, any>;

export interface StatementParameters extends Array<unknown> {
  /**
   * Set if the best query plan depends on the parameter values. The statement is then not prepared,
   * so that PostgreSQL plans each execution.
   */
  needsCustomPlan?: boolean;
}
