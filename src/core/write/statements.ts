/**
 * SQL statements that insert, update, lock and delete rows of one entity, each for any number of rows. Values are array parameters, one per column, so
 * that the text of a statement depends neither on the values nor on the number of rows.
 *
 * Sequelize's `bulkCreate` builds a new statement text from all values, which took fourteen times as long for 400 rows and would expose user data
 * wherever statement texts are logged. Sequelize has no bulk update with different values per row.
 */
import type { Transaction } from 'sequelize';
import { insertionLockClassSql } from '../../database/advisorylocks';
import type { Row } from '../../database/rows';
import { contributorTableOf, ownerFieldValues, writableRowConditions } from '../access/access';
import {
  columnIsOneOf,
  conjunctionSql,
  createParameterBinder,
  whereClause,
} from '../access/conditions';
import type { Context } from '../context';
import { fieldOf, fieldsOf, type Entity, type EntityField } from '../model/fields';
import { sqlType } from '../sql/columntypes';
import { hooksOf, type FieldValues, type RowWithValues } from '../model/hooks';
import { ORDER_BY_ID } from '../sql/ordering';
import { columnSet, buildSelectStatement } from '../sql/select';
import { VERSION_FIELD } from '../model/auditfields';
import { OWNER_FIELD, resourceOf } from '../model/registry';

export interface WriteContext {
  context: Context;
  transaction: Transaction;
}

export interface StoredRow {
  id: number;
  /** The complete row, if the statement that wrote it returned it. */
  row?: Row;
}

export const toStoredRow = ({ id }: { id?: unknown }): StoredRow => ({ id: id as number });

async function runStatement(
  { context, transaction }: WriteContext,
  text: string,
  bind: unknown[],
): Promise<Row[]> {
  const { database, sequelizeOptions } = context.session;
  const [rows] = await database.sequelize.query(text, { bind, transaction, ...sequelizeOptions });
  return rows as Row[];
}

/**
 * Whether the write of a row returns the final row. False for several rows, for public rows, which the viewer may not be able to see, and if links or
 * hooks may change the row later.
 */
const returnsWholeRow = (entity: Entity, rows: readonly FieldValues[]): boolean =>
  rows.length === 1 &&
  resourceOf(entity)!.isOwned &&
  !hooksOf(entity).afterRowsWritten &&
  !changesLinkTables(entity, [{ input: rows[0]! }]);

/** Runs an INSERT or UPDATE of the table alias `t` with a RETURNING clause. `rows` are the values that the statement writes. */
async function runWriteStatement(
  entity: Entity,
  rows: readonly FieldValues[],
  writeContext: WriteContext,
  statementText: string,
  bind: unknown[],
): Promise<StoredRow[]> {
  const needsWholeRow = returnsWholeRow(entity, rows);
  const storedFields = fieldsOf(entity).filter(
    ({ name, isColumn }) => isColumn || name === VERSION_FIELD,
  );
  const names = needsWholeRow ? storedFields.map(({ name }) => name) : [];
  const { selectListSql } = columnSet(entity, names, writeContext.context.policies.textOrder);
  const storedRows = await runStatement(
    writeContext,
    `${statementText} RETURNING ${selectListSql}`,
    bind,
  );
  return storedRows.map((row) => ({ ...toStoredRow(row), ...(needsWholeRow && { row }) }));
}

/** Returns the stored fields that at least one of the rows sets. */
const fieldsSetBy = (entity: Entity, rows: readonly FieldValues[]): EntityField[] =>
  fieldsOf(entity).filter(
    (field) =>
      field.isColumn &&
      field.name !== 'id' &&
      rows.some((values) => values[field.name] !== undefined),
  );

const quoteIdentifiers = (names: readonly (string | undefined)[]) =>
  names.map((name) => `"${name}"`).join(', ');

/** Inserts rows and returns them in input order. */
export async function insertRows(
  entity: Entity,
  inputRows: readonly FieldValues[],
  writeContext: WriteContext,
): Promise<StoredRow[]> {
  const rows = inputRows.map((values): FieldValues => ({
    ...values,
    ...ownerFieldValues(entity, writeContext.context),
  }));
  const fields = fieldsSetBy(entity, rows);
  const { bind, values } = createParameterBinder();
  const arrayParameters = fields.map(
    (field) => `${bind(rows.map((row) => row[field.name] ?? null))}::${sqlType(field)}[]`,
  );
  const columns = quoteIdentifiers(fields.map(({ column }) => column));
  const { table, uniqueFields } = resourceOf(entity)!;
  const viewerId = writeContext.context.viewer!.id;
  // Serializes bulk inserts of a user into a table with a unique key. PostgreSQL checks these deferrable keys at the end of the statement, so two
  // concurrent writes of the same keys would wait for each other (a deadlock).
  const insertionLockSql =
    uniqueFields && rows.length > 1
      ? `, (SELECT pg_advisory_xact_lock(${insertionLockClassSql(table)}, ${bind(viewerId)})) AS "alone"`
      : '';
  const insertedRows = await runWriteStatement(
    entity,
    rows,
    writeContext,
    `INSERT INTO "${table}" AS t (${columns}) SELECT ${columns}
     FROM unnest(${arrayParameters.join(', ')}) WITH ORDINALITY AS x(${columns}, "place")${insertionLockSql} ORDER BY "place"`,
    values,
  );
  // Sorts the inserted rows by id to restore the order of the input: ids are assigned in this order, but RETURNING guarantees no order.
  insertedRows.sort((a, b) => a.id - b.id);
  const contributorTable = contributorTableOf(entity);
  if (contributorTable)
    await runStatement(
      writeContext,
      `INSERT INTO "${contributorTable}" ("row_id", "${OWNER_FIELD.column}") SELECT unnest($1::int[]), $2`,
      [insertedRows.map(({ id }) => id), viewerId],
    );
  return insertedRows;
}

/**
 * Updates each row with its values, which may be null, and returns the rows that exist. With `skipsUnchangedRows`, rows that already have all values
 * are neither written, so that they keep their version, nor returned.
 */
export async function updateRows(
  entity: Entity,
  rows: readonly RowWithValues[],
  writeContext: WriteContext,
  skipsUnchangedRows = false,
): Promise<StoredRow[]> {
  const valuesByRow = rows.map(({ values }) => values);
  const fields = fieldsSetBy(entity, valuesByRow);
  if (fields.length === 0) return rows.map(toStoredRow);
  const { bind, values } = createParameterBinder();
  const arrayParameters = [`${bind(rows.map(({ id }) => id))}::int[]`];
  const columnNames = ['id'];
  const addColumn = (name: string, type: string, columnValues: unknown[]) => {
    arrayParameters.push(`${bind(columnValues)}::${type}[]`);
    columnNames.push(name);
  };
  const changes = fields.map((field) => {
    const { name, column } = field;
    const newValues = valuesByRow.map((values) => values[name] ?? null);
    addColumn(column!, sqlType(field), newValues);
    const isSetFlags = valuesByRow.map((values) => values[name] !== undefined);
    if (isSetFlags.every(Boolean)) return { column, value: `x."${column}"` };
    addColumn(`${column} set`, 'boolean', isSetFlags);
    return {
      column,
      value: `CASE WHEN x."${column} set" THEN x."${column}" ELSE t."${column}" END`,
    };
  });
  const isChangedSql = () =>
    `(${changes.map(({ column, value }) => `t."${column}" IS DISTINCT FROM ${value}`).join(' OR ')})`;
  const conditions = [
    (alias: string) => `${alias}."id" = x."id"`,
    ...(skipsUnchangedRows ? [isChangedSql] : []),
    ...writableRowConditions(entity, writeContext.context),
  ];
  const where = whereClause(conditions, 't', bind);
  const assignmentsSql = changes.map(({ column, value }) => `"${column}" = ${value}`).join(', ');
  return runWriteStatement(
    entity,
    valuesByRow,
    writeContext,
    `UPDATE "${resourceOf(entity)!.table}" AS t SET ${assignmentsSql} FROM unnest(${arrayParameters.join(', ')}) AS x(${quoteIdentifiers(columnNames)})${where}`,
    values,
  );
}

/** Deletes rows by id and returns the number of deleted rows. */
export async function deleteRows(
  entity: Entity,
  ids: readonly number[],
  writeContext: WriteContext,
): Promise<number> {
  const { bind, values } = createParameterBinder();
  const where = whereClause(
    [columnIsOneOf('id', ids), ...writableRowConditions(entity, writeContext.context)],
    't',
    bind,
  );
  const text = `DELETE FROM "${resourceOf(entity)!.table}" AS t${where} RETURNING t."id"`;
  return (await runStatement(writeContext, text, values)).length;
}

export type LockStrength = 'UPDATE' | 'NO KEY UPDATE';

/**
 * Locks the rows whose `keyFieldName` has one of the values, in id order, so that concurrent writes wait for each other instead of deadlocking. Returns them
 * with the given fields.
 */
export function lockRows(
  entity: Entity,
  keyFieldValues: readonly number[],
  lockStrength: LockStrength,
  writeContext: WriteContext,
  fieldNames: readonly string[],
  keyFieldName = 'id',
): Promise<Row[]> {
  const { context } = writeContext;
  const { bind, values } = createParameterBinder();
  const conditions = [
    columnIsOneOf(fieldOf(entity, keyFieldName).column!, keyFieldValues),
    ...writableRowConditions(entity, context),
  ];
  const columns = columnSet(entity, fieldNames, context.policies.textOrder);
  const selectSql = buildSelectStatement({
    columns,
    where: conjunctionSql(conditions, 't', bind),
    order: [ORDER_BY_ID],
  });
  return runStatement(writeContext, `${selectSql} FOR ${lockStrength}`, values);
}

export const changesColumns = (entity: Entity, values: FieldValues): boolean =>
  fieldsSetBy(entity, [values]).length > 0;

export const changesLinkTables = (
  entity: Entity,
  rows: readonly { input: FieldValues }[],
): boolean =>
  fieldsOf(entity).some(
    ({ name, link, readOnly }) =>
      link && !readOnly && rows.some(({ input }) => input[name] !== undefined),
  );

/**
 * Writes the links of rows to the link tables, for each many-to-many field for which the rows have values. With `replacesExistingLinks`, existing links of
 * the rows are deleted first.
 */
export async function writeLinkTableRows(
  entity: Entity,
  rows: readonly RowWithValues[],
  replacesExistingLinks: boolean,
  writeContext: WriteContext,
): Promise<void> {
  const ownerId = ownerFieldValues(entity, writeContext.context)[OWNER_FIELD.field];
  for (const { name, link, readOnly } of fieldsOf(entity)) {
    if (!link || readOnly) continue;
    const rowsWithLinks = rows.filter(({ values }) => values[name] !== undefined);
    if (rowsWithLinks.length === 0) continue;
    const { table, ownColumn, otherColumn } = link;
    if (replacesExistingLinks)
      await runStatement(
        writeContext,
        `DELETE FROM "${table}" WHERE "${ownColumn}" = ANY($1::int[])`,
        [rowsWithLinks.map(({ id }) => id)],
      );
    const idPairs = rowsWithLinks.flatMap(({ id, values }) =>
      (values[name] as unknown[]).map((to) => ({ id, to })),
    );
    const { bind, values } = createParameterBinder();
    const idPairsSql = `unnest(${bind(idPairs.map(({ id }) => id))}::int[], ${bind(idPairs.map(({ to }) => to))}::int[]) AS x("own", "other")`;
    const [column, value] =
      ownerId === undefined ? ['', ''] : [`"${OWNER_FIELD.column}", `, `${bind(ownerId)}::int, `];
    await runStatement(
      writeContext,
      `INSERT INTO "${table}" (${column}"${ownColumn}", "${otherColumn}") SELECT DISTINCT ${value}"own", "other" FROM ${idPairsSql}`,
      values,
    );
  }
}
