/**
 * Compiles a GraphQL `where` argument to SQL conditions. Conditions are never null, so that `ne`
 * and `not` include rows without a value.
 */
import { allOf, anyOf, negate, whereClause, type SqlCondition } from '../access/conditions';
import type { Context } from '../context';
import {
  invalidArgumentError,
  invalidInputError,
  truncateInput,
  type InputPath,
} from '../declare/errors';
import { fieldsOf, type Entity, type EntityField } from '../declare/fields';
import { linkDiscriminatorCondition } from '../declare/link-table';
import { resourceOf } from '../declare/registry';
import type { OrderTerm } from './ordering';
import { isSearchableField, TextMode } from './filters';
import { parseRowId, parseNodeId, rejectNodeIdOfOtherType, resolveRowId } from '../declare/node';
import { fieldSqlExpression, relationsOf, type EntityRelation } from './expressions';
import {
  rankedSearchCondition,
  searchMatchCondition,
  textMatchCondition,
  caseFoldedInCondition,
  type MatchPosition,
  type TextSearch,
} from './text-search';

/**
 * Maximum number of conditions in a `where` argument, which bounds the time to plan and execute the
 * statement.
 */
const MAX_CONDITIONS = 200;
const MAX_CONDITION_DEPTH = 10;

/** Maximum nesting depth of `some` and `none` in a `where` argument. */
const MAX_QUANTIFIER_DEPTH = 4;

/**
 * Maximum length of a search term. The similarity to a longer term, computed for each row, would
 * take too long.
 */
const MAX_SEARCH_CHARACTERS = 200;

export interface CompiledWhere {
  conditions: SqlCondition[];

  /**
   * JOIN clauses of `each` filters. Such a filter returns a row once for each linked row that has
   * one of the given ids.
   */
  joins: SqlCondition[];

  /** Sort terms for the linked ids of `each` filters, which distinguish duplicates of a row. */
  joinOrderTerms: OrderTerm[];

  /** Text searches that determine the relevance of a row. */
  searches: TextSearch[];
}

/**
 * A value that a GraphQL input type has validated. These types are created at startup, so
 * TypeScript does not know them.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the schema has checked it
export type FilterValue = any;

type Where = Record<string, FilterValue>;

const MATCHES_NO_ROW = anyOf([]);
const WHOLE_NUMBER_PATTERN = /^-?\d+$/;

/** Id that matches no row, because ids start at 1. */
const NONEXISTENT_ROW_ID = 0;
const UUID_PATTERN = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** Converts a value to a bind parameter, or to undefined if no row can have the value. */
function toParameter(field: EntityField, value: unknown): unknown {
  if (field.kind === 'relation' || field.name === 'id') return parseRowId(value);
  if (field.kind === 'uuid') return UUID_PATTERN.test(String(value)) ? value : undefined;
  if (typeof value === 'string' && value.includes('\0')) return undefined;

  return value;
}

const toValidParameters = (field: EntityField, values: readonly unknown[]) =>
  values.map((value) => toParameter(field, value)).filter((value) => value !== undefined);

function fieldCondition(
  field: EntityField,
  comparisonSql: (column: string, bind: (value: unknown) => string) => string,
): SqlCondition {
  // REST stores an omitted choice as an empty string, which filters treat like null.
  if (field.enum && field.allowNull && field.allowBlank) {
    return (alias, bind) => comparisonSql(`NULLIF(${fieldSqlExpression(field, alias)}, '')`, bind);
  }

  if (!field.relatedColumn) {
    return (alias, bind) => comparisonSql(fieldSqlExpression(field, alias), bind);
  }

  const { table, referenceColumn, column } = field.relatedColumn;

  return (alias, bind) =>
    `${alias}."${referenceColumn}" IN (SELECT x."id" FROM "${table}" x
      WHERE ${comparisonSql(`x."${column}"`, bind)})`;
}

const nullCondition = (field: EntityField): SqlCondition =>
  fieldCondition(field, (column) => `${column} IS NULL`);

function equalCondition(
  field: EntityField,
  value: unknown,
  isCaseInsensitive: boolean,
): SqlCondition {
  if (value === null) return nullCondition(field);
  const [parameter] = toValidParameters(field, [value]);

  if (parameter === undefined) return MATCHES_NO_ROW;

  if (isCaseInsensitive) return caseFoldedInCondition(field, [parameter as string]);

  return fieldCondition(field, (column, bind) => `${column} = ${bind(parameter)}`);
}

function inCondition(
  field: EntityField,
  values: readonly unknown[],
  isCaseInsensitive: boolean,
): SqlCondition {
  const parameters = toValidParameters(field, values);

  if (!parameters.length) return MATCHES_NO_ROW;

  if (isCaseInsensitive) return caseFoldedInCondition(field, parameters as string[]);

  return fieldCondition(field, (column, bind) => `${column} = ANY(${bind(parameters)})`);
}

const SQL_COMPARISON_OPERATORS: Record<string, string> = { lt: '<', lte: '<=', gt: '>', gte: '>=' };

function checkSearchTerm(text: string, path: InputPath): void {
  if ([...text].length > MAX_SEARCH_CHARACTERS) {
    throw invalidInputError(
      path,
      `Ensure this value has no more than ${MAX_SEARCH_CHARACTERS} characters.`,
    );
  }
}

/**
 * Compiles one operator of a filter. Throws BAD_USER_INPUT for null, unless the operator is `eq` or
 * `ne`.
 */
export function operatorCondition(
  field: EntityField,
  operator: string,
  value: FilterValue,
  isCaseInsensitive: boolean,
  path: InputPath,
): SqlCondition {
  if (operator === 'eq') return equalCondition(field, value, isCaseInsensitive);
  if (operator === 'ne') return negate(equalCondition(field, value, isCaseInsensitive));
  rejectNull(value, path);

  switch (operator) {
    case 'in':
      return inCondition(field, value, isCaseInsensitive);
    case 'notIn':
      return negate(inCondition(field, value, isCaseInsensitive));
    case 'isNull':
      return value ? nullCondition(field) : negate(nullCondition(field));
    case 'search':
      checkSearchTerm(value, path);

      return value.includes('\0') ? MATCHES_NO_ROW : searchMatchCondition({ field, text: value });
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      if (value.includes('\0')) return MATCHES_NO_ROW;

      return textMatchCondition(field, operator satisfies MatchPosition, value, isCaseInsensitive);
    default:
      return fieldCondition(
        field,
        (column, bind) => `${column} ${SQL_COMPARISON_OPERATORS[operator]} ${bind(value)}`,
      );
  }
}

/** Rejects null, which would silently remove a condition. */
function rejectNull(value: unknown, path: InputPath): void {
  if (value === null) {
    throw invalidInputError(path, 'Must not be null. Omit it for no condition.');
  }
}

function linkedToAnyCondition(field: EntityField, ids: readonly unknown[]): SqlCondition {
  const { table, ownColumn, otherColumn, keyColumn = 'id' } = field.link!;
  const discriminatorSql = linkDiscriminatorCondition(field.link!, 'l');

  return (alias, bind) =>
    `EXISTS (SELECT 1 FROM "${table}" l WHERE l."${ownColumn}" = ${alias}."${keyColumn}"
      AND l."${otherColumn}" = ANY(${bind(ids)}::int[])${discriminatorSql})`;
}

function eachFilterJoin(
  field: EntityField,
  ids: readonly unknown[],
  joinAlias: string,
): SqlCondition {
  const { table, ownColumn, otherColumn, keyColumn = 'id' } = field.link!;
  const discriminatorSql = linkDiscriminatorCondition(field.link!, joinAlias);

  return (alias, bind) =>
    `JOIN "${table}" ${joinAlias} ON ${joinAlias}."${ownColumn}" = ${alias}."${keyColumn}"
      AND ${joinAlias}."${otherColumn}" = ANY(${bind(ids)}::int[])${discriminatorSql}`;
}

class WhereCompiler {
  readonly joins: SqlCondition[] = [];
  readonly joinOrderTerms: OrderTerm[] = [];
  private conditionCount = 0;
  private quantifierDepth = 0;

  constructor(private readonly context: Context) {}

  compile(entity: Entity, where: Where, path: InputPath, nestingDepth: number): SqlCondition[] {
    if (nestingDepth > MAX_CONDITION_DEPTH) {
      throw invalidInputError(
        path,
        `Conditions are nested deeper than ${MAX_CONDITION_DEPTH} levels.`,
      );
    }

    return Object.entries(where).flatMap(([name, value]) => {
      if (value === undefined) return [];
      const conditionPath = [...path, name];

      rejectNull(value, conditionPath);
      const compileNested = (nestedWhere: Where, nestedPath: InputPath) =>
        this.countCondition(allOf(this.compile(entity, nestedWhere, nestedPath, nestingDepth + 1)));
      const compileNestedList = (nestedWheres: Where[]) =>
        nestedWheres.map((nestedWhere, index) =>
          compileNested(nestedWhere, [...conditionPath, String(index)]),
        );

      if (name === 'and') return compileNestedList(value);
      if (name === 'or') return [anyOf(compileNestedList(value))];
      if (name === 'not') return [negate(compileNested(value, conditionPath))];
      const field = fieldsOf(entity).find((candidate) => candidate.name === name);

      if (field) {
        const filter = this.resolveNodeIds(entity, field, value, conditionPath);

        if (field.relation?.isToMany) {
          return this.idSetConditions(field, filter, conditionPath);
        }

        return this.fieldConditions(field, filter, conditionPath);
      }

      const relation = relationsOf(entity).find((candidate) => candidate.name === name)!;

      if (relation.isToMany) {
        return this.quantifierConditions(relation, value, conditionPath, nestingDepth);
      }

      return [this.relatedRowsCondition(relation, value, conditionPath, nestingDepth)];
    });
  }

  /**
   * Replaces global ids (`nodeId`) in an id filter by numeric ids. REST does not accept global ids.
   */
  private resolveNodeIds(
    entity: Entity,
    field: EntityField,
    filter: Where,
    path: InputPath,
  ): Where {
    const typeName = field.name === 'id' ? entity.name : field.target?.().name;

    if (typeName === undefined || !this.context.policies.acceptsNodeIds) return filter;

    const toNumericId = (value: FilterValue, idPath: InputPath): FilterValue => {
      if (Array.isArray(value)) {
        return value.map((element, index) => toNumericId(element, [...idPath, String(index)]));
      }

      if (typeof value !== 'string' || WHOLE_NUMBER_PATTERN.test(value)) return value;
      rejectNodeIdOfOtherType(typeName, value, idPath);

      if (!parseNodeId(value)) {
        throw invalidInputError(
          idPath,
          `"${truncateInput(value)}" is not a valid id of ${typeName}.`,
        );
      }

      return resolveRowId(typeName, value) ?? NONEXISTENT_ROW_ID;
    };

    return Object.fromEntries(
      Object.entries(filter).map(([operator, value]) => [
        operator,
        toNumericId(value, [...path, operator]),
      ]),
    );
  }

  private toStoredValue(
    field: EntityField,
    operator: string,
    isCaseInsensitive: boolean,
    value: FilterValue,
  ): FilterValue {
    if (Array.isArray(value)) {
      return value.map((element) =>
        this.toStoredValue(field, operator, isCaseInsensitive, element),
      );
    }

    if (!field.toStoredText || typeof value !== 'string') return value;

    return field.toStoredText(value, operator, isCaseInsensitive, this.context.request.baseUrl);
  }

  private fieldConditions(field: EntityField, filter: Where, path: InputPath): SqlCondition[] {
    const isCaseInsensitive = filter.mode === TextMode.INSENSITIVE;

    return Object.entries(filter).flatMap(([operator, input]) => {
      const value = this.toStoredValue(field, operator, isCaseInsensitive, input);

      const operatorPath = [...path, operator];

      if (value === undefined) return [];

      if (operator === 'mode') {
        rejectNull(value, operatorPath);
        return [];
      }

      return this.countCondition(
        operatorCondition(field, operator, value, isCaseInsensitive, operatorPath),
      );
    });
  }

  private idSetConditions(field: EntityField, filter: Where, path: InputPath): SqlCondition[] {
    const conditions: SqlCondition[] = [];

    for (const [operator, value] of Object.entries(filter)) {
      rejectNull(value, [...path, operator]);
    }

    if (filter.in != null) {
      conditions.push(
        this.countCondition(linkedToAnyCondition(field, toValidParameters(field, filter.in))),
      );
    }

    if (filter.notIn != null) {
      conditions.push(
        this.countCondition(
          negate(linkedToAnyCondition(field, toValidParameters(field, filter.notIn))),
        ),
      );
    }

    if (filter.each != null) {
      const alias = `j${this.joins.length}`;

      this.joins.push(
        this.countCondition(eachFilterJoin(field, toValidParameters(field, filter.each), alias)),
      );
      this.joinOrderTerms.push({
        cursorKey: `each(${field.name})`,
        sql: () => `${alias}."${field.link!.otherColumn}"`,
        kind: 'integer',
        isNullable: false,
        descending: false,
        nullsFirst: false,
      });
    }

    return conditions;
  }

  private quantifierConditions(
    relation: EntityRelation,
    filter: Where,
    path: InputPath,
    nestingDepth: number,
  ): SqlCondition[] {
    const conditionsOf = (quantifier: string) => {
      if (filter[quantifier] === undefined) return [];
      const quantifierPath = [...path, quantifier];

      rejectNull(filter[quantifier], quantifierPath);

      if (this.quantifierDepth >= MAX_QUANTIFIER_DEPTH) {
        throw invalidInputError(
          quantifierPath,
          `\`some\` and \`none\` are nested deeper than ${MAX_QUANTIFIER_DEPTH} levels.`,
        );
      }

      this.quantifierDepth += 1;
      const condition = this.relatedRowsCondition(
        relation,
        filter[quantifier],
        quantifierPath,
        nestingDepth,
      );

      this.quantifierDepth -= 1;
      return [condition];
    };

    return [...conditionsOf('some'), ...conditionsOf('none').map(negate)];
  }

  /** Condition that a related row visible to the viewer matches `where`. */
  private relatedRowsCondition(
    relation: EntityRelation,
    where: Where,
    path: InputPath,
    nestingDepth: number,
  ): SqlCondition {
    const nestedCondition = allOf(this.compile(relation.target(), where, path, nestingDepth + 1));
    const conditions = [...relation.visibilityConditions(this.context), nestedCondition];

    return this.countCondition((alias, bind) => {
      // Aliases are derived from the outer alias, so that they are unique in nested subqueries.
      const targetAlias = `${alias}r`;

      return `${relation.outerKeySql(alias)} IN (${relation.innerKeysSql(targetAlias)}${whereClause(conditions, targetAlias, bind)})`;
    });
  }

  private countCondition(condition: SqlCondition): SqlCondition {
    this.conditionCount += 1;

    if (this.conditionCount > MAX_CONDITIONS) {
      throw invalidArgumentError('where', `There are more than ${MAX_CONDITIONS} conditions.`);
    }

    return condition;
  }
}

/** Text searches at the top level of `where`. Only they affect the relevance of a row. */
function topLevelSearchesOf(entity: Entity, where: Where, context: Context): TextSearch[] {
  return fieldsOf(entity).flatMap((field) => {
    const text = isSearchableField(field) ? where[field.name]?.search : undefined;

    if (typeof text !== 'string' || text.includes('\0')) return [];
    const { searchPreferences } = resourceOf(entity)!;

    const preferences = field.indexedForSearch ? searchPreferences?.(context) : undefined;

    return [{ field, text, preferences }];
  });
}

/**
 * Removes a search from the conditions. The remaining ones restrict the rows among which it finds
 * its best hits.
 */
function withoutSearch(where: Where, { field }: TextSearch): Where {
  const { search: _search, ...filter } = where[field.name];

  return { ...where, [field.name]: filter };
}

/**
 * Compiles the filter of a list whose rows also meet `outerConditions`, such as those of access and
 * of the parent row.
 */
export function compileWhere(
  entity: Entity,
  where: Where | null | undefined,
  context: Context,
  outerConditions: readonly SqlCondition[],
): CompiledWhere {
  if (!where) {
    return { conditions: [...outerConditions], joins: [], joinOrderTerms: [], searches: [] };
  }

  const compiler = new WhereCompiler(context);
  const searches = topLevelSearchesOf(entity, where, context);
  const ranked = searches.find(({ field }) => field.indexedForSearch);
  const otherConditions = ranked ? withoutSearch(where, ranked) : where;
  let conditions = [...outerConditions, ...compiler.compile(entity, otherConditions, ['where'], 0)];

  if (ranked) {
    checkSearchTerm(ranked.text, ['where', ranked.field.name, 'search']);
    conditions = [rankedSearchCondition(entity, ranked, conditions)];
  }

  return {
    conditions,
    joins: compiler.joins,
    joinOrderTerms: compiler.joinOrderTerms,
    searches,
  };
}
