/** What the database is asked with, and what it answers. */

export type Row = Record<string, any>;

export interface Parameters extends Array<unknown> {
  /** One of them decides how the statement is best run, so it is planned for its values each time. */
  decisive?: boolean;
}
