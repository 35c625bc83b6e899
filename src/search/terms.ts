/** A search term → the condition that a name contains it, whatever the case of either. */
import type { Condition } from '../core/conditions';
import { badArgument } from '../core/errors';

/** Shorter runs of letters and digits have no trigram, so an index could only be read as a whole. */
const INDEXED = /[\p{L}\p{N}]{3}/u;

/** `%` and `_` stand for themselves. */
const pattern = (term: string) => `%${term.replace(/[\\%_]/g, '\\$&')}%`;

/** Null without a term. */
export function containing(term: string | null | undefined): Condition | null {
  if (term === null || term === undefined || term === '') return null;
  if (term.includes('\0')) throw badArgument('term', 'Null characters are not allowed.');
  // An expression that no index has keeps the planner from one that would not help.
  const kept = INDEXED.test(term) ? '' : ` || ''`;
  return (alias, bind) => `(search_fold(${alias}."name")${kept}) LIKE search_fold(${bind(pattern(term))})`;
}
