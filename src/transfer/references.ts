/**
 * Resolves references in a dump: maps ids in the dump to new ids, checks that referenced rows
 * exist, and finds the owners of these rows.
 */
import { MAX_INTEGER } from '../shared/bounds';
import type { Entity, EntityField } from '../engine/declare/fields';
import { OWNER_FIELD, resourceOf } from '../engine/declare/registry';
import type { Row } from '../database/rows';
import { describeRow, failImport, DJANGO_USER_MODEL, type DumpRow } from './dump';

const MAX_CACHED_ROWS = 50_000;

export class ReferenceResolver {
  /** New ids by entity and by id in the dump. */
  private readonly newIdsByEntity = new Map<Entity, Map<number, number>>();

  /**
   * Owners of existing rows, by entity and id. Rows without an owner are included with the value
   * undefined. If a cached row is deleted in the meantime, a foreign key rejects the import.
   */
  private readonly cachedOwnerIdsByEntity = new Map<Entity, Map<number, number | undefined>>();

  constructor(private readonly query: (text: string, values: unknown[]) => Promise<Row[]>) {}

  /**
   * Allocates new ids for rows of the dump. Later references to these rows are mapped to the new
   * ids.
   */
  async allocateIds(entity: Entity, rows: readonly DumpRow[]): Promise<void> {
    const newIds = this.newIdsByEntity.get(entity) ?? new Map<number, number>();
    const newIdRows = await this.query(
      `SELECT nextval(pg_get_serial_sequence('"${resourceOf(entity)!.table}"', 'id'))::int AS id
        FROM generate_series(1, $1)`,
      [rows.length],
    );

    rows.forEach((row, index) => newIds.set(row.pk as number, newIdRows[index]!.id));
    this.newIdsByEntity.set(entity, newIds);
  }

  mapId(entity: Entity, id: unknown): number {
    return this.newIdsByEntity.get(entity)?.get(id as number) ?? (id as number);
  }

  /** Caches the owners of referenced rows, with one statement per table. */
  async cacheReferencedOwners(
    rows: readonly DumpRow[],
    fields: readonly EntityField[],
  ): Promise<void> {
    const referencedIds = new Map<Entity, Set<number>>();

    for (const field of fields) {
      const target = field.target!();
      const ids = referencedIds.get(target) ?? new Set();

      for (const row of rows) {
        for (const value of [row.fields[field.restKey]].flat()) {
          const id = this.mapId(target, value);

          if (Number.isInteger(id) && Math.abs(id) <= MAX_INTEGER) ids.add(id);
        }
      }

      referencedIds.set(target, ids);
    }

    for (const [target, ids] of referencedIds) {
      const existingCache = this.cachedOwnerIdsByEntity.get(target);
      const hasCapacity = existingCache && existingCache.size + ids.size <= MAX_CACHED_ROWS;
      const cachedOwnerIds = hasCapacity ? existingCache : new Map<number, number | undefined>();

      this.cachedOwnerIdsByEntity.set(target, cachedOwnerIds);

      const uncachedIds = [...ids].filter((id) => !cachedOwnerIds.has(id));

      if (!uncachedIds.length) continue;
      const { table, isOwned, dumpModelName } = resourceOf(target)!;
      const ownerSql =
        isOwned && dumpModelName !== DJANGO_USER_MODEL ? `"${OWNER_FIELD.column}"` : 'NULL::int';
      const foundRows = await this.query(
        `SELECT "id", ${ownerSql} AS "owner" FROM "${table}" WHERE "id" = ANY($1)`,
        [uncachedIds],
      );

      for (const row of foundRows) cachedOwnerIds.set(row.id, row.owner ?? undefined);
    }
  }

  /**
   * Maps a reference in the dump to the id to store. Throws if the referenced row does not exist.
   * Call `cacheReferencedOwners` first.
   */
  resolveId(row: DumpRow, field: EntityField, value: unknown): number | null {
    if (value === null || value === undefined) {
      if (field.allowNull) return null;

      return failImport(`${describeRow(row)}: ${field.restKey} is missing.`);
    }

    const target = field.target!();
    const id = this.mapId(target, value);

    if (!this.cachedOwnerIdsByEntity.get(target)!.has(id)) {
      failImport(
        `${describeRow(row)}: ${field.restKey} refers to ${resourceOf(target)!.dumpModelName} ${JSON.stringify(value)}, which does not exist.`,
      );
    }

    return id;
  }

  ownerIdOf(target: Entity, id: number): number | undefined {
    return this.cachedOwnerIdsByEntity.get(target)!.get(id);
  }
}
