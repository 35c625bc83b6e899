/**
 * SQL statements that insert, update, lock and delete any number of rows of one entity. Values are
 * array parameters, one per column, so the text of a statement depends neither on values nor on the
 * number of rows. Sequelize's `bulkCreate` took fourteen times as long for 400 rows, and its text
 * contains user data.
 */
import { insertionLockClassSql } from '../../database/advisory-locks';
import type { Row } from '../../database/rows';
import type { Transaction } from '../../database/transaction';
import { ownerFieldValues, writableRowConditions } from '../access/access';
import {
  columnIsOneOf,
  allOfSql,
  createParameterBinder,
  whereClause,
  type SqlCondition,
} from '../access/conditions';
import type { Context } from '../context';
import { fieldOf, fieldsOf, type Entity, type EntityField } from '../declare/fields';
import { linkDiscriminatorCondition } from '../declare/link-table';
import { sqlType } from '../sql/column-types';
import {
  hooksOf,
  type FieldValues,
  type RowWithValues,
  OWNER_FIELD,
  resourceOf,
} from '../declare/registry';
import { ORDER_BY_ID } from '../sql/ordering';
import { columnSet, buildSelectRowsStatement, buildSelectStatement } from '../sql/select';
import { VERSION_FIELD } from '../declare/audit-fields';
import { recordContributions } from './contributions';

export interface WriteContext {
  context: Context;
  transaction: Transaction;
}

export interface StoredRow {
  id: number;

  /** The complete row, if the write statement returned it. */
  row?: Row;
}

export const toStoredRow = ({ id }: { id?: unknown }): StoredRow => ({ id: id as number });

/**
 * Whether the write statement returns the final row. False for several rows, for public rows (which
 * the viewer may be unable to see), and if links or hooks may change the row later.
 */
const returnsWholeRow = (entity: Entity, rows: readonly FieldValues[]): boolean =>
  rows.length === 1 &&
  resourceOf(entity)!.isOwned &&
  !hooksOf(entity).afterRowsWritten &&
  !changesLinkTables(entity, [{ input: rows[0]! }]);

/**
 * Runs an INSERT or UPDATE of the table alias `t` with a RETURNING clause. `rows` are the written
 * values.
 */
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
  const storedRows = await writeContext.transaction.query(
    `${statementText} RETURNING ${selectListSql}`,
    bind,
  );

  return storedRows.map((row) => ({ ...toStoredRow(row), ...(needsWholeRow && { row }) }));
}

/** Stored fields that at least one of the rows sets. */
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
  // Serializes bulk inserts of a user into a table with a unique key. PostgreSQL checks these
  // deferrable keys at the end of the statement, so two concurrent inserts of the same keys would
  // deadlock.
  let insertionLockSql = '';

  if (uniqueFields && rows.length > 1) {
    const lockClassSql = insertionLockClassSql(table);

    insertionLockSql = `, (SELECT pg_advisory_xact_lock(${lockClassSql}, ${bind(viewerId)})) AS "alone"`;
  }

  // Rows without values are created one at a time.
  const rowsSql = fields.length
    ? `(${columns}) SELECT ${columns} FROM unnest(${arrayParameters.join(', ')})
        WITH ORDINALITY AS x(${columns}, "place")${insertionLockSql} ORDER BY "place"`
    : 'DEFAULT VALUES';
  const insertedRows = await runWriteStatement(
    entity,
    rows,
    writeContext,
    `INSERT INTO "${table}" AS t ${rowsSql}`,
    values,
  );

  // Restores the order of the input: ids are assigned in this order, but RETURNING guarantees none.
  insertedRows.sort((a, b) => a.id - b.id);
  await recordContributions(
    entity,
    insertedRows.map(({ id }) => id),
    writeContext,
  );

  return insertedRows;
}

/**
 * Updates each row with its values, which may be null, and returns the updated rows. Missing rows
 * are skipped. With `skipsUnchangedRows`, rows that already have all values are neither written nor
 * returned, so that they keep their version.
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

  const isChangedSql = () => {
    const comparisons = changes.map(
      ({ column, value }) => `t."${column}" IS DISTINCT FROM ${value}`,
    );

    return `(${comparisons.join(' OR ')})`;
  };

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
    `UPDATE "${resourceOf(entity)!.table}" AS t SET ${assignmentsSql}
      FROM unnest(${arrayParameters.join(', ')}) AS x(${quoteIdentifiers(columnNames)})${where}`,
    values,
  );
}

/** Deletes rows by id and returns their number. */
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

  return (await writeContext.transaction.query(text, values)).length;
}

export const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id as number);

/** Reads the given fields of rows that meet the conditions. */
export const readRows = (
  entity: Entity,
  ids: readonly number[],
  fieldNames: readonly string[],
  conditions: readonly SqlCondition[],
  { policies, session }: Context,
): Promise<Row[]> =>
  session.query(
    ...buildSelectRowsStatement(columnSet(entity, fieldNames, policies.textOrder), [
      columnIsOneOf('id', ids),
      ...conditions,
    ]),
  );

export type LockStrength = 'UPDATE' | 'NO KEY UPDATE';

/**
 * Locks and reads the rows whose `keyFieldName` has one of the values. Locks them in id order, so
 * that concurrent writes wait for each other instead of deadlocking.
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
    where: allOfSql(conditions, 't', bind),
    order: [ORDER_BY_ID],
  });

  return writeContext.transaction.query(`${selectSql} FOR ${lockStrength}`, values);
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
 * Writes the links in each many-to-many field that the rows set. Existing links that are missing
 * from the input are deleted; the others stay unchanged, and with them the version of the row.
 */
export async function writeLinkTableRows(
  entity: Entity,
  rows: readonly RowWithValues[],
  { context, transaction }: WriteContext,
): Promise<void> {
  const ownerId = ownerFieldValues(entity, context)[OWNER_FIELD.field];

  for (const { name, link, readOnly } of fieldsOf(entity)) {
    const rowsWithLinks = rows.filter(({ values }) => values[name] !== undefined);

    if (!link || readOnly || rowsWithLinks.length === 0) continue;
    const { table, ownColumn, otherColumn, discriminators } = link;
    const idPairs = rowsWithLinks.flatMap(({ id, values }) =>
      (values[name] as unknown[]).map((otherId) => ({ id, otherId })),
    );
    const { bind, values } = createParameterBinder();
    const bindIds = (ids: unknown[]) => `${bind(ids)}::int[]`;
    const ownIds = bindIds(rowsWithLinks.map(({ id }) => id));
    const pairArrays = [
      bindIds(idPairs.map(({ id }) => id)),
      bindIds(idPairs.map(({ otherId }) => otherId)),
    ];
    const constants = {
      ...(ownerId !== undefined && { [OWNER_FIELD.column]: `${bind(ownerId)}::int` }),
      ...discriminators,
    };

    await transaction.query(
      `WITH pairs AS (SELECT DISTINCT * FROM unnest(${pairArrays.join()}) AS x("own", "other")),
        removed AS (DELETE FROM "${table}" l
          WHERE l."${ownColumn}" = ANY(${ownIds})${linkDiscriminatorCondition(link, 'l')}
            AND (l."${ownColumn}", l."${otherColumn}") NOT IN (SELECT * FROM pairs))
        INSERT INTO "${table}" (${quoteIdentifiers([ownColumn, otherColumn, ...Object.keys(constants)])})
          SELECT ${['pairs.*', ...Object.values(constants)].join()} FROM pairs
          ON CONFLICT DO NOTHING`,
      values,
    );
  }
}
