/** Resolver of foreign keys in a dump: maps old to new ids, checks that referenced rows exist, and finds their owners. */
import { MAX_INTEGER } from '../contract/bounds';
import type { Entity, EntityField } from '../core/model/fields';
import { OWNER_FIELD, resourceOf } from '../core/model/registry';
import type { Row } from '../database/rows';
import { describeRow, failImport, DJANGO_USER_MODEL, type DumpRow } from './dump';

const MAX_CACHED_ROWS = 50_000;

export class ReferenceResolver {
  /** New ids by entity and id in the dump. */
  private readonly newIdsByEntity = new Map<Entity, Map<number, number>>();
  /** Owners of existing rows, cached by entity and id. If a cached row is deleted in the meantime, the foreign key rejects the import. */
  private readonly cachedOwnerIdsByEntity = new Map<Entity, Map<number, number | undefined>>();

  constructor(private readonly query: (text: string, values: unknown[]) => Promise<Row[]>) {}

  /** Allocates new ids for rows of the dump. References to these rows later in the dump are mapped to the new ids. */
  async allocateIds(entity: Entity, rows: readonly DumpRow[]): Promise<void> {
    const idMap = this.newIdsByEntity.get(entity) ?? new Map<number, number>();
    const newIdRows = await this.query(
      `SELECT nextval(pg_get_serial_sequence('"${resourceOf(entity)!.table}"', 'id'))::int AS id FROM generate_series(1, $1)`,
      [rows.length],
    );
    rows.forEach((row, index) => idMap.set(row.pk as number, newIdRows[index]!.id));
    this.newIdsByEntity.set(entity, idMap);
  }

  mapId(entity: Entity, id: unknown): number {
    return this.newIdsByEntity.get(entity)?.get(id as number) ?? (id as number);
  }

  /** Caches the owners of the rows that the given rows reference, with one statement per table that has uncached ones. */
  async cacheReferencedRowOwners(
    rows: readonly DumpRow[],
    fields: readonly EntityField[],
  ): Promise<void> {
    const referencedIds = new Map<Entity, Set<number>>();
    for (const field of fields) {
      const target = field.target!();
      const ids = referencedIds.get(target) ?? new Set();
      for (const row of rows)
        for (const value of [row.fields[field.restKey]].flat()) {
          const id = this.mapId(target, value);
          if (Number.isInteger(id) && Math.abs(id) <= MAX_INTEGER) ids.add(id);
        }
      referencedIds.set(target, ids);
    }
    for (const [target, ids] of referencedIds) {
      let cachedOwnerIds = this.cachedOwnerIdsByEntity.get(target);
      if (!cachedOwnerIds || cachedOwnerIds.size + ids.size > MAX_CACHED_ROWS)
        this.cachedOwnerIdsByEntity.set(target, (cachedOwnerIds = new Map()));
      const uncachedIds = [...ids].filter((id) => !cachedOwnerIds.has(id));
      if (!uncachedIds.length) continue;
      const { table, isOwned, dumpModelName } = resourceOf(target)!;
      const owner =
        isOwned && dumpModelName !== DJANGO_USER_MODEL ? `"${OWNER_FIELD.column}"` : 'NULL::int';
      const rowsFound = await this.query(
        `SELECT "id", ${owner} AS "owner" FROM "${table}" WHERE "id" = ANY($1)`,
        [uncachedIds],
      );
      for (const row of rowsFound) cachedOwnerIds.set(row.id, row.owner ?? undefined);
    }
  }

  /** Returns the id to store for a reference, whose row `cacheReferencedRowOwners` must have cached. Throws if the referenced row does not exist. */
  resolveId(row: DumpRow, field: EntityField, value: unknown): number | null {
    if (value === null || value === undefined)
      return field.allowNull
        ? null
        : failImport(`${describeRow(row)}: ${field.restKey} is missing.`);
    const target = field.target!();
    const id = this.mapId(target, value);
    if (!this.cachedOwnerIdsByEntity.get(target)!.has(id))
      failImport(
        `${describeRow(row)}: ${field.restKey} refers to ${resourceOf(target)!.dumpModelName} ${JSON.stringify(value)}, which does not exist.`,
      );
    return id;
  }

  ownerIdOf(target: Entity, id: number): number | undefined {
    return this.cachedOwnerIdsByEntity.get(target)!.get(id);
  }
}
