/** A search term → the condition that a name contains it, whatever the case of either. */
import type { Condition } from '../../core/conditions';
import { badArgument } from '../../core/errors';

/** Shorter runs of letters and digits have no trigram: for them reading the table is faster than reading the whole index. */
const INDEXED = /[\p{L}\p{N}]{3}/u;

/** `%` and `_` stand for themselves. */
const pattern = (term: string) => `%${term.replace(/[\\%_]/g, '\\$&')}%`;

/** Null without a term. */
export function containing(term: string | null | undefined): Condition | null {
  if (term === null || term === undefined || term === '') return null;
  if (term.includes('\0')) throw badArgument('term', 'Null characters are not allowed.');
  return INDEXED.test(term)
    ? (alias, bind) => `${alias}."name_folded" LIKE search_fold(${bind(pattern(term))})`
    : (alias, bind) => `strpos(${alias}."name_folded", search_fold(${bind(term)})) > 0`;
}
