/** What the database is asked with, and what it answers. */

/** What is in its columns the facts of fields tell, at run time. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each reader knows which columns it has asked for
export type Row = Record<string, any>;

export interface Parameters extends Array<unknown> {
  /** One of them decides how the statement is best run, so it is planned for its values each time. */
  decisive?: boolean;
}
