/** A `where` → conditions of one statement. Each is true or not of a row; a null never leaves it open what `ne` and `not` mean. */
import { all, any, not, whereOf, type Condition } from '../access/conditions';
import type { Context } from '../context';
import { badArgument, shortened } from '../model/errors';
import { fieldsOf, ofKind, type Entity, type FieldMeta } from '../model/fields';
import { isText, TextMode } from './filters';
import { parseId } from '../model/ids';
import { parseNodeId, refuseOtherType, rowIdOf } from '../model/node';
import { expression } from './expressions';
import { relativesOf, type Relative } from './relatives';
import { finds, has, isOneOf, type Part, type Search } from './texts';

/** Limits of one `where`, so that a statement stays one that can be planned and run. */
export const MAX_CONDITIONS = 200;
export const MAX_NESTING = 10;
/** Of `some` and `none`. */
export const MAX_QUANTIFIERS = 4;
/** Longer texts are compared letter by letter with every row, which likeness is too costly for. */
export const MAX_SEARCH = 200;

export interface Filtered {
  conditions: Condition[];
  /** Of `each`. */
  joins: Condition[];
  /** What rows are ranked by. */
  searches: Search[];
}

/** A value that GraphQL has read by an input type; those are made at start, so that no type of TypeScript tells its shape. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the schema has checked it
export type Given = any;

type Where = Record<string, Given>;

const NEVER = any([]);
const WHOLE_NUMBER = /^-?\d+$/;
/** Ids begin with 1. */
const NO_ROW = 0;
const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** A parameter of the field's type, or undefined where no row can have the value. */
function parameter(field: FieldMeta, value: unknown): unknown {
  if (field.kind === 'relation' || field.name === 'id') return parseId(value);
  if (field.kind === 'uuid') return UUID.test(String(value)) ? value : undefined;
  if (typeof value === 'string' && value.includes('\0')) return undefined;
  return value;
}

const known = (field: FieldMeta, values: readonly unknown[]) =>
  values.map((value) => parameter(field, value)).filter((value) => value !== undefined);

function compare(field: FieldMeta, test: (column: string, bind: (value: unknown) => string) => string): Condition {
  // A choice that REST left blank is none.
  if (field.enum && field.null && field.blank) return (alias, bind) => test(`NULLIF(${expression(field, alias)}, '')`, bind);
  if (!field.through) return (alias, bind) => test(expression(field, alias), bind);
  const { table, via, column } = field.through;
  return (alias, bind) => `${alias}."${via}" IN (SELECT x."id" FROM "${table}" x WHERE ${test(`x."${column}"`, bind)})`;
}

const isNull = (field: FieldMeta): Condition => compare(field, (column) => `${column} IS NULL`);

function equal(field: FieldMeta, value: unknown, insensitive: boolean): Condition {
  if (value === null) return isNull(field);
  const [one] = known(field, [value]);
  if (one === undefined) return NEVER;
  return insensitive ? isOneOf(field, [one as string]) : compare(field, (column, bind) => `${column} = ${bind(one)}`);
}

function among(field: FieldMeta, values: readonly unknown[], insensitive: boolean): Condition {
  const some = known(field, values);
  if (!some.length) return NEVER;
  return insensitive ? isOneOf(field, some as string[]) : compare(field, (column, bind) => `${column} = ANY(${bind(some)})`);
}

const COMPARISONS: Record<string, string> = { lt: '<', lte: '<=', gt: '>', gte: '>=' };

function search(field: FieldMeta, text: string, path: string): Condition {
  if ([...text].length > MAX_SEARCH) throw badArgument(path, `Ensure this value has no more than ${MAX_SEARCH} characters.`);
  return text.includes('\0') ? NEVER : finds({ field, text });
}

/** One operator of a filter. A null is no condition but to `eq` and `ne`. */
export function operation(field: FieldMeta, operator: string, value: Given, insensitive: boolean, path: string): Condition | undefined {
  if (operator === 'eq') return equal(field, value, insensitive);
  if (operator === 'ne') return not(equal(field, value, insensitive));
  if (value === null) return undefined;
  switch (operator) {
    case 'in':
      return among(field, value, insensitive);
    case 'notIn':
      return not(among(field, value, insensitive));
    case 'isNull':
      return value ? isNull(field) : not(isNull(field));
    case 'search':
      return search(field, value, path);
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return value.includes('\0') ? NEVER : has(field, operator satisfies Part, value, insensitive);
    default:
      return compare(field, (column, bind) => `${column} ${COMPARISONS[operator]} ${bind(value)}`);
  }
}

function inSet(field: FieldMeta, ids: readonly unknown[]): Condition {
  const { table, own, other, via = 'id' } = field.link!;
  const kind = ofKind(field.link!, 'l');
  return (alias, bind) =>
    `EXISTS (SELECT 1 FROM "${table}" l WHERE l."${own}" = ${alias}."${via}" AND l."${other}" = ANY(${bind(ids)}::int[])${kind})`;
}

function joinEach(field: FieldMeta, ids: readonly unknown[], name: string): Condition {
  const { table, own, other, via = 'id' } = field.link!;
  const kind = ofKind(field.link!, name);
  return (alias, bind) =>
    `JOIN "${table}" ${name} ON ${name}."${own}" = ${alias}."${via}" AND ${name}."${other}" = ANY(${bind(ids)}::int[])${kind}`;
}

/** Reads one `where` with all that is nested in it. */
class Reader {
  readonly joins: Condition[] = [];
  private conditions = 0;
  /** Of `some` and `none`, around what is read at the moment. */
  private quantifiers = 0;

  constructor(private readonly context: Context) {}

  /** `nesting` is 0 for the argument itself. */
  where(entity: Entity, where: Where, path: string, nesting: number): Condition[] {
    if (nesting > MAX_NESTING) throw badArgument(path, `Conditions are nested deeper than ${MAX_NESTING} levels.`);
    return Object.entries(where).flatMap(([name, value]) => {
      if (value == null) return [];
      const place = `${path}.${name}`;
      const inner = (one: Where, at: string) => this.counted(all(this.where(entity, one, at, nesting + 1)));
      const each = (list: Where[]) => list.map((one, index) => inner(one, `${place}[${index}]`));
      if (name === 'and') return each(value);
      if (name === 'or') return [any(each(value))];
      if (name === 'not') return [not(inner(value, place))];
      const field = fieldsOf(entity).find((candidate) => candidate.name === name);
      if (field) {
        const filter = this.numbered(entity, field, value, place);
        return field.relation?.many ? this.set(field, filter, place, nesting) : this.value(field, filter, place);
      }
      const relative = relativesOf(entity).find((candidate) => candidate.name === name)!;
      return relative.many ? this.several(relative, value, place, nesting) : [this.rows(relative, value, place, nesting)];
    });
  }

  /** A filter of ids with their numbers, so that either id of a row names it. REST's ids are numbers, and it words its mistakes itself. */
  private numbered(entity: Entity, field: FieldMeta, filter: Where, path: string): Where {
    const type = field.name === 'id' ? entity.name : field.target?.().name;
    if (type === undefined || this.context.api === 'rest') return filter;
    const number = (value: Given, at: string): Given => {
      if (Array.isArray(value)) return value.map((one, index) => number(one, `${at}[${index}]`));
      if (typeof value !== 'string' || WHOLE_NUMBER.test(value)) return value;
      refuseOtherType(type, value, at);
      if (!parseNodeId(value)) throw badArgument(at, `"${shortened(value)}" is no id of ${type}.`);
      return rowIdOf(type, value) ?? NO_ROW;
    };
    return Object.fromEntries(Object.entries(filter).map(([operator, value]) => [operator, number(value, `${path}.${operator}`)]));
  }

  private value(field: FieldMeta, filter: Where, path: string): Condition[] {
    const insensitive = filter.mode === TextMode.INSENSITIVE;
    return Object.entries(filter).flatMap(([operator, value]) => {
      if (operator === 'mode' || value === undefined) return [];
      const condition = operation(field, operator, value, insensitive, `${path}.${operator}`);
      return condition ? [this.counted(condition)] : [];
    });
  }

  private set(field: FieldMeta, filter: Where, path: string, nesting: number): Condition[] {
    const conditions: Condition[] = [];
    if (filter.in != null) conditions.push(this.counted(inSet(field, known(field, filter.in))));
    if (filter.notIn != null) conditions.push(this.counted(not(inSet(field, known(field, filter.notIn)))));
    if (filter.each != null) {
      if (nesting > 0) throw badArgument(`${path}.each`, 'This stands in `where` itself only, not in conditions inside of it.');
      this.joins.push(this.counted(joinEach(field, known(field, filter.each), `j${this.joins.length}`)));
    }
    return conditions;
  }

  private several(relative: Relative, filter: Where, path: string, nesting: number): Condition[] {
    const rows = (quantifier: string) => {
      if (filter[quantifier] == null) return [];
      const place = `${path}.${quantifier}`;
      if (this.quantifiers >= MAX_QUANTIFIERS)
        throw badArgument(place, `\`some\` and \`none\` are nested deeper than ${MAX_QUANTIFIERS} levels.`);
      this.quantifiers += 1;
      const condition = this.rows(relative, filter[quantifier], place, nesting);
      this.quantifiers -= 1;
      return [condition];
    };
    return [...rows('some'), ...rows('none').map(not)];
  }

  /** There is such a row among those that the viewer is shown. */
  private rows(relative: Relative, where: Where, path: string, nesting: number): Condition {
    const meant = all(this.where(relative.target(), where, path, nesting + 1));
    const conditions = [...relative.shown(this.context), meant];
    return this.counted((alias, bind) => {
      // A row of the statement is named for the rows that it is reached through, so that no name is used twice in a nest.
      const inner = `${alias}r`;
      return `${relative.key(alias)} IN (${relative.keys(inner)}${whereOf(conditions, inner, bind)})`;
    });
  }

  private counted(condition: Condition): Condition {
    this.conditions += 1;
    if (this.conditions > MAX_CONDITIONS) throw badArgument('where', `There are more than ${MAX_CONDITIONS} conditions.`);
    return condition;
  }
}

function searchesOf(entity: Entity, where: Where): Search[] {
  return fieldsOf(entity).flatMap((field) => {
    const text = isText(field) ? where[field.name]?.search : undefined;
    return typeof text === 'string' && !text.includes('\0') ? [{ field, text }] : [];
  });
}

export function filtered(entity: Entity, where: Where | null | undefined, context: Context): Filtered {
  if (!where) return { conditions: [], joins: [], searches: [] };
  const reader = new Reader(context);
  const conditions = reader.where(entity, where, 'where', 0);
  return { conditions, joins: reader.joins, searches: searchesOf(entity, where) };
}
