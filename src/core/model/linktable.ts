/** Link tables of many-to-many relations. */
/**
 * A link table of a many-to-many relation, and its columns. `ownColumn` contains values of `keyColumn` (`id` if absent) of this row's table,
 * `otherColumn` contains ids of the other table.
 */
export interface LinkTable {
  table: string;
  ownColumn: string;
  otherColumn: string;
  keyColumn?: string;
  /** Discriminator columns of a link table that holds several kinds of links, with their values for this kind. */
  discriminators?: Readonly<Record<string, boolean>>;
}

/** Returns the SQL condition on the discriminator columns of a link table with the given alias. */
export const linkDiscriminatorCondition = ({ discriminators = {} }: LinkTable, alias: string): string =>
  Object.entries(discriminators)
    .map(([column, value]) => ` AND ${alias}."${column}" = ${value}`)
    .join('');
