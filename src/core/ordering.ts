/** The order of a list: the fields asked for or the default ones, then the id, so that every order is total. */
import { fieldOf, type Entity, type FieldMeta } from './fields';
import { expression } from './plan';

export interface OrderTerm {
  field: FieldMeta;
  descending: boolean;
}

/** `['-date', 'reps']` → terms that end with the id, ascending (nulls last ascending, first descending, as PostgreSQL has it). */
export function orderOf(entity: Entity, keys: readonly string[]): OrderTerm[] {
  const terms: OrderTerm[] = [];
  for (const key of keys) {
    const descending = key.startsWith('-');
    const field = fieldOf(entity, descending ? key.slice(1) : key);
    if (!terms.some((term) => term.field === field)) terms.push({ field, descending });
  }
  const last = terms.findIndex((term) => term.field.name === 'id');
  return last >= 0 ? terms.slice(0, last + 1) : [...terms, { field: fieldOf(entity, 'id'), descending: false }];
}

export const reversed = (terms: readonly OrderTerm[]): OrderTerm[] => terms.map((term) => ({ ...term, descending: !term.descending }));

export const orderSql = (terms: readonly OrderTerm[]): string =>
  terms.map(({ field, descending }) => `${expression(field, 't')}${descending ? ' DESC' : ''}`).join(', ');
