/**
 * Corrects a table after all rows of a dump have been inserted: clears flags that only one row per
 * parent row may have, and advances the id sequence.
 */
import type { ClientBase } from 'pg';
import { fieldOf, type Entity } from '../engine/declare/fields';
import { resourceOf } from '../engine/declare/registry';

/**
 * Clears a flag that only one row per parent row may have. Keeps it on the newest row, because a
 * dump may set the flag on several rows.
 */
export async function clearFlagOfOlderRows(entity: Entity, client: ClientBase): Promise<void> {
  const { table, uniqueFlag } = resourceOf(entity)!;

  if (!uniqueFlag) return;
  const column = (name: string) => `"${fieldOf(entity, name).column}"`;
  const flag = column(uniqueFlag.flagFieldName);
  const parentColumn = column(uniqueFlag.parentFieldName);

  await client.query(
    `UPDATE "${table}" t SET ${flag} = false
     WHERE t.${flag} AND EXISTS (SELECT FROM "${table}" o
       WHERE o.${parentColumn} = t.${parentColumn} AND o."id" > t."id" AND o.${flag})`,
  );
}

/** Advances the id sequence of a table at least to the largest id in the table. */
export async function advanceSequence(entity: Entity, client: ClientBase): Promise<void> {
  const table = resourceOf(entity)!.table;

  await client.query(
    `SELECT setval(pg_get_serial_sequence('"${table}"', 'id'),
      GREATEST((SELECT max("id") FROM "${table}"),
      nextval(pg_get_serial_sequence('"${table}"', 'id')) - 1))`,
  );
}
