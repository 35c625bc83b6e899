/** The order of a list: the fields asked for or the default ones, then the id, so that every order is total. */
import { createHash } from 'node:crypto';
import { Extensions, Field, InputType, registerEnumType, type ClassType } from 'type-graphql';
import { atMostElements } from '../../contract/messages';
import { hidesRows } from '../access/access';
import { whereOf, type Bind, type Condition } from '../access/conditions';
import { badArgument } from '../model/errors';
import { fieldOf, fieldsOf, type Entity, type FieldMeta } from '../model/fields';
import { perEntity } from '../model/perentity';
import { isText } from './filters';
import { collation, type Api } from './collation';
import type { Kind } from '../../contract/facts';
import { expression } from './expressions';
import { resourceOf } from '../model/registry';
import { rank, type Search } from './texts';

export enum OrderDirection {
  ASC = 'ASC',
  DESC = 'DESC',
  ASC_NULLS_FIRST = 'ASC_NULLS_FIRST',
  DESC_NULLS_LAST = 'DESC_NULLS_LAST',
}
registerEnumType(OrderDirection, {
  name: 'OrderDirection',
  description: 'Which way an order runs.',
  valuesConfig: {
    ASC: { description: 'Smallest first, nulls last.' },
    DESC: { description: 'Largest first, nulls first.' },
    ASC_NULLS_FIRST: { description: 'Smallest first but for the nulls, which come before all.' },
    DESC_NULLS_LAST: { description: 'Largest first, nulls last.' },
  },
});

/** An element of an order: `date`, or `exercise.category.name` for a field of a row that references lead to. */
export interface OrderKey {
  path: readonly string[];
  descending: boolean;
  nullsFirst: boolean;
}

export interface OrderTerm extends Omit<OrderKey, 'path'> {
  /** Tells the term from others in cursors. */
  key: string;
  /** The SQL expression, of the row's alias `t`. */
  sql: (bind: Bind) => string;
  kind: Kind;
  null: boolean;
}

/** A term within a statement: its parameters, if any, are among the statement's. */
export interface BoundTerm extends Omit<OrderTerm, 'sql'> {
  sql: string;
}

const MAX_ELEMENTS = 50;
const RELEVANCE = 'relevance';
/** In cursors, behind a text that is ordered by rules. */
const READER = '~';
/** How much of a hash tells one search from others. */
const HASH_LENGTH = 16;

const isReference = (field: FieldMeta) => field.object !== undefined && !field.relation!.many;
const isNumber = ({ kind, sql }: FieldMeta) => sql !== undefined && kind === 'decimal';
const isOrderable = (field: FieldMeta) => field.stored || isReference(field) || isNumber(field);

/** What `ASC` means for values of a kind. */
function ascending({ name, kind }: FieldMeta): string {
  if (name === 'id') return 'In the order of creation with `ASC`.';
  if (kind === 'relation') return 'Lowest id first with `ASC`.';
  if (kind === 'date' || kind === 'datetime' || kind === 'time') return 'Earliest first with `ASC`.';
  if (kind === 'integer' || kind === 'decimal' || kind === 'computed') return 'Smallest first with `ASC`.';
  if (kind === 'boolean') return 'False first with `ASC`.';
  return kind === 'choice' || kind === 'uuid' ? 'In the order in which it is stored.' : 'Alphabetical with `ASC`.';
}

/** `XOrder`: a direction for each field of one value and for each reference to a dictionary, and for each other one the order of the row that it names. */
export const orderInput: (entity: Entity) => ClassType = perEntity((entity) => {
  const name = `${entity.name}Order`;
  const Order = { [name]: class {} }[name]! as ClassType;
  const element = (key: string, type: () => object, description: string) =>
    Field(type, { nullable: true, description })(Order.prototype, key);
  for (const field of fieldsOf(entity).filter(isOrderable)) {
    element(field.name, () => OrderDirection, ascending(field));
    // GraphQL orders by the row that is named, by its id too.
    Extensions({ field, only: field.object ? 'rest' : field.only })(Order.prototype, field.name);
    if (!field.object) continue;
    const { dictionary, ordering } = resourceOf(field.target!())!;
    if (dictionary) element(field.object, () => OrderDirection, `By the \`${ordering[0]}\` of \`${field.object}\`.`);
    else element(field.object, () => orderInput(field.target!()), `By a field of \`${field.object}\`.`);
    Extensions({ only: field.only })(Order.prototype, field.object);
  }
  if (fieldsOf(entity).some(isText))
    element(RELEVANCE, () => OrderDirection, 'Best first with `DESC`. Needs `search` at the top level of `where`.');
  InputType(name, { description: `One field of ${entity.name} and the direction.` })(Order);
  Extensions({ oneOf: true })(Order);
  return Order;
}, makeReferred);

/** Orders lead on by references, perhaps back to this one; type-graphql has to know all of them before it builds. */
function makeReferred(_Order: ClassType, entity: Entity): void {
  for (const { object, target } of fieldsOf(entity).filter(isOrderable)) if (object) orderInput(target!());
}

export type OrderElement = { [field: string]: OrderDirection | OrderElement | null | undefined };

/** `-date` or `order`, as resources say their default order. */
export function orderKey(text: string): OrderKey {
  const descending = text.startsWith('-');
  return { path: [descending ? text.slice(1) : text], descending, nullsFirst: descending };
}

function keyOf(element: OrderElement, place: string): OrderKey {
  const path: string[] = [];
  let value: OrderDirection | OrderElement = element;
  while (typeof value === 'object') {
    // The input type has room for one only.
    const [[name, inner]] = Object.entries(value).filter(([, one]) => one != null) as [[string, OrderDirection | OrderElement]];
    path.push(name);
    value = inner;
    if (path.length > 1 && path.includes(RELEVANCE)) throw badArgument(place, '`relevance` is that of the listed rows themselves.');
  }
  const [direction, nulls] = value.split('_NULLS_');
  return { path, descending: direction === 'DESC', nullsFirst: nulls ? nulls === 'FIRST' : direction === 'DESC' };
}

/** The order of a list: what is asked for; else by relevance where something is searched for; then the default of the type. */
export function orderKeys(entity: Entity, orderBy: readonly OrderElement[] | null | undefined, searches: readonly Search[]): OrderKey[] {
  const usual = resourceOf(entity)!.ordering.map(orderKey);
  if (!orderBy) return searches.length ? [orderKey(`-${RELEVANCE}`), ...usual] : usual;
  if (orderBy.length > MAX_ELEMENTS) throw badArgument('orderBy', atMostElements(MAX_ELEMENTS));
  return orderBy.map((element, index) => keyOf(element, `orderBy[${index}]`));
}

/** The rank among the rows of a search, which the key names, so that a cursor fits no other search. */
function relevance(searches: readonly Search[]): Pick<OrderTerm, 'key' | 'sql' | 'kind' | 'null'> {
  if (!searches.length) throw badArgument('orderBy', '`relevance` is that of a `search` in `where`, and there is none.');
  const what = JSON.stringify(searches.map(({ field, text }) => [field.name, text]));
  const hash = createHash('sha256').update(what).digest('hex').slice(0, HASH_LENGTH);
  const sql = (bind: Bind) => `(${searches.map((one) => rank(one)('t', bind)).join(' + ')})`;
  return { key: `${RELEVANCE}(${hash})`, sql, kind: 'integer', null: false };
}

/** `rules` tell a text that is ordered by them from one that is ordered by its bytes. */
type Value = Pick<OrderTerm, 'sql' | 'kind' | 'null'> & { rules: string };

export interface Asked {
  api: Api;
  searches?: readonly Search[];
  shown?: Shown;
}

/** Conditions that rows meet to be looked at through references; of others there is nothing to order by. */
export type Shown = (entity: Entity) => readonly Condition[];

function valueAt(entity: Entity, [name, ...path]: readonly string[], alias: string, asked: Asked): Value {
  const reference = fieldsOf(entity).find((field) => isReference(field) && field.object === name);
  if (!reference) {
    const field = fieldOf(entity, name!);
    const rules = collation(entity, field, asked.api);
    return { sql: () => `${expression(field, alias)}${rules}`, kind: field.kind, null: field.null, rules };
  }
  const target = reference.target!();
  const further = path.length ? path : resourceOf(target)!.ordering.slice(0, 1);
  const inner = `${alias}r`;
  const value = valueAt(target, further, inner, asked);
  const conditions: Condition[] = [() => `${inner}."id" = ${expression(reference, alias)}`, ...(asked.shown?.(target) ?? [])];
  return {
    ...value,
    sql: (bind) => `(SELECT ${value.sql(bind)} FROM "${resourceOf(target)!.table}" ${inner}${whereOf(conditions, inner, bind)})`,
    null: reference.null || value.null || hidesRows(target),
  };
}

function termOf(entity: Entity, { path, descending, nullsFirst }: OrderKey, asked: Asked): OrderTerm {
  const direction = { descending, nullsFirst };
  if (path[0] === RELEVANCE) return { ...relevance(asked.searches ?? []), ...direction };
  const { rules, ...value } = valueAt(entity, path, 't', asked);
  return { key: `${path.join('.')}${rules && READER}`, ...value, ...direction };
}

/** Terms that end with the id, ascending unless the order says otherwise. */
export function orderOf(entity: Entity, keys: readonly OrderKey[], asked: Asked): OrderTerm[] {
  const terms: OrderTerm[] = [];
  for (const key of keys) {
    const term = termOf(entity, key, asked);
    if (!terms.some((other) => other.key === term.key)) terms.push(term);
  }
  const last = terms.findIndex((term) => term.key === 'id');
  return last >= 0 ? terms.slice(0, last + 1) : [...terms, termOf(entity, orderKey('id'), asked)];
}

export const bound = (terms: readonly OrderTerm[], bind: Bind): BoundTerm[] => terms.map((term) => ({ ...term, sql: term.sql(bind) }));

export const reversed = (terms: readonly BoundTerm[]): BoundTerm[] =>
  terms.map((term) => ({ ...term, descending: !term.descending, nullsFirst: !term.nullsFirst }));

export type SortTerm = Pick<BoundTerm, 'sql' | 'descending' | 'nullsFirst' | 'null'>;

export const BY_ID: SortTerm = { sql: 't."id"', descending: false, nullsFirst: false, null: false };

/** Where nulls come is said only if it is not PostgreSQL's way and there are any, so that an index can give the order. */
export function directionOf({ descending, nullsFirst, null: nullable }: SortTerm): string {
  const nulls = nullable && nullsFirst !== descending ? ` NULLS ${nullsFirst ? 'FIRST' : 'LAST'}` : '';
  return `${descending ? 'DESC' : 'ASC'}${nulls}`;
}

export const orderSql = (terms: readonly SortTerm[]): string => terms.map((term) => `${term.sql} ${directionOf(term)}`).join(', ');
