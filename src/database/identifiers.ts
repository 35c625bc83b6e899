/**
 * Quotes SQL identifiers that do not come from the code: names in archives, in PostgreSQL's
 * catalogs, and of roles.
 */
import { escapeIdentifier } from 'pg';

export const quoteIdentifiers = (names: readonly string[]): string =>
  names.map((name) => escapeIdentifier(name)).join(', ');
