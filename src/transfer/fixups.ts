/** Corrections of a table after all rows of a dump are inserted: flags that only one row may have, and the id sequence. */
import type { ClientBase } from 'pg';
import { fieldOf, type Entity } from '../core/model/fields';
import { resourceOf } from '../core/model/registry';

/** Clears a flag that only one row may have (such as `is_active`) on all rows except the newest, because a dump may set it on several. */
export async function clearFlagExceptOnNewestRow(
  entity: Entity,
  client: ClientBase,
): Promise<void> {
  const { table, uniqueFlag } = resourceOf(entity)!;
  if (!uniqueFlag) return;
  const column = (name: string) => `"${fieldOf(entity, name).column}"`;
  const [flag, groupColumn] = [
    column(uniqueFlag.flagFieldName),
    column(uniqueFlag.parentFieldName),
  ];
  const conditions = Object.entries(uniqueFlag.rowFilter ?? {});
  const flagCondition = (alias: string) =>
    [
      `${alias}.${flag}`,
      ...conditions.map(([name], index) => `${alias}."${name}" = $${index + 1}`),
    ].join(' AND ');
  await client.query(
    `UPDATE "${table}" t SET ${flag} = false
     WHERE ${flagCondition('t')} AND EXISTS (SELECT FROM "${table}" o WHERE o.${groupColumn} = t.${groupColumn} AND o."id" > t."id" AND ${flagCondition('o')})`,
    conditions.map(([, value]) => value),
  );
}

/** Advances the id sequence of a table at least to its largest id. */
export async function advanceSequence(entity: Entity, client: ClientBase): Promise<void> {
  const table = resourceOf(entity)!.table;
  await client.query(
    `SELECT setval(pg_get_serial_sequence('"${table}"', 'id'), GREATEST((SELECT max("id") FROM "${table}"), nextval(pg_get_serial_sequence('"${table}"', 'id')) - 1))`,
  );
}
