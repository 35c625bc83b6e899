/** Compiles a GraphQL `where` argument to SQL conditions. Conditions are never null, so that `ne` and `not` include rows without a value. */
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

/** Limits of one `where` argument, which bound the planning and execution time of its statement. */
export const MAX_CONDITIONS = 200;
export const MAX_NESTING = 10;
/** Nesting depth of `some` and `none`. */
export const MAX_QUANTIFIERS = 4;
/** Maximum length of a search term: similarity is computed for each row and gets too slow for longer terms. */
export const MAX_SEARCH = 200;

export interface Filtered {
  conditions: Condition[];
  /** JOIN clauses of `each` filters. */
  joins: Condition[];
  /** Searches that determine the relevance of rows. */
  searches: Search[];
}

/** A value validated by a GraphQL input type. These types are created at startup, so TypeScript has no type for the value. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the schema has checked it
export type Given = any;

type Where = Record<string, Given>;

const NEVER = any([]);
const WHOLE_NUMBER = /^-?\d+$/;
/** Matches no row, because ids start at 1. */
const NO_ROW_ID = 0;
const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** Converts a value to a bind parameter; undefined if no row can have the value. */
function toParameter(field: FieldMeta, value: unknown): unknown {
  if (field.kind === 'relation' || field.name === 'id') return parseId(value);
  if (field.kind === 'uuid') return UUID.test(String(value)) ? value : undefined;
  if (typeof value === 'string' && value.includes('\0')) return undefined;
  return value;
}

const validParameters = (field: FieldMeta, values: readonly unknown[]) =>
  values.map((value) => toParameter(field, value)).filter((value) => value !== undefined);

function fieldCondition(field: FieldMeta, comparison: (column: string, bind: (value: unknown) => string) => string): Condition {
  // REST stores an omitted choice as an empty string, which counts as null.
  if (field.enum && field.null && field.blank) return (alias, bind) => comparison(`NULLIF(${expression(field, alias)}, '')`, bind);
  if (!field.through) return (alias, bind) => comparison(expression(field, alias), bind);
  const { table, via, column } = field.through;
  return (alias, bind) => `${alias}."${via}" IN (SELECT x."id" FROM "${table}" x WHERE ${comparison(`x."${column}"`, bind)})`;
}

const isNull = (field: FieldMeta): Condition => fieldCondition(field, (column) => `${column} IS NULL`);

function equalCondition(field: FieldMeta, value: unknown, insensitive: boolean): Condition {
  if (value === null) return isNull(field);
  const [parameter] = validParameters(field, [value]);
  if (parameter === undefined) return NEVER;
  return insensitive ? isOneOf(field, [parameter as string]) : fieldCondition(field, (column, bind) => `${column} = ${bind(parameter)}`);
}

function inCondition(field: FieldMeta, values: readonly unknown[], insensitive: boolean): Condition {
  const parameters = validParameters(field, values);
  if (!parameters.length) return NEVER;
  return insensitive
    ? isOneOf(field, parameters as string[])
    : fieldCondition(field, (column, bind) => `${column} = ANY(${bind(parameters)})`);
}

const COMPARISONS: Record<string, string> = { lt: '<', lte: '<=', gt: '>', gte: '>=' };

function searchCondition(field: FieldMeta, text: string, path: string): Condition {
  if ([...text].length > MAX_SEARCH) throw badArgument(path, `Ensure this value has no more than ${MAX_SEARCH} characters.`);
  return text.includes('\0') ? NEVER : finds({ field, text });
}

/** Compiles one operator of a filter. Null is a value for `eq` and `ne`, and no condition for other operators. */
export function operation(field: FieldMeta, operator: string, value: Given, insensitive: boolean, path: string): Condition | undefined {
  if (operator === 'eq') return equalCondition(field, value, insensitive);
  if (operator === 'ne') return not(equalCondition(field, value, insensitive));
  if (value === null) return undefined;
  switch (operator) {
    case 'in':
      return inCondition(field, value, insensitive);
    case 'notIn':
      return not(inCondition(field, value, insensitive));
    case 'isNull':
      return value ? isNull(field) : not(isNull(field));
    case 'search':
      return searchCondition(field, value, path);
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return value.includes('\0') ? NEVER : has(field, operator satisfies Part, value, insensitive);
    default:
      return fieldCondition(field, (column, bind) => `${column} ${COMPARISONS[operator]} ${bind(value)}`);
  }
}

function linkedToAny(field: FieldMeta, ids: readonly unknown[]): Condition {
  const { table, own, other, via = 'id' } = field.link!;
  const kindCondition = ofKind(field.link!, 'l');
  return (alias, bind) =>
    `EXISTS (SELECT 1 FROM "${table}" l WHERE l."${own}" = ${alias}."${via}" AND l."${other}" = ANY(${bind(ids)}::int[])${kindCondition})`;
}

function joinEach(field: FieldMeta, ids: readonly unknown[], name: string): Condition {
  const { table, own, other, via = 'id' } = field.link!;
  const kindCondition = ofKind(field.link!, name);
  return (alias, bind) =>
    `JOIN "${table}" ${name} ON ${name}."${own}" = ${alias}."${via}" AND ${name}."${other}" = ANY(${bind(ids)}::int[])${kindCondition}`;
}

/** Compiles one `where` argument with all nested conditions. */
class WhereCompiler {
  readonly joins: Condition[] = [];
  private conditionCount = 0;
  private quantifierDepth = 0;

  constructor(private readonly context: Context) {}

  compile(entity: Entity, where: Where, path: string, nesting: number): Condition[] {
    if (nesting > MAX_NESTING) throw badArgument(path, `Conditions are nested deeper than ${MAX_NESTING} levels.`);
    return Object.entries(where).flatMap(([name, value]) => {
      if (value == null) return [];
      const conditionPath = `${path}.${name}`;
      const nested = (one: Where, nestedPath: string) => this.countCondition(all(this.compile(entity, one, nestedPath, nesting + 1)));
      const nestedList = (list: Where[]) => list.map((one, index) => nested(one, `${conditionPath}[${index}]`));
      if (name === 'and') return nestedList(value);
      if (name === 'or') return [any(nestedList(value))];
      if (name === 'not') return [not(nested(value, conditionPath))];
      const field = fieldsOf(entity).find((candidate) => candidate.name === name);
      if (field) {
        const filter = this.resolveIds(entity, field, value, conditionPath);
        return field.relation?.many
          ? this.idSetFilter(field, filter, conditionPath, nesting)
          : this.fieldFilter(field, filter, conditionPath);
      }
      const relative = relativesOf(entity).find((candidate) => candidate.name === name)!;
      return relative.many
        ? this.listRelation(relative, value, conditionPath, nesting)
        : [this.relatedRows(relative, value, conditionPath, nesting)];
    });
  }

  /** Replaces node ids in an id filter with numeric ids. REST ids are numeric already, and REST reports invalid ones itself. */
  private resolveIds(entity: Entity, field: FieldMeta, filter: Where, path: string): Where {
    const type = field.name === 'id' ? entity.name : field.target?.().name;
    if (type === undefined || this.context.api === 'rest') return filter;
    const resolveId = (value: Given, idPath: string): Given => {
      if (Array.isArray(value)) return value.map((one, index) => resolveId(one, `${idPath}[${index}]`));
      if (typeof value !== 'string' || WHOLE_NUMBER.test(value)) return value;
      refuseOtherType(type, value, idPath);
      if (!parseNodeId(value)) throw badArgument(idPath, `"${shortened(value)}" is no id of ${type}.`);
      return rowIdOf(type, value) ?? NO_ROW_ID;
    };
    return Object.fromEntries(Object.entries(filter).map(([operator, value]) => [operator, resolveId(value, `${path}.${operator}`)]));
  }

  private fieldFilter(field: FieldMeta, filter: Where, path: string): Condition[] {
    const insensitive = filter.mode === TextMode.INSENSITIVE;
    return Object.entries(filter).flatMap(([operator, value]) => {
      if (operator === 'mode' || value === undefined) return [];
      const condition = operation(field, operator, value, insensitive, `${path}.${operator}`);
      return condition ? [this.countCondition(condition)] : [];
    });
  }

  private idSetFilter(field: FieldMeta, filter: Where, path: string, nesting: number): Condition[] {
    const conditions: Condition[] = [];
    if (filter.in != null) conditions.push(this.countCondition(linkedToAny(field, validParameters(field, filter.in))));
    if (filter.notIn != null) conditions.push(this.countCondition(not(linkedToAny(field, validParameters(field, filter.notIn)))));
    if (filter.each != null) {
      if (nesting > 0) throw badArgument(`${path}.each`, 'This stands in `where` itself only, not in conditions inside of it.');
      this.joins.push(this.countCondition(joinEach(field, validParameters(field, filter.each), `j${this.joins.length}`)));
    }
    return conditions;
  }

  private listRelation(relative: Relative, filter: Where, path: string, nesting: number): Condition[] {
    const quantified = (quantifier: string) => {
      if (filter[quantifier] == null) return [];
      const quantifierPath = `${path}.${quantifier}`;
      if (this.quantifierDepth >= MAX_QUANTIFIERS)
        throw badArgument(quantifierPath, `\`some\` and \`none\` are nested deeper than ${MAX_QUANTIFIERS} levels.`);
      this.quantifierDepth += 1;
      const condition = this.relatedRows(relative, filter[quantifier], quantifierPath, nesting);
      this.quantifierDepth -= 1;
      return [condition];
    };
    return [...quantified('some'), ...quantified('none').map(not)];
  }

  /** Condition that a related row visible to the viewer matches `where`. */
  private relatedRows(relative: Relative, where: Where, path: string, nesting: number): Condition {
    const nested = all(this.compile(relative.target(), where, path, nesting + 1));
    const conditions = [...relative.shown(this.context), nested];
    return this.countCondition((alias, bind) => {
      // Aliases are derived from the outer alias, so that they are unique in nested subqueries.
      const targetAlias = `${alias}r`;
      return `${relative.key(alias)} IN (${relative.keys(targetAlias)}${whereOf(conditions, targetAlias, bind)})`;
    });
  }

  private countCondition(condition: Condition): Condition {
    this.conditionCount += 1;
    if (this.conditionCount > MAX_CONDITIONS) throw badArgument('where', `There are more than ${MAX_CONDITIONS} conditions.`);
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
  const compiler = new WhereCompiler(context);
  const conditions = compiler.compile(entity, where, 'where', 0);
  return { conditions, joins: compiler.joins, searches: searchesOf(entity, where) };
}
