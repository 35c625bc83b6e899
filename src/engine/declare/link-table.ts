/**
 * Link table of a many-to-many relation. `ownColumn` holds values of `keyColumn` (default `id`) of
 * the declaring table, `otherColumn` ids of the other table.
 */
export interface LinkTable {
  table: string;
  ownColumn: string;
  otherColumn: string;
  keyColumn?: string;

  /**
   * Column values that distinguish the links of this relation from other kinds of links in the same
   * table.
   */
  discriminators?: Readonly<Record<string, boolean>>;
}

export const linkDiscriminatorCondition = (
  { discriminators = {} }: LinkTable,
  alias: string,
): string =>
  Object.entries(discriminators)
    .map(([column, value]) => ` AND ${alias}."${column}" = ${value}`)
    .join('');
