/**
 * Quoting of SQL identifiers. It is required for all names that do not come from the code: names in archives, names in PostgreSQL's catalogs, and
 * names of roles.
 */
import { escapeIdentifier } from 'pg';

export const quoteIdentifiers = (names: readonly string[]): string =>
  names.map((name) => escapeIdentifier(name)).join(', ');
