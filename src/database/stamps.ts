/**
 * What the database notes of every row of a table that belongs to a user: when it was made, when it was last changed, and a version that is
 * another one after each change. Migrations call this for their tables; those that landed rest on it as it is.
 */

/** The columns and the trigger. */
export const stamped = (table: string): string => `
ALTER TABLE "${table}"
  ADD COLUMN "created_at" timestamptz(6) NOT NULL DEFAULT now(),
  ADD COLUMN "updated_at" timestamptz(6) NOT NULL DEFAULT now(),
  ADD COLUMN "version" uuid NOT NULL DEFAULT gen_random_uuid();
CREATE TRIGGER "${table}_stamped" BEFORE UPDATE ON "${table}" FOR EACH ROW EXECUTE FUNCTION "fitgraph_stamped"();`;

/** Triggers by which rows of the table are parts of the row of `whole` that the column names: their changes change its version. */
export const partOf = (table: string, column: string, whole: string): string =>
  Object.entries({ INSERT: 'NEW TABLE AS changed', UPDATE: 'OLD TABLE AS former NEW TABLE AS changed', DELETE: 'OLD TABLE AS changed' })
    .map(
      ([operation, rows]) => `
CREATE TRIGGER "${table}_${operation.toLowerCase()}_of_whole" AFTER ${operation} ON "${table}" REFERENCING ${rows}
  FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_part_changed"('${column}', '${whole}');`,
    )
    .join('');

export const unstamped = (table: string): string => `
DROP TRIGGER "${table}_stamped" ON "${table}";
ALTER TABLE "${table}" DROP COLUMN "created_at", DROP COLUMN "updated_at", DROP COLUMN "version";`;
