/** What must hold of a table once all rows of a dump are in it. */
import type { ClientBase } from 'pg';
import { fieldOf, type Entity } from '../core/model/fields';
import { resourceOf } from '../core/model/registry';

/** A dump may give several rows a flag that one may have; the newest keeps it. */
export async function keepNewestFlags(entity: Entity, client: ClientBase): Promise<void> {
  const { table, single } = resourceOf(entity)!;
  if (!single) return;
  const column = (name: string) => `"${fieldOf(entity, name).column}"`;
  const [flag, of] = [column(single.flag), column(single.of)];
  const among = Object.entries(single.among ?? {});
  const counts = (alias: string) =>
    [`${alias}.${flag}`, ...among.map(([name], index) => `${alias}."${name}" = $${index + 1}`)].join(' AND ');
  await client.query(
    `UPDATE "${table}" t SET ${flag} = false
     WHERE ${counts('t')} AND EXISTS (SELECT FROM "${table}" o WHERE o.${of} = t.${of} AND o."id" > t."id" AND ${counts('o')})`,
    among.map(([, value]) => value),
  );
}

/** Rows that are added later get ids above those of the dump. */
export async function moveSequence(entity: Entity, client: ClientBase): Promise<void> {
  const table = resourceOf(entity)!.table;
  await client.query(
    `SELECT setval(pg_get_serial_sequence('"${table}"', 'id'), GREATEST((SELECT max("id") FROM "${table}"), nextval(pg_get_serial_sequence('"${table}"', 'id')) - 1))`,
  );
}
