/** Parameters of statements and rows of results. */

/** Types of columns are known at run time only, from the field metadata. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each reader knows which columns it has asked for
export type Row = Record<string, any>;

export interface Parameters extends Array<unknown> {
  /** The best plan depends on a value, so the statement is not prepared and is planned for each execution. */
  decisive?: boolean;
}
