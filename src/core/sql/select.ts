/**
 * SELECTs of rows: made by Sequelize's query generator from the model, once per shape, kept as text and run by name, with values as parameters.
 *
 * Conditions are ours and go in as a literal. Their text tells one shape from another, so it is made for each request whatever becomes of it, and much
 * of it the generator cannot say: sets of ids, relations, likeness, cursors. Columns by other names are literals too: worked out ones, and those of
 * link tables. Joins of `each` follow the table here, as they take a row once for each of its links, which no association says.
 * What is put around such statements is said where that is done: pages below several parents (LATERAL) and the ways beyond a cursor (UNION ALL) in
 * `core/read`, groups in `core/grouping`.
 */
import { LRUCache } from 'lru-cache';
import { col, literal, type Sequelize } from 'sequelize';
import { fieldsOf, type Entity, type FieldMeta } from '../model/fields';
import { perEntity } from '../model/perentity';
import { resourceOf } from '../model/registry';
import type { Api } from './collation';
import { expression } from './expressions';
import { directionOf, orderSql, type SortTerm } from './ordering';

/** An expression over the row's alias `t`, and the name that its value has in what is read. */
export type Attribute = readonly [expression: string, name: string];

export interface Columns {
  readonly entity: Entity;
  /** Tells them from all others. */
  readonly number: number;
  readonly attributes: readonly (readonly [expression: ReturnType<typeof col | typeof literal>, name: string])[];
}

/** A statement but for its values. */
export interface Shape {
  columns: Columns;
  /** What is read beside the columns. */
  beside?: readonly Attribute[];
  /** `JOIN …`, of a filter. */
  joins?: string;
  /** Conditions on the row's alias `t`. */
  where?: string;
  order?: readonly SortTerm[];
  /** Numbers, or placeholders of some. */
  limit?: string;
  offset?: string;
}

const MAX_COLUMNS = 5_000;
const MAX_SHAPES = 5_000;
/** Characters of all shapes that are kept, with their statements. */
const MAX_TEXT = 5_000_000;

const known = new LRUCache<string, Columns>({ max: MAX_COLUMNS });
const kept = new LRUCache<string, string>({
  max: MAX_SHAPES,
  maxSize: MAX_TEXT,
  sizeCalculation: (text, shape) => text.length + shape.length,
});

let numbered = 0;
/** Two entities may have the same name. */
const numberOf = perEntity(() => (numbered += 1));

const valueOf = (field: FieldMeta, api: Api) => (field.column ? col(`t.${field.column}`) : literal(expression(field, 't', api)));

/** What to read for these fields; the id is always among them. */
export function columnsOf(entity: Entity, names: Iterable<string>, api: Api): Columns {
  const wanted = new Set(['id', ...names]);
  const fields = fieldsOf(entity).filter(({ name }) => wanted.has(name));
  const key = `${numberOf(entity)} ${api} ${fields.map(({ name }) => name).join()}`;
  let columns = known.get(key);
  if (!columns) {
    columns = { entity, number: (numbered += 1), attributes: fields.map((field) => [valueOf(field, api), field.name]) };
    known.set(key, columns);
  }
  return columns;
}

/** No name and no expression has this sign in it. */
const BETWEEN = '\0';

export function select(shape: Shape): string {
  const { columns, beside = [], joins = '', where = '', order = [], limit = '', offset = '' } = shape;
  const read = beside.flat().join(BETWEEN);
  const key = [columns.number, read, joins, where, orderSql(order), limit, offset].join(BETWEEN);
  let text = kept.get(key);
  if (text === undefined) kept.set(key, (text = made(shape)));
  return text;
}

/** Missing in the type declarations of Sequelize. */
interface Generator {
  selectQuery(table: string, options: object, model: Entity): string;
}

/** As `select`, made anew. */
export function made({ columns: { entity, attributes }, beside = [], joins, where, order, limit, offset }: Shape): string {
  const generator = (entity as unknown as { sequelize: Sequelize }).sequelize.getQueryInterface().queryGenerator as Generator;
  const statement = (options: object) =>
    generator.selectQuery(resourceOf(entity)!.table, { tableAs: 't', ...options }, entity).replace(/;$/, '');
  const read = [...attributes, ...beside.map(([value, name]) => [literal(value), name])];
  const rest = {
    ...(where && { where: literal(where) }),
    ...(order?.length && { order: order.map((term) => [literal(term.sql), directionOf(term)]) }),
    ...(limit && { limit: literal(limit) }),
    ...(offset && { offset: literal(offset) }),
  };
  const whole = statement({ attributes: read, ...rest });
  if (!joins) return whole;
  const head = statement({ attributes: read });
  return `${head}${joins}${whole.slice(head.length)}`;
}
