/**
 * SQL statements that insert, update, lock and delete rows of one entity, each for any number of rows. Inserts and updates of a single row, and all
 * locks and deletions, use the Sequelize model.
 *
 * Bulk inserts and updates are written in SQL, with one array parameter per column. Sequelize's `bulkCreate` builds a new statement text from all
 * values, which took fourteen times as long for 400 rows and would expose user data wherever statement texts are logged. Sequelize has no bulk update
 * with different values per row.
 */
import { literal, Op, type Model, type ModelStatic, type Transaction, type WhereOptions } from 'sequelize';
import { insertionLockClassSql } from '../../database/advisorylocks';
import type { Row } from '../../database/rows';
import { contributorTableOf, ownerFieldValues, writableRowConditions } from '../access/access';
import { linkModelName } from '../model/associations';
import { createParameterBinder, whereClause } from '../access/conditions';
import type { Context } from '../context';
import { fieldsOf, sqlType, type ChildRowsField, type Entity, type EntityField } from '../model/fields';
import { hooksOf, type FieldValues, type RowWithValues } from '../model/hooks';
import { memoizePerEntity } from '../model/memoize';
import { toCamelCase } from '../../contract/casing';
import { fieldSqlExpression } from '../sql/expressions';
import { OWNER_FIELD, resourceOf } from '../model/registry';

export interface WriteContext {
  context: Context;
  transaction: Transaction;
}

export interface StoredRow {
  id: number;
  /** The complete row, if the statement returned it. */
  row?: Row;
}

export const toStoredRow = ({ id }: { id?: unknown }): StoredRow => ({ id: id as number });

async function runStatement({ context, transaction }: WriteContext, text: string, bind: unknown[]): Promise<Row[]> {
  const { database, sequelizeOptions } = context.session;
  const [rows] = await database.sequelize.query(text, { bind, transaction, ...sequelizeOptions });
  return rows as Row[];
}

const modelOf = (entity: Entity): ModelStatic<Model> => entity as unknown as ModelStatic<Model>;

/** Returns the options of Sequelize calls. They disable its validation and hooks: input is already validated, and resources have their own hooks. */
const sequelizeCallOptions = ({ context, transaction }: WriteContext) => ({
  transaction,
  validate: false,
  hooks: false,
  raw: true,
  ...context.session.sequelizeOptions,
});

const columnsByFieldName = memoizePerEntity((entity): ReadonlyMap<string, string> => {
  const attributes = modelOf(entity).getAttributes() as Record<string, { field: string } | undefined>;
  return new Map(fieldsOf(entity).flatMap(({ name }): [string, string][] => (attributes[name] ? [[name, attributes[name].field]] : [])));
});

/**
 * Whether the RETURNING clause of a write returns the final row. False for public rows, which the viewer may not be able to see, and if links or
 * hooks may change the row later.
 */
const returnsWholeRow = (entity: Entity, values: FieldValues): boolean =>
  resourceOf(entity)!.owned && !hooksOf(entity).afterRowsWritten && !changesLinks(entity, [{ input: values }]);

const returningColumns = (entity: Entity, wholeRow: boolean): string[] => (wholeRow ? [...columnsByFieldName(entity).values()] : ['id']);

/**
 * Returns the WHERE clause for the writable rows whose `field` has one of the values. Only the viewer's id and constants declared by resources are
 * inlined in the SQL.
 */
function writableRowsWhere(
  entity: Entity,
  values: readonly number[],
  alias: string,
  { context }: WriteContext,
  field = 'id',
): WhereOptions {
  const escapeValue = (value: unknown) => context.session.database.sequelize.escape(value as string | number);
  return {
    [field]: [...values],
    [Op.and]: writableRowConditions(entity, context).map((condition) => literal(condition(`"${alias}"`, escapeValue))),
  };
}

/** Returns the stored fields that at least one of the rows sets. */
const fieldsSetBy = (entity: Entity, rows: readonly FieldValues[]): EntityField[] =>
  fieldsOf(entity).filter((field) => field.stored && field.name !== 'id' && rows.some((values) => values[field.name] !== undefined));

const quoteIdentifiers = (names: readonly (string | undefined)[]) => names.map((name) => `"${name}"`).join(', ');

/** Inserts rows and returns them in input order. */
export async function insertRows(entity: Entity, rows: readonly FieldValues[], writeContext: WriteContext): Promise<StoredRow[]> {
  const ownedRows = rows.map((values) => ({ ...values, ...ownerFieldValues(entity, writeContext.context) }));
  const fields = fieldsSetBy(entity, ownedRows);
  const insertedRows =
    ownedRows.length === 1
      ? [await insertOne(entity, ownedRows[0]!, fields, writeContext)]
      : await insertSeveral(entity, ownedRows, fields, writeContext);
  const table = contributorTableOf(entity);
  if (table)
    await runStatement(writeContext, `INSERT INTO "${table}" ("row_id", "${OWNER_FIELD.column}") SELECT unnest($1::int[]), $2`, [
      insertedRows.map(({ id }) => id),
      writeContext.context.viewer!.id,
    ]);
  return insertedRows;
}

const fieldNamesOf = (fields: readonly EntityField[]): string[] => fields.map(({ name }) => name);

async function insertOne(
  entity: Entity,
  values: FieldValues,
  fields: readonly EntityField[],
  writeContext: WriteContext,
): Promise<StoredRow> {
  const wholeRow = returnsWholeRow(entity, values);
  const model = await modelOf(entity).create(values, {
    fields: fieldNamesOf(fields),
    returning: returningColumns(entity, wholeRow),
    ...sequelizeCallOptions(writeContext),
  });
  const id = model.get('id') as number;
  if (!wholeRow) return { id };
  // Returns only stored fields, because the model also contains other input values.
  return { id, row: Object.fromEntries([...columnsByFieldName(entity).keys()].map((name) => [name, model.get(name)])) };
}

async function insertSeveral(
  entity: Entity,
  rows: readonly FieldValues[],
  fields: readonly EntityField[],
  writeContext: WriteContext,
): Promise<StoredRow[]> {
  const { bind, values } = createParameterBinder();
  const arrayParameters = fields.map((field) => `${bind(rows.map((row) => row[field.name] ?? null))}::${sqlType(field)}[]`);
  const columns = quoteIdentifiers(fields.map(({ column }) => column));
  const { table, unique } = resourceOf(entity)!;
  // Serializes bulk inserts of a user into a table with a unique key. PostgreSQL checks these deferrable keys at the end of the statement, so two
  // concurrent writes of the same keys would wait for each other (a deadlock).
  const insertionLock = unique
    ? `, (SELECT pg_advisory_xact_lock(${insertionLockClassSql(table)}, ${bind(writeContext.context.viewer!.id)})) AS "alone"`
    : '';
  const insertedRows = await runStatement(
    writeContext,
    `INSERT INTO "${table}" (${columns}) SELECT ${columns}
     FROM unnest(${arrayParameters.join(', ')}) WITH ORDINALITY AS x(${columns}, "place")${insertionLock} ORDER BY "place" RETURNING "id"`,
    values,
  );
  // Ids are assigned in input order, but RETURNING guarantees no order.
  return insertedRows.map(toStoredRow).sort((a, b) => a.id - b.id);
}

/**
 * Updates each row with its values, which may be null, and returns the rows that exist. With `onlyChanged`, rows that already have all values are
 * neither written, so that they keep their version, nor returned.
 */
export async function updateRows(
  entity: Entity,
  rows: readonly RowWithValues[],
  writeContext: WriteContext,
  onlyChanged = false,
): Promise<StoredRow[]> {
  const valuesByRow = rows.map(({ values }) => values);
  const fields = fieldsSetBy(entity, valuesByRow);
  if (fields.length === 0) return rows.map(toStoredRow);
  if (rows.length === 1 && !onlyChanged) return updateOne(entity, rows[0]!, fields, writeContext);
  const { bind, values } = createParameterBinder();
  const arrayParameters = [`${bind(rows.map(({ id }) => id))}::int[]`];
  const names = ['id'];
  const addColumn = (name: string, type: string, list: unknown[]) => {
    arrayParameters.push(`${bind(list)}::${type}[]`);
    names.push(name);
  };
  const changes = fields.map((field) => {
    const { name, column } = field;
    const newValues = valuesByRow.map((values) => values[name] ?? null);
    addColumn(column!, sqlType(field), newValues);
    const hasValue = valuesByRow.map((values) => values[name] !== undefined);
    if (hasValue.every(Boolean)) return { column, value: `x."${column}"` };
    addColumn(`${column} set`, 'boolean', hasValue);
    return { column, value: `CASE WHEN x."${column} set" THEN x."${column}" ELSE t."${column}" END` };
  });
  const isChanged = () => `(${changes.map(({ column, value }) => `t."${column}" IS DISTINCT FROM ${value}`).join(' OR ')})`;
  const conditions = [
    (alias: string) => `${alias}."id" = x."id"`,
    ...(onlyChanged ? [isChanged] : []),
    ...writableRowConditions(entity, writeContext.context),
  ];
  const where = whereClause(conditions, 't', bind);
  const set = changes.map(({ column, value }) => `"${column}" = ${value}`).join(', ');
  const updatedRows = await runStatement(
    writeContext,
    `UPDATE "${resourceOf(entity)!.table}" AS t SET ${set} FROM unnest(${arrayParameters.join(', ')}) AS x(${quoteIdentifiers(names)})${where} RETURNING t."id"`,
    values,
  );
  return updatedRows.map(toStoredRow);
}

async function updateOne(
  entity: Entity,
  { id, values }: RowWithValues,
  fields: readonly EntityField[],
  writeContext: WriteContext,
): Promise<StoredRow[]> {
  const where = writableRowsWhere(entity, [id], resourceOf(entity)!.table, writeContext);
  const wholeRow = returnsWholeRow(entity, values);
  const [, updatedRows] = await modelOf(entity).update(values, {
    where,
    fields: fieldNamesOf(fields),
    returning: returningColumns(entity, wholeRow),
    ...sequelizeCallOptions(writeContext),
  });
  return (updatedRows as unknown as Row[]).map((row) => ({ id, ...(wholeRow && { row }) }));
}

export const deleteRows = (entity: Entity, ids: readonly number[], writeContext: WriteContext): Promise<number> =>
  modelOf(entity).destroy({
    where: writableRowsWhere(entity, ids, resourceOf(entity)!.table, writeContext),
    ...sequelizeCallOptions(writeContext),
  });

export type LockStrength = 'UPDATE' | 'NO_KEY_UPDATE';

/** Locks rows in id order, so that concurrent writes wait for each other instead of deadlocking. Returns them with the given fields. */
export const lockRows = (
  entity: Entity,
  ids: readonly number[],
  strength: LockStrength,
  writeContext: WriteContext,
  fields: readonly string[] = [],
): Promise<Row[]> => lockMatchingRows(entity, 'id', ids, strength, writeContext, fields);

/** Locks the child rows of the rows with these ids. Returns them with the given fields and the reference to their parent row. */
export const lockChildRows = (
  { target, referenceField }: ChildRowsField,
  ids: readonly number[],
  writeContext: WriteContext,
  fields: readonly string[],
): Promise<Row[]> => lockMatchingRows(target(), referenceField, ids, 'UPDATE', writeContext, [referenceField, ...fields]);

async function lockMatchingRows(
  entity: Entity,
  field: string,
  values: readonly number[],
  strength: LockStrength,
  writeContext: WriteContext,
  fields: readonly string[],
): Promise<Row[]> {
  const model = modelOf(entity);
  const { name: alias } = model;
  const attributes = fieldsOf(entity)
    .filter(({ name }) => name === 'id' || fields.includes(name))
    .map((field): string | [ReturnType<typeof literal>, string] =>
      field.stored ? field.name : [literal(fieldSqlExpression(field, `"${alias}"`, writeContext.context.policies.textOrder)), field.name],
    );
  const where = writableRowsWhere(entity, values, alias, writeContext, field);
  const lock = writeContext.transaction.LOCK[strength];
  return (await model.findAll({ attributes, where, order: ['id'], lock, ...sequelizeCallOptions(writeContext) })) as unknown as Row[];
}

export const changesColumns = (entity: Entity, values: FieldValues): boolean => fieldsSetBy(entity, [values]).length > 0;

export const changesLinks = (entity: Entity, rows: readonly { input: FieldValues }[]): boolean =>
  fieldsOf(entity).some(({ name, link, readOnly }) => link && !readOnly && rows.some(({ input }) => input[name] !== undefined));

/**
 * Writes the links of rows to the link tables, for each many-to-many field for which the rows have values. With `replace`, existing links of these
 * rows are deleted first.
 */
export async function writeLinks(
  entity: Entity,
  rows: readonly RowWithValues[],
  replace: boolean,
  writeContext: WriteContext,
): Promise<void> {
  const owner = ownerFieldValues(entity, writeContext.context)[OWNER_FIELD.field];
  for (const { name, link, readOnly } of fieldsOf(entity)) {
    if (!link || readOnly) continue;
    const rowsWithLinks = rows.filter(({ values }) => values[name] !== undefined);
    if (rowsWithLinks.length === 0) continue;
    const { table, ownColumn, otherColumn } = link;
    const linkModel = writeContext.context.session.database.sequelize.model(linkModelName(table));
    if (replace)
      await linkModel.destroy({
        where: { [toCamelCase(ownColumn)]: rowsWithLinks.map(({ id }) => id) },
        ...sequelizeCallOptions(writeContext),
      });
    const pairs = rowsWithLinks.flatMap(({ id, values }) => (values[name] as unknown[]).map((to) => ({ id, to })));
    const { bind, values } = createParameterBinder();
    const from = `unnest(${bind(pairs.map(({ id }) => id))}::int[], ${bind(pairs.map(({ to }) => to))}::int[]) AS x("own", "other")`;
    const [column, value] = owner === undefined ? ['', ''] : [`"${OWNER_FIELD.column}", `, `${bind(owner)}::int, `];
    await runStatement(
      writeContext,
      `INSERT INTO "${table}" (${column}"${ownColumn}", "${otherColumn}") SELECT DISTINCT ${value}"own", "other" FROM ${from}`,
      values,
    );
  }
}
