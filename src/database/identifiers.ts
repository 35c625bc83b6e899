/** SQL identifiers. Names from outside this code (archives, catalogues, roles) are never put into SQL without this quoting. */
import { escapeIdentifier } from 'pg';

export const quoteIdentifiers = (names: readonly string[]): string => names.map((name) => escapeIdentifier(name)).join(', ');
