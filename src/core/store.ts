/** The statements of a write, each for any number of rows of one type. Values travel as one array a column. */
import type { Transaction } from 'sequelize';
import type { Row } from '../database/rows';
import { contributors, OWNER, ownership, writable } from './access';
import { anyOf, binder, whereOf } from './conditions';
import type { Context } from './context';
import { fieldsOf, sqlType, type Entity, type FieldMeta } from './fields';
import type { Written } from './hooks';
import { columnsOf, from } from './plan';
import { resourceOf } from './resource';
import type { Values } from './validation';

/** Where the statements run. */
export interface Writing {
  context: Context;
  transaction: Transaction;
}

async function run({ context, transaction }: Writing, text: string, bind: unknown[]): Promise<Row[]> {
  const { database, counted } = context.session;
  const [rows] = await database.sequelize.query(text, { bind, transaction, ...counted });
  return rows as Row[];
}

/** The stored fields that any of the rows has a value for. */
const fieldsIn = (entity: Entity, rows: readonly Values[]): FieldMeta[] =>
  fieldsOf(entity).filter((field) => field.stored && field.name !== 'id' && rows.some((values) => values[field.name] !== undefined));

const quoted = (names: readonly (string | undefined)[]) => names.map((name) => `"${name}"`).join(', ');

/** Answers the ids, in the order of the rows. */
export async function insertRows(entity: Entity, rows: readonly Values[], writing: Writing): Promise<number[]> {
  const owned = rows.map((values) => ({ ...values, ...ownership(entity, writing.context) }));
  const fields = fieldsIn(entity, owned);
  const { bind, values } = binder();
  const lists = fields.map((field) => `${bind(owned.map((row: Values) => row[field.name] ?? null))}::${sqlType(field)}[]`);
  const columns = quoted(fields.map(({ column }) => column));
  const made = await run(
    writing,
    `INSERT INTO "${resourceOf(entity)!.table}" (${columns}) SELECT ${columns}
     FROM unnest(${lists.join(', ')}) WITH ORDINALITY AS x(${columns}, "place") ORDER BY "place" RETURNING "id"`,
    values,
  );
  // Ids are given in the order of the rows; in which order they come back nobody promises.
  const ids = made.map(({ id }) => id as number).sort((a, b) => a - b);
  const table = contributors(entity);
  if (table)
    await run(writing, `INSERT INTO "${table}" ("row_id", "${OWNER.column}") SELECT unnest($1::int[]), $2`, [
      ids,
      writing.context.viewer!.id,
    ]);
  return ids;
}

/** Each row gets what is given for it, null included, and keeps the rest. Answers the ids of the rows that there were. */
export async function updateRows(entity: Entity, rows: readonly Written[], writing: Writing): Promise<number[]> {
  const fields = fieldsIn(
    entity,
    rows.map(({ values }) => values),
  );
  if (fields.length === 0) return rows.map(({ id }) => id);
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
    if (given.every(Boolean)) return `"${column}" = x."${column}"`;
    add(`${column} given`, 'boolean', given);
    return `"${column}" = CASE WHEN x."${column} given" THEN x."${column}" ELSE t."${column}" END`;
  });
  const where = whereOf([(alias) => `${alias}."id" = x."id"`, ...writable(entity, writing.context)], 't', bind);
  const changed = await run(
    writing,
    `UPDATE "${resourceOf(entity)!.table}" AS t SET ${changes.join(', ')} FROM unnest(${lists.join(', ')}) AS x(${quoted(names)})${where} RETURNING t."id"`,
    values,
  );
  return changed.map(({ id }) => id as number);
}

export async function deleteRows(entity: Entity, ids: readonly number[], writing: Writing): Promise<number[]> {
  const { bind, values } = binder();
  const where = whereOf([anyOf('id', ids), ...writable(entity, writing.context)], 't', bind);
  const deleted = await run(writing, `DELETE ${from(entity)}${where} RETURNING t."id"`, values);
  return deleted.map(({ id }) => id as number);
}

export type Strength = 'UPDATE' | 'NO KEY UPDATE';

/** Locks rows in the order of their ids, so that two writes of the same rows wait for each other instead of each holding what the other needs. Answers them with these fields. */
export async function lockRows(
  entity: Entity,
  ids: readonly number[],
  strength: Strength,
  writing: Writing,
  fields: readonly string[] = [],
): Promise<Row[]> {
  const { bind, values } = binder();
  const where = whereOf([anyOf('id', ids), ...writable(entity, writing.context)], 't', bind);
  const columns = columnsOf(entity, fields, writing.context.api);
  return run(writing, `SELECT ${columns} ${from(entity)}${where} ORDER BY t."id" FOR ${strength}`, values);
}

/** Whether any of the rows is given links. */
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
    if (replace) await run(writing, `DELETE FROM "${table}" WHERE "${own}" = ANY($1::int[])`, [linked.map(({ id }) => id)]);
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
