/** A search term → the condition that a name contains it, whatever the case of either. */
import type { Condition } from '../../core/conditions';
import { badArgument } from '../../core/errors';
import { fieldOf, type Entity } from '../../core/fields';
import { has } from '../../core/texts';

/** Null without a term. */
export function containing(entity: Entity, term: string | null | undefined): Condition | null {
  if (term === null || term === undefined || term === '') return null;
  if (term.includes('\0')) throw badArgument('term', 'Null characters are not allowed.');
  return has(fieldOf(entity, 'name'), 'contains', term, true);
}
