/** Link tables of many-to-many relations. */
/**
 * Link table of a many-to-many relation. Its column `own` holds values of the column `via` of this row's table (`id` if absent), its column `other`
 * holds ids of the other table.
 */
export interface LinkTable {
  table: string;
  own: string;
  other: string;
  via?: string;
  /** Discriminator columns of a link table that holds several kinds of links, with their values for this kind. */
  fixed?: Readonly<Record<string, boolean>>;
}

/** Returns the SQL condition on the discriminator columns of a link table with the given alias. */
export const linkKindCondition = ({ fixed = {} }: LinkTable, alias: string): string =>
  Object.entries(fixed)
    .map(([column, value]) => ` AND ${alias}."${column}" = ${value}`)
    .join('');
