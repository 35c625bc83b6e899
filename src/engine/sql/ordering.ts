/**
 * Sort order of a list: compiles GraphQL's `orderBy` to ORDER BY. The id is always the last term,
 * so that every order is total.
 */
import { createHash } from 'node:crypto';
import { Extensions, Field, InputType, type ClassType } from 'type-graphql';
import { createEnum } from '../declare/enums';
import { atMostElementsMessage } from '../../shared/messages';
import { mayHaveHiddenRows } from '../access/access';
import { whereClause, type ParameterBinder, type SqlCondition } from '../access/conditions';
import { invalidArgumentError, invalidInputError, type InputPath } from '../declare/errors';
import {
  fieldOf,
  fieldsOf,
  isReferenceField,
  type Entity,
  type EntityField,
} from '../declare/fields';
import { memoizePerEntity } from '../declare/memoize';
import { isSearchableField } from './filters';
import type { TextOrder } from '../declare/policies';
import { collateClause, fieldSqlExpression } from './expressions';
import type { FieldKind } from '../../shared/metadata';
import { resourceOf } from '../declare/registry';
import { searchRelevanceSql, type TextSearch } from './text-search';

export const OrderDirection = createEnum('OrderDirection', 'Sort direction.', {
  ASC: 'Smallest first, nulls last.',
  DESC: 'Largest first, nulls first.',
  ASC_NULLS_FIRST: 'Smallest first, nulls first.',
  DESC_NULLS_LAST: 'Largest first, nulls last.',
});
export type OrderDirection = keyof typeof OrderDirection;

/**
 * One element of `orderBy`. The path is a field (`date`), or references and a field of another row
 * (`exercise.category.name`).
 */
export interface OrderField {
  path: readonly string[];
  descending: boolean;
  nullsFirst: boolean;
}

export interface OrderTerm extends Omit<OrderField, 'path'> {
  cursorKey: string;

  /** SQL expression over the table alias `t`. */
  sql: (bind: ParameterBinder) => string;
  kind: FieldKind;
  isNullable: boolean;
}

/** A sort term whose values are bound as parameters of a statement. */
export interface BoundOrderTerm extends Omit<OrderTerm, 'sql'> {
  sql: string;
}

const MAX_ORDER_ELEMENTS = 50;
const RELEVANCE_FIELD = 'relevance';

/**
 * Marks sort terms with the Unicode collation "reader" in cursors, so that cursors of lists with
 * another collation are rejected.
 */
const READER_COLLATION_KEY_SUFFIX = '~';
const SEARCH_HASH_CHARACTERS = 16;

const isComputedDecimal = ({ kind, sql }: EntityField) => sql !== undefined && kind === 'decimal';
const isOrderable = (field: EntityField) =>
  field.isColumn || isReferenceField(field) || isComputedDecimal(field);

function describeAscendingOrder({ name, kind }: EntityField): string {
  if (name === 'id') return 'In order of creation with `ASC`.';
  if (kind === 'relation') return 'Lowest id first with `ASC`.';

  if (kind === 'date' || kind === 'datetime' || kind === 'time') {
    return 'Earliest first with `ASC`.';
  }

  if (kind === 'integer' || kind === 'decimal' || kind === 'computed') {
    return 'Smallest first with `ASC`.';
  }

  if (kind === 'boolean') return 'False first with `ASC`.';

  if (kind === 'choice' || kind === 'uuid') return 'In order of the stored values.';

  return 'Alphabetical with `ASC`.';
}

/**
 * Input type `XOrder` of an entity X: a direction per scalar field or reference to a small table
 * (`lookupTableSize`), and a nested order per other reference.
 */
export const orderInputType: (entity: Entity) => ClassType = memoizePerEntity((entity) => {
  const name = `${entity.name}Order`;
  const OrderInputClass = { [name]: class {} }[name]! as ClassType;
  const addElement = (key: string, type: () => object, description: string) =>
    Field(type, { nullable: true, description })(OrderInputClass.prototype, key);

  for (const field of fieldsOf(entity).filter(isOrderable)) {
    addElement(field.name, () => OrderDirection, describeAscendingOrder(field));
    // Only REST sorts by the id of a reference. GraphQL sorts by fields of the referenced row.
    Extensions({ field, exclusiveTo: field.relationFieldName ? 'rest' : field.exclusiveTo })(
      OrderInputClass.prototype,
      field.name,
    );
    if (!field.relationFieldName) continue;
    const { lookupTableSize, ordering } = resourceOf(field.target!())!;

    if (lookupTableSize) {
      addElement(
        field.relationFieldName,
        () => OrderDirection,
        `By the \`${ordering[0]}\` of \`${field.relationFieldName}\`.`,
      );
    } else {
      addElement(
        field.relationFieldName,
        () => orderInputType(field.target!()),
        `By a field of \`${field.relationFieldName}\`.`,
      );
    }

    Extensions({ exclusiveTo: field.exclusiveTo })(
      OrderInputClass.prototype,
      field.relationFieldName,
    );
  }

  if (fieldsOf(entity).some(isSearchableField)) {
    addElement(
      RELEVANCE_FIELD,
      () => OrderDirection,
      'Best match first with `DESC`. Requires `search` at the top level of `where`.',
    );
  }

  InputType(name, { description: `A field of ${entity.name} and a sort direction.` })(
    OrderInputClass,
  );
  Extensions({ oneOf: true })(OrderInputClass);
  return OrderInputClass;
}, createReferencedOrderInputTypes);

/**
 * Creates the order types of referenced entities, because type-graphql must know all types before
 * it builds the schema.
 */
function createReferencedOrderInputTypes(_OrderInputClass: ClassType, entity: Entity): void {
  for (const { relationFieldName, target } of fieldsOf(entity).filter(isOrderable)) {
    if (relationFieldName) orderInputType(target!());
  }
}

export type OrderInput = { [field: string]: OrderDirection | OrderInput | null | undefined };

/** Parses a field of a declared default order, such as `-date`. */
export function parseOrderField(text: string): OrderField {
  const descending = text.startsWith('-');

  return { path: [descending ? text.slice(1) : text], descending, nullsFirst: descending };
}

function parseOrderInput(element: OrderInput, argumentPath: InputPath): OrderField {
  const path: string[] = [];
  let value: OrderDirection | OrderInput = element;

  while (typeof value === 'object') {
    // An `@oneOf` input object has exactly one entry.
    const [[name, nestedValue]] = Object.entries(value).filter(
      ([, entryValue]) => entryValue != null,
    ) as [[string, OrderDirection | OrderInput]];

    path.push(name);
    value = nestedValue;

    if (path.length > 1 && path.includes(RELEVANCE_FIELD)) {
      throw invalidInputError(
        argumentPath,
        '`relevance` applies only to the listed rows themselves.',
      );
    }
  }

  const [direction, nullsPosition] = value.split('_NULLS_');

  return {
    path,
    descending: direction === 'DESC',
    nullsFirst: nullsPosition ? nullsPosition === 'FIRST' : direction === 'DESC',
  };
}

/**
 * Order of a list: `orderBy`, or else the relevance of searches and then the default order of the
 * entity.
 */
export function resolveOrder(
  entity: Entity,
  orderBy: readonly OrderInput[] | null | undefined,
  searches: readonly TextSearch[],
): OrderField[] {
  const defaultOrder = resourceOf(entity)!.ordering.map(parseOrderField);

  if (!orderBy && searches.length) {
    return [parseOrderField(`-${RELEVANCE_FIELD}`), ...defaultOrder];
  }

  if (!orderBy) return defaultOrder;

  if (orderBy.length > MAX_ORDER_ELEMENTS) {
    throw invalidArgumentError('orderBy', atMostElementsMessage(MAX_ORDER_ELEMENTS));
  }

  return orderBy.map((element, index) => parseOrderInput(element, ['orderBy', String(index)]));
}

/**
 * Sort term for the relevance of searches. The cursor key of the term contains a hash of the
 * searches, so that cursors of other searches are rejected.
 */
function relevanceTerm(
  searches: readonly TextSearch[],
): Pick<OrderTerm, 'cursorKey' | 'sql' | 'kind' | 'isNullable'> {
  if (!searches.length) {
    throw invalidArgumentError('orderBy', '`relevance` requires a `search` in `where`.');
  }

  const searchesJson = JSON.stringify(searches.map(({ field, text }) => [field.name, text]));
  const searchHash = createHash('sha256')
    .update(searchesJson)
    .digest('hex')
    .slice(0, SEARCH_HASH_CHARACTERS);
  const sql = (bind: ParameterBinder) =>
    `(${searches.map((search) => searchRelevanceSql(search)('t', bind)).join(' + ')})`;

  return {
    cursorKey: `${RELEVANCE_FIELD}(${searchHash})`,
    sql,
    kind: 'integer',
    isNullable: false,
  };
}

/**
 * An ORDER BY expression and its COLLATE clause, which is empty for values sorted by their bytes.
 */
type OrderExpression = Pick<OrderTerm, 'sql' | 'kind' | 'isNullable'> & { collationSql: string };

export interface OrderContext {
  textOrder: TextOrder;
  searches?: readonly TextSearch[];
  referencedRowConditions?: ReferencedRowConditions;
}

/**
 * Conditions on referenced rows by which a list is sorted. Values of rows that do not meet them
 * count as null.
 */
export type ReferencedRowConditions = (entity: Entity) => readonly SqlCondition[];

function orderExpression(
  entity: Entity,
  [name, ...path]: readonly string[],
  alias: string,
  orderContext: OrderContext,
): OrderExpression {
  const referenceField = fieldsOf(entity).find(
    (field) => isReferenceField(field) && field.relationFieldName === name,
  );

  if (!referenceField) {
    const field = fieldOf(entity, name!);
    const collationSql = collateClause(entity, field, orderContext.textOrder);
    const column = fieldSqlExpression(field, alias);
    // REST stores an omitted choice as an empty string, which GraphQL shows and sorts as null.
    const isNullIfBlank =
      field.enum && field.allowNull && field.allowBlank && orderContext.textOrder === 'unicode';
    const value = isNullIfBlank ? `NULLIF(${column}, '')` : column;

    return {
      sql: () => `${value}${collationSql}`,
      kind: field.kind,
      isNullable: field.allowNull,
      collationSql,
    };
  }

  const target = referenceField.target!();
  const targetPath = path.length ? path : resourceOf(target)!.ordering.slice(0, 1);
  const targetAlias = `${alias}r`;
  const value = orderExpression(target, targetPath, targetAlias, orderContext);
  const conditions: SqlCondition[] = [
    () => `${targetAlias}."id" = ${fieldSqlExpression(referenceField, alias)}`,
    ...(orderContext.referencedRowConditions?.(target) ?? []),
  ];

  return {
    ...value,
    sql: (bind) =>
      `(SELECT ${value.sql(bind)}
        FROM "${resourceOf(target)!.table}"
        ${targetAlias}${whereClause(conditions, targetAlias, bind)})`,
    isNullable: referenceField.allowNull || value.isNullable || mayHaveHiddenRows(target),
  };
}

function orderTerm(
  entity: Entity,
  { path, descending, nullsFirst }: OrderField,
  orderContext: OrderContext,
): OrderTerm {
  const direction = { descending, nullsFirst };

  if (path[0] === RELEVANCE_FIELD) {
    return { ...relevanceTerm(orderContext.searches ?? []), ...direction };
  }

  const { collationSql, ...value } = orderExpression(entity, path, 't', orderContext);

  return {
    cursorKey: `${path.join('.')}${collationSql && READER_COLLATION_KEY_SUFFIX}`,
    ...value,
    ...direction,
  };
}

/**
 * Compiles a sort order to ORDER BY terms. The id is the last term, so that the order is total: it
 * is appended if necessary, and terms after it are dropped.
 */
export function orderTerms(
  entity: Entity,
  order: readonly OrderField[],
  orderContext: OrderContext,
): OrderTerm[] {
  const terms: OrderTerm[] = [];

  for (const orderField of order) {
    const term = orderTerm(entity, orderField, orderContext);

    if (!terms.some((otherTerm) => otherTerm.cursorKey === term.cursorKey)) terms.push(term);
  }

  const idTermIndex = terms.findIndex((term) => term.cursorKey === 'id');

  if (idTermIndex >= 0) return terms.slice(0, idTermIndex + 1);

  return [...terms, orderTerm(entity, parseOrderField('id'), orderContext)];
}

export const bindOrderTerms = (
  terms: readonly OrderTerm[],
  bind: ParameterBinder,
): BoundOrderTerm[] => terms.map((term) => ({ ...term, sql: term.sql(bind) }));

export const reverseOrderTerms = (terms: readonly BoundOrderTerm[]): BoundOrderTerm[] =>
  terms.map((term) => ({ ...term, descending: !term.descending, nullsFirst: !term.nullsFirst }));

export type OrderByTerm = Pick<BoundOrderTerm, 'sql' | 'descending' | 'nullsFirst' | 'isNullable'>;

export const ORDER_BY_ID: OrderByTerm = {
  sql: 't."id"',
  descending: false,
  nullsFirst: false,
  isNullable: false,
};

/**
 * Direction of a sort term. Omits NULLS FIRST or LAST if it is the default or no value is null, so
 * that an index can provide the order.
 */
function sortDirection({ descending, nullsFirst, isNullable: nullable }: OrderByTerm): string {
  const direction = descending ? 'DESC' : 'ASC';

  if (!nullable || nullsFirst === descending) return direction;

  return `${direction} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
}

export const orderByClause = (terms: readonly OrderByTerm[]): string =>
  terms.map((term) => `${term.sql} ${sortDirection(term)}`).join(', ');
