/**
 * Link table of a many-to-many relation. `ownColumn` contains values of the column `keyColumn` (`id` if absent) of the declaring table, `otherColumn`
 * contains ids of the other table.
 */
export interface LinkTable {
  table: string;
  ownColumn: string;
  otherColumn: string;
  keyColumn?: string;
  /** Discriminator columns of a link table that contains several kinds of links, with their values for the links of this relation. */
  discriminators?: Readonly<Record<string, boolean>>;
}

export const linkDiscriminatorCondition = (
  { discriminators = {} }: LinkTable,
  alias: string,
): string =>
  Object.entries(discriminators)
    .map(([column, value]) => ` AND ${alias}."${column}" = ${value}`)
    .join('');
