/**
 * The statements of a write, each for any number of rows of one type. One row is written by its model, and rows are locked and deleted by theirs.
 *
 * What models cannot say so well is SQL: several rows, whose values travel as one array a column. `bulkCreate` makes its text anew of all values,
 * which took fourteen times as long for 400 rows and would show what users write to whoever reads texts of statements; and no model gives each of
 * several rows values of its own in one statement.
 */
import { literal, Op, type Model, type ModelStatic, type Transaction, type WhereOptions } from 'sequelize';
import { insertionLockClass } from '../../database/locks';
import type { Row } from '../../database/rows';
import { contributors, ownership, writable } from '../access/access';
import { OWNER } from '../model/registry';
import { modelNamed } from '../model/associations';
import { binder, whereOf } from '../access/conditions';
import type { Context } from '../context';
import { fieldsOf, sqlType, type ChildMeta, type Entity, type FieldMeta } from '../model/fields';
import { hooksOf, type Written } from '../model/hooks';
import { perEntity } from '../model/perentity';
import { camel } from '../../contract/casing';
import { expression } from '../sql/expressions';
import { resourceOf } from '../model/registry';
import type { Values } from '../model/hooks';

export interface Writing {
  context: Context;
  transaction: Transaction;
}

export interface Stored {
  id: number;
  /** All that it holds, where the statement told it. */
  row?: Row;
}

export const identified = ({ id }: { id?: unknown }): Stored => ({ id: id as number });

async function run({ context, transaction }: Writing, text: string, bind: unknown[]): Promise<Row[]> {
  const { database, counted } = context.session;
  const [rows] = await database.sequelize.query(text, { bind, transaction, ...counted });
  return rows as Row[];
}

const modelOf = (entity: Entity): ModelStatic<Model> => entity as unknown as ModelStatic<Model>;

/** Of a call of a model. What is written has been checked, and hooks are the resource's own (`hooks.ts`). */
const calling = ({ context, transaction }: Writing) => ({
  transaction,
  validate: false,
  hooks: false,
  raw: true,
  ...context.session.counted,
});

/** The fields that a row holds itself, and their columns. */
const held = perEntity((entity): ReadonlyMap<string, string> => {
  const attributes = modelOf(entity).getAttributes() as Record<string, { field: string } | undefined>;
  return new Map(fieldsOf(entity).flatMap(({ name }): [string, string][] => (attributes[name] ? [[name, attributes[name].field]] : [])));
});

/**
 * Whether the statement that writes a row alone tells all that the row holds, so that it need not be read to be shown. Of a row that is everybody's
 * it is another question whether the viewer is shown it, and links and hooks may change the row after that.
 */
const isTold = (entity: Entity, values: Values): boolean =>
  resourceOf(entity)!.owned && !hooksOf(entity).after && !writesLinks(entity, [{ input: values }]);

const returned = (entity: Entity, whole: boolean): string[] => (whole ? [...held(entity).values()] : ['id']);

/** Of the rows with one of these values those that the viewer may write. What stands in such a condition as a text is the viewer's id and what resources say. */
function writableAmong(entity: Entity, values: readonly number[], alias: string, { context }: Writing, field = 'id'): WhereOptions {
  const inline = (value: unknown) => context.session.database.sequelize.escape(value as string | number);
  return { [field]: [...values], [Op.and]: writable(entity, context).map((condition) => literal(condition(`"${alias}"`, inline))) };
}

/** The stored fields that any of the rows has a value for. */
const fieldsIn = (entity: Entity, rows: readonly Values[]): FieldMeta[] =>
  fieldsOf(entity).filter((field) => field.stored && field.name !== 'id' && rows.some((values) => values[field.name] !== undefined));

const quoted = (names: readonly (string | undefined)[]) => names.map((name) => `"${name}"`).join(', ');

/** Answers the rows, in their order. */
export async function insertRows(entity: Entity, rows: readonly Values[], writing: Writing): Promise<Stored[]> {
  const owned = rows.map((values) => ({ ...values, ...ownership(entity, writing.context) }));
  const fields = fieldsIn(entity, owned);
  const made =
    owned.length === 1 ? [await insertOne(entity, owned[0]!, fields, writing)] : await insertSeveral(entity, owned, fields, writing);
  const table = contributors(entity);
  if (table)
    await run(writing, `INSERT INTO "${table}" ("row_id", "${OWNER.column}") SELECT unnest($1::int[]), $2`, [
      made.map(({ id }) => id),
      writing.context.viewer!.id,
    ]);
  return made;
}

const namesOf = (fields: readonly FieldMeta[]): string[] => fields.map(({ name }) => name);

async function insertOne(entity: Entity, values: Values, fields: readonly FieldMeta[], writing: Writing): Promise<Stored> {
  const whole = isTold(entity, values);
  const made = await modelOf(entity).create(values, { fields: namesOf(fields), returning: returned(entity, whole), ...calling(writing) });
  const id = made.get('id') as number;
  if (!whole) return { id };
  // Of what was given the model knows more than what is stored.
  return { id, row: Object.fromEntries([...held(entity).keys()].map((name) => [name, made.get(name)])) };
}

async function insertSeveral(entity: Entity, rows: readonly Values[], fields: readonly FieldMeta[], writing: Writing): Promise<Stored[]> {
  const { bind, values } = binder();
  const lists = fields.map((field) => `${bind(rows.map((row) => row[field.name] ?? null))}::${sqlType(field)}[]`);
  const columns = quoted(fields.map(({ column }) => column));
  const { table, unique } = resourceOf(entity)!;
  // Where rows may trade their keys, doubles are looked for when all rows are there: two writes of the same keys would wait for each other.
  const alone = unique
    ? `, (SELECT pg_advisory_xact_lock(${insertionLockClass(table)}, ${bind(writing.context.viewer!.id)})) AS "alone"`
    : '';
  const made = await run(
    writing,
    `INSERT INTO "${table}" (${columns}) SELECT ${columns}
     FROM unnest(${lists.join(', ')}) WITH ORDINALITY AS x(${columns}, "place")${alone} ORDER BY "place" RETURNING "id"`,
    values,
  );
  // Ids are given in the order of the rows; in which order they come back nobody promises.
  return made.map(identified).sort((a, b) => a.id - b.id);
}

/**
 * Each row gets what is given for it, null included, and keeps the rest. Answers the rows that there were. `onlyChanged`: rows that hold all of it already
 * are not written, so that they keep their versions, and not answered.
 */
export async function updateRows(entity: Entity, rows: readonly Written[], writing: Writing, onlyChanged = false): Promise<Stored[]> {
  const fields = fieldsIn(
    entity,
    rows.map(({ values }) => values),
  );
  if (fields.length === 0) return rows.map(identified);
  if (rows.length === 1 && !onlyChanged) return updateOne(entity, rows[0]!, fields, writing);
  const { bind, values } = binder();
  const lists = [`${bind(rows.map(({ id }) => id))}::int[]`];
  const names = ['id'];
  const add = (name: string, type: string, list: unknown[]) => {
    lists.push(`${bind(list)}::${type}[]`);
    names.push(name);
  };
  const changes = fields.map((field) => {
    const { name, column } = field;
    add(
      column!,
      sqlType(field),
      rows.map((row) => row.values[name] ?? null),
    );
    const given = rows.map((row) => row.values[name] !== undefined);
    if (given.every(Boolean)) return { column, value: `x."${column}"` };
    add(`${column} given`, 'boolean', given);
    return { column, value: `CASE WHEN x."${column} given" THEN x."${column}" ELSE t."${column}" END` };
  });
  const differs = () => `(${changes.map(({ column, value }) => `t."${column}" IS DISTINCT FROM ${value}`).join(' OR ')})`;
  const conditions = [(alias: string) => `${alias}."id" = x."id"`, ...(onlyChanged ? [differs] : []), ...writable(entity, writing.context)];
  const where = whereOf(conditions, 't', bind);
  const set = changes.map(({ column, value }) => `"${column}" = ${value}`).join(', ');
  const changed = await run(
    writing,
    `UPDATE "${resourceOf(entity)!.table}" AS t SET ${set} FROM unnest(${lists.join(', ')}) AS x(${quoted(names)})${where} RETURNING t."id"`,
    values,
  );
  return changed.map(identified);
}

async function updateOne(entity: Entity, { id, values }: Written, fields: readonly FieldMeta[], writing: Writing): Promise<Stored[]> {
  const where = writableAmong(entity, [id], resourceOf(entity)!.table, writing);
  const whole = isTold(entity, values);
  const [, changed] = await modelOf(entity).update(values, {
    where,
    fields: namesOf(fields),
    returning: returned(entity, whole),
    ...calling(writing),
  });
  return (changed as unknown as Row[]).map((row) => ({ id, ...(whole && { row }) }));
}

export const deleteRows = (entity: Entity, ids: readonly number[], writing: Writing): Promise<number> =>
  modelOf(entity).destroy({ where: writableAmong(entity, ids, resourceOf(entity)!.table, writing), ...calling(writing) });

export type Strength = 'UPDATE' | 'NO_KEY_UPDATE';

/** Locks rows in the order of their ids, so that two writes of the same rows wait for each other instead of each holding what the other needs. Answers them with these fields. */
export const lockRows = (
  entity: Entity,
  ids: readonly number[],
  strength: Strength,
  writing: Writing,
  fields: readonly string[] = [],
): Promise<Row[]> => lockWhere(entity, 'id', ids, strength, writing, fields);

/** The same of the parts of rows, with the field that names the row and these fields. */
export const lockParts = ({ target, by }: ChildMeta, ids: readonly number[], writing: Writing, fields: readonly string[]): Promise<Row[]> =>
  lockWhere(target(), by, ids, 'UPDATE', writing, [by, ...fields]);

async function lockWhere(
  entity: Entity,
  field: string,
  values: readonly number[],
  strength: Strength,
  writing: Writing,
  fields: readonly string[],
): Promise<Row[]> {
  const model = modelOf(entity);
  const { name: alias } = model;
  const attributes = fieldsOf(entity)
    .filter(({ name }) => name === 'id' || fields.includes(name))
    .map((field): string | [ReturnType<typeof literal>, string] =>
      field.stored ? field.name : [literal(expression(field, `"${alias}"`, writing.context.api)), field.name],
    );
  const where = writableAmong(entity, values, alias, writing, field);
  const lock = writing.transaction.LOCK[strength];
  return (await model.findAll({ attributes, where, order: ['id'], lock, ...calling(writing) })) as unknown as Row[];
}

export const writesColumns = (entity: Entity, values: Values): boolean => fieldsIn(entity, [values]).length > 0;

export const writesLinks = (entity: Entity, rows: readonly { input: Values }[]): boolean =>
  fieldsOf(entity).some(({ name, link, readOnly }) => link && !readOnly && rows.some(({ input }) => input[name] !== undefined));

/** Links to other rows, where values are given for them. `replace`: in place of those that there are. */
export async function writeLinks(entity: Entity, rows: readonly Written[], replace: boolean, writing: Writing): Promise<void> {
  const owner = ownership(entity, writing.context)[OWNER.field];
  for (const { name, link, readOnly } of fieldsOf(entity)) {
    if (!link || readOnly) continue;
    const linked = rows.filter(({ values }) => values[name] !== undefined);
    if (linked.length === 0) continue;
    const { table, own, other } = link;
    const links = writing.context.session.database.sequelize.model(modelNamed(table));
    if (replace) await links.destroy({ where: { [camel(own)]: linked.map(({ id }) => id) }, ...calling(writing) });
    const pairs = linked.flatMap(({ id, values }) => (values[name] as unknown[]).map((to) => ({ id, to })));
    const { bind, values } = binder();
    const from = `unnest(${bind(pairs.map(({ id }) => id))}::int[], ${bind(pairs.map(({ to }) => to))}::int[]) AS x("own", "other")`;
    const [column, value] = owner === undefined ? ['', ''] : [`"${OWNER.column}", `, `${bind(owner)}::int, `];
    await run(
      writing,
      `INSERT INTO "${table}" (${column}"${own}", "${other}") SELECT DISTINCT ${value}"own", "other" FROM ${from}`,
      values,
    );
  }
}
