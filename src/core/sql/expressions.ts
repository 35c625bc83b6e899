/** SQL expressions of fields, and the FROM clause of an entity. */
import type { ParameterBinder, SqlCondition } from '../access/conditions';
import { fieldOf, type Entity, type EntityField } from '../model/fields';
import { linkDiscriminatorCondition, type LinkTable } from '../model/linktable';
import { resourceOf } from '../model/registry';
import type { TextOrder } from '../model/policies';
import { collateClause } from './collation';

/** Returns the SQL expression of a field's value. For a link table, this is an array of ids in the default order of their resource. */
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
  const where = `WHERE l."${ownColumn}" = ${alias}."${keyColumn}"${linkDiscriminatorCondition(field.link!, 'l')}`;
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
  return `ARRAY(SELECT l."${otherColumn}" ${links} JOIN "${targetTable}" o ON o."id" = l."${otherColumn}" ${where} ORDER BY ${order})`;
}

/**
 * Returns the table that stores the relation of a field: its link table or, if the referenced id is a column of another row (`relatedColumn`), the table of
 * that row. Undefined for other fields.
 */
export const linkTableOf = ({ link, relatedColumn }: EntityField): LinkTable | undefined =>
  link ??
  (relatedColumn && {
    table: relatedColumn.table,
    ownColumn: 'id',
    otherColumn: relatedColumn.column,
    keyColumn: relatedColumn.referenceColumn,
  });

/**
 * Returns the condition that a reference equals the given id or, for a many-to-many field, that a linked row has this id. It is written so that an
 * index of the other table can be used.
 */
export function referencesIdConditionSql(field: EntityField, alias: string, idSql: string): string {
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
  return `${alias}."${keyColumn}" IN (SELECT l."${ownColumn}" FROM "${table}" l WHERE l."${otherColumn}" = ${idSql}${linkDiscriminatorCondition(link, 'l')})`;
}

export const sqlJoinClauses = (joins: readonly SqlCondition[], bind: ParameterBinder): string =>
  joins.map((join) => ` ${join('t', bind)}`).join('');

export const fromClause = (
  entity: Entity,
  joins: readonly SqlCondition[] = [],
  bind?: ParameterBinder,
): string => `FROM "${resourceOf(entity)!.table}" t${sqlJoinClauses(joins, bind!)}`;
