/**
 * SQL expressions of fields, the FROM clause of an entity, and relations of an entity for
 * conditions on related rows. Such conditions consider only related rows that the viewer can see.
 */
import type { ParameterBinder, SqlCondition } from '../access/conditions';
import {
  fieldOf,
  type Entity,
  type EntityField,
  childRowsFieldsOf,
  fieldsOf,
  type Thunk,
} from '../declare/fields';
import { linkDiscriminatorCondition, type LinkTable } from '../declare/link-table';
import { resourceOf } from '../declare/registry';
import type { TextOrder } from '../declare/policies';
import { referencedRowConditions, visibleRowConditions } from '../access/access';
import type { Context } from '../context';
import type { ApiName } from '../../shared/metadata';
import { memoizePerEntity } from '../declare/memoize';

/**
 * Values without a COLLATE clause are sorted by their bytes, as are all strings of owned resources.
 */
export const collateClause = (
  entity: Entity,
  { kind }: Pick<EntityField, 'kind'>,
  textOrder: TextOrder,
): '' | ' COLLATE "reader"' => {
  if (textOrder !== 'unicode' || kind !== 'string') return '';

  return resourceOf(entity)!.isOwned ? '' : ' COLLATE "reader"';
};

/**
 * SQL expression of a field's value. Links are an array of ids in the default order of their
 * resource.
 */
export function fieldSqlExpression(
  field: EntityField,
  alias: string,
  textOrder: TextOrder = 'bytes',
): string {
  if (field.column) return `${alias}."${field.column}"`;
  if (field.sql) return field.sql(alias);

  if (field.relatedColumn) {
    const { table, referenceColumn, column } = field.relatedColumn;

    return `(SELECT x."${column}" FROM "${table}" x WHERE x."id" = ${alias}."${referenceColumn}")`;
  }

  const { table, ownColumn, otherColumn, keyColumn = 'id' } = field.link!;
  const links = `FROM "${table}" l`;
  const where = `WHERE l."${ownColumn}" =
    ${alias}."${keyColumn}"${linkDiscriminatorCondition(field.link!, 'l')}`;
  const target = field.target!();
  const { ordering, table: targetTable } = resourceOf(target)!;
  const fields = ordering.map((name) => fieldOf(target, name)).filter(({ name }) => name !== 'id');

  if (!fields.length) return `ARRAY(SELECT l."${otherColumn}" ${links} ${where} ORDER BY 1)`;
  const order = [
    ...fields.map(
      (orderField) => `o."${orderField.column}"${collateClause(target, orderField, textOrder)}`,
    ),
    'o."id"',
  ].join(', ');

  return `ARRAY(SELECT l."${otherColumn}" ${links} JOIN "${targetTable}" o
    ON o."id" = l."${otherColumn}" ${where} ORDER BY ${order})`;
}

/**
 * Table that stores the relation of a field: its link table, or the table of the row whose column
 * contains the id (`relatedColumn`).
 */
const linkTableOf = ({ link, relatedColumn }: EntityField): LinkTable | undefined =>
  link ??
  (relatedColumn && {
    table: relatedColumn.table,
    ownColumn: 'id',
    otherColumn: relatedColumn.column,
    keyColumn: relatedColumn.referenceColumn,
  });

/**
 * Condition that a field refers to the row with an id, as a reference or as a link (many-to-many).
 * It is written so that PostgreSQL can use an index of the other table.
 */
export function referencesIdSql(field: EntityField, alias: string, idSql: string): string {
  if (field.column) return `${alias}."${field.column}" = ${idSql}`;

  if (field.matchingColumns) {
    const table = resourceOf(field.target!())!.table;

    return field.matchingColumns
      .map(
        (column) =>
          `${alias}."${column}" = (SELECT s."${column}" FROM "${table}" s WHERE s."id" = ${idSql})`,
      )
      .join(' AND ');
  }

  const link = linkTableOf(field)!;
  const { table, ownColumn, otherColumn, keyColumn = 'id' } = link;

  return `${alias}."${keyColumn}" IN (SELECT l."${ownColumn}" FROM "${table}" l
    WHERE l."${otherColumn}" = ${idSql}${linkDiscriminatorCondition(link, 'l')})`;
}

/**
 * Condition of child rows of the parent row whose id is the column `p.id` of the statement. None
 * without `referenceFieldName`.
 */
export const parentConditions = (entity: Entity, referenceFieldName?: string): SqlCondition[] =>
  referenceFieldName === undefined
    ? []
    : [(alias) => referencesIdSql(fieldOf(entity, referenceFieldName), alias, 'p.id')];

export const sqlJoinClauses = (joins: readonly SqlCondition[], bind: ParameterBinder): string =>
  joins.map((join) => ` ${join('t', bind)}`).join('');

export const fromClause = (
  entity: Entity,
  joins: readonly SqlCondition[] = [],
  bind?: ParameterBinder,
): string => `FROM "${resourceOf(entity)!.table}" t${sqlJoinClauses(joins, bind!)}`;

/**
 * SQL of a relation as a semi-join, `outerKeySql IN (innerKeysSql)`, so that PostgreSQL reads the
 * related rows once instead of once per row.
 */
interface SemiJoin {
  outerKeySql(outerAlias: string): string;

  /** A `SELECT … FROM …` of the keys of related rows, whose table has the alias `innerAlias`. */
  innerKeysSql(innerAlias: string): string;
}

export interface EntityRelation extends SemiJoin {
  name: string;
  target: Thunk;
  isToMany: boolean;

  /** The only API that has the relation. */
  exclusiveTo?: ApiName;
  visibilityConditions(context: Context): SqlCondition[];
}

/** Relations of an entity. Call it only after all resources are loaded. */
export const relationsOf = memoizePerEntity((entity): readonly EntityRelation[] => [
  ...referenceRelations(entity),
  ...childRelations(entity),
]);

const quotedTableName = (target: Thunk) => `"${resourceOf(target())!.table}"`;

/**
 * Semi-join of a computed reference between rows with equal values in several columns, such as rows
 * of the same day.
 */
const matchingColumnsSemiJoin = (columns: readonly string[], table: string): SemiJoin => {
  const columnsSql = (alias: string) => columns.map((column) => `${alias}."${column}"`).join(', ');

  return {
    outerKeySql: (outerAlias) => `(${columnsSql(outerAlias)})`,
    innerKeysSql: (innerAlias) => `SELECT ${columnsSql(innerAlias)} FROM ${table} ${innerAlias}`,
  };
};

function referenceSemiJoin(entity: Entity, field: EntityField): SemiJoin {
  const { target, column, matchingColumns, sql } = field;
  const table = quotedTableName(target!);

  if (matchingColumns) return matchingColumnsSemiJoin(matchingColumns, table);

  if (column) {
    return {
      outerKeySql: (outerAlias) => `${outerAlias}."${column}"`,
      innerKeysSql: (innerAlias) => `SELECT ${innerAlias}."id" FROM ${table} ${innerAlias}`,
    };
  }

  const link = linkTableOf(field);

  if (link) {
    const { table: links, ownColumn, otherColumn, keyColumn = 'id' } = link;

    return {
      outerKeySql: (outerAlias) => `${outerAlias}."${keyColumn}"`,
      innerKeysSql: (innerAlias) =>
        `SELECT l."${ownColumn}" FROM "${links}" l JOIN ${table} ${innerAlias}
          ON ${innerAlias}."id" = l."${otherColumn}"${linkDiscriminatorCondition(link, 'l')}`,
    };
  }

  // MATERIALIZED evaluates the expression of a computed relation once per row, wherever the planner
  // places the subquery.
  const idPairsSql = `SELECT o."id" AS "of", unnest(${sql!('o')}) AS "id"
    FROM "${resourceOf(entity)!.table}" o`;

  return {
    outerKeySql: (outerAlias) => `${outerAlias}."id"`,
    innerKeysSql: (innerAlias) =>
      `WITH v AS MATERIALIZED (${idPairsSql}) SELECT v."of" FROM v JOIN ${table} ${innerAlias}
        ON ${innerAlias}."id" = v."id"`,
  };
}

function childSemiJoin(
  target: Thunk,
  field: EntityField,
  outerKeySql: (outerAlias: string) => string,
): SemiJoin {
  const { column, matchingColumns, name } = field;
  const table = quotedTableName(target);

  if (matchingColumns) return matchingColumnsSemiJoin(matchingColumns, table);

  if (column) {
    return {
      outerKeySql,
      innerKeysSql: (innerAlias) => `SELECT ${innerAlias}."${column}" FROM ${table} ${innerAlias}`,
    };
  }

  const link = linkTableOf(field);

  if (!link) throw new Error(`rows cannot be filtered by ${name}`);
  const { table: links, ownColumn, otherColumn, keyColumn = 'id' } = link;

  return {
    outerKeySql,
    innerKeysSql: (innerAlias) =>
      `SELECT l."${otherColumn}" FROM "${links}" l JOIN ${table} ${innerAlias}
        ON ${innerAlias}."${keyColumn}" = l."${ownColumn}"${linkDiscriminatorCondition(link, 'l')}`,
  };
}

const referenceRelations = (entity: Entity): EntityRelation[] =>
  fieldsOf(entity).flatMap((field): EntityRelation[] => {
    if (!field.relation) return [];
    const { target, relationFieldName } = field as Required<typeof field>;

    return [
      {
        name: relationFieldName,
        target,
        isToMany: field.relation.isToMany,
        exclusiveTo: resourceOf(target())!.exclusiveTo ?? field.exclusiveTo,
        ...referenceSemiJoin(entity, field),
        visibilityConditions: (context) => referencedRowConditions(target(), context),
      },
    ];
  });

const childRelations = (entity: Entity): EntityRelation[] =>
  childRowsFieldsOf(entity).map(
    ({ name, target, referenceFieldName, keyFieldName, exclusiveTo }) => ({
      name,
      target,
      isToMany: true,
      exclusiveTo,
      ...childSemiJoin(target, fieldOf(target(), referenceFieldName), (outerAlias) =>
        fieldSqlExpression(fieldOf(entity, keyFieldName), outerAlias),
      ),
      visibilityConditions: (context) => visibleRowConditions(target(), context),
    }),
  );
