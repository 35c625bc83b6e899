/** Resolver of foreign keys in a dump: maps old to new ids, checks that referenced rows exist, and finds their owners. */
import { MAX_INTEGER } from '../contract/bounds';
import type { Entity, EntityField } from '../core/model/fields';
import { OWNER_FIELD, resourceOf } from '../core/model/registry';
import type { Row } from '../database/rows';
import { describeRow, failImport, DJANGO_USER_MODEL, type DumpRow } from './dump';

const MAX_CACHED_ROWS = 50_000;

export class ReferenceResolver {
  /** New ids by entity and id in the dump. */
  private readonly newIds = new Map<Entity, Map<number, number>>();
  /** Owners of existing rows, cached by entity and id. If a cached row is deleted in the meantime, the foreign key rejects the import. */
  private readonly cachedOwnersByEntity = new Map<Entity, Map<number, number | undefined>>();

  constructor(private readonly query: (text: string, values: unknown[]) => Promise<Row[]>) {}

  /** Allocates new ids for rows of the dump. References to these rows later in the dump are mapped to the new ids. */
  async allocateIds(entity: Entity, rows: readonly DumpRow[]): Promise<void> {
    const idMap = this.newIds.get(entity) ?? new Map<number, number>();
    const newIdRows = await this.query(
      `SELECT nextval(pg_get_serial_sequence('"${resourceOf(entity)!.table}"', 'id'))::int AS id FROM generate_series(1, $1)`,
      [rows.length],
    );
    rows.forEach((row, index) => idMap.set(row.pk as number, newIdRows[index]!.id));
    this.newIds.set(entity, idMap);
  }

  mapId(entity: Entity, id: unknown): number {
    return this.newIds.get(entity)?.get(id as number) ?? (id as number);
  }

  /** Caches the owners of the rows that the given rows reference, with one statement per table that has uncached ones. */
  async cacheReferencedRowOwners(rows: readonly DumpRow[], fields: readonly EntityField[]): Promise<void> {
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
      let cachedOwners = this.cachedOwnersByEntity.get(target);
      if (!cachedOwners || cachedOwners.size + ids.size > MAX_CACHED_ROWS)
        this.cachedOwnersByEntity.set(target, (cachedOwners = new Map()));
      const uncachedIds = [...ids].filter((id) => !cachedOwners.has(id));
      if (!uncachedIds.length) continue;
      const { table, isOwned, dumpModel } = resourceOf(target)!;
      const owner = isOwned && dumpModel !== DJANGO_USER_MODEL ? `"${OWNER_FIELD.column}"` : 'NULL::int';
      const rowsFound = await this.query(`SELECT "id", ${owner} AS "owner" FROM "${table}" WHERE "id" = ANY($1)`, [uncachedIds]);
      for (const row of rowsFound) cachedOwners.set(row.id, row.owner ?? undefined);
    }
  }

  /** Returns the id to store for a reference, whose row `cacheReferencedRowOwners` must have cached. Throws if the referenced row does not exist. */
  resolveId(row: DumpRow, field: EntityField, value: unknown): number | null {
    if (value === null || value === undefined)
      return field.allowNull ? null : failImport(`${describeRow(row)}: ${field.restKey} is missing.`);
    const target = field.target!();
    const id = this.mapId(target, value);
    if (!this.cachedOwnersByEntity.get(target)!.has(id))
      failImport(
        `${describeRow(row)}: ${field.restKey} refers to ${resourceOf(target)!.dumpModel} ${JSON.stringify(value)}, which does not exist.`,
      );
    return id;
  }

  ownerOf(target: Entity, id: number): number | undefined {
    return this.cachedOwnersByEntity.get(target)!.get(id);
  }
}
