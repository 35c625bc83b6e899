/** The order of a list: the fields asked for or the default ones, then the id, so that every order is total. */
import { fieldOf, type Entity } from './fields';
import type { Kind } from '../extensions';
import { expression } from './plan';
import { resourceOf } from './resource';

export interface OrderTerm {
  /** `date`, or `language.fullName` for a field of the row that a reference names. */
  key: string;
  /** The SQL expression, of the row's alias `t`. */
  sql: string;
  kind: Kind;
  null: boolean;
  descending: boolean;
}

function termOf(entity: Entity, key: string, descending: boolean): OrderTerm {
  const [name, of] = key.split('.') as [string, string | undefined];
  if (of === undefined) {
    const field = fieldOf(entity, name);
    return { key, sql: expression(field, 't'), kind: field.kind, null: field.null, descending };
  }
  const reference = fieldOf(entity, `${name}Id`);
  const target = reference.target!();
  const field = fieldOf(target, of);
  const sql = `(SELECT ${expression(field, 'r')} FROM "${resourceOf(target)!.table}" r WHERE r."id" = ${expression(reference, 't')})`;
  return { key, sql, kind: field.kind, null: reference.null || field.null, descending };
}

/** `['-date', 'reps']` → terms that end with the id, ascending (nulls last ascending, first descending, as PostgreSQL has it). */
export function orderOf(entity: Entity, keys: readonly string[]): OrderTerm[] {
  const terms: OrderTerm[] = [];
  for (const key of keys) {
    const descending = key.startsWith('-');
    const term = termOf(entity, descending ? key.slice(1) : key, descending);
    if (!terms.some((other) => other.key === term.key)) terms.push(term);
  }
  const last = terms.findIndex((term) => term.key === 'id');
  return last >= 0 ? terms.slice(0, last + 1) : [...terms, termOf(entity, 'id', false)];
}

export const reversed = (terms: readonly OrderTerm[]): OrderTerm[] => terms.map((term) => ({ ...term, descending: !term.descending }));

export const orderSql = (terms: readonly OrderTerm[]): string =>
  terms.map(({ sql, descending }) => `${sql}${descending ? ' DESC' : ''}`).join(', ');
