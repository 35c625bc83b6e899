/** What rows of a dump refer to: which rows there are, whose they are, and which ids they have, where new ones were given. */
import { MAX_INTEGER } from '../contract/bounds';
import type { Entity, FieldMeta } from '../core/model/fields';
import { OWNER, resourceOf } from '../core/model/registry';
import type { Row } from '../database/rows';
import { at, fail, USERS, type DumpRow } from './dump';

/** Of one table, rows that others refer to and that are remembered to be there. */
const MAX_REFERRED = 50_000;

export class References {
  /** The ids that were given anew, by those that the rows have. */
  private readonly renumbered = new Map<Entity, Map<number, number>>();
  /**
   * What was looked up, by table and id, with the owner of each that has one: rows refer to the same ones again and again. Whatever is deleted
   * meanwhile a key refuses.
   */
  private readonly present = new Map<Entity, Map<number, number | undefined>>();

  constructor(private readonly ask: (text: string, values: unknown[]) => Promise<Row[]>) {}

  /** Gives new ids to rows, which others of the dump then mean. */
  async renumber(entity: Entity, rows: readonly DumpRow[]): Promise<void> {
    const numbers = this.renumbered.get(entity) ?? new Map<number, number>();
    const next = await this.ask(
      `SELECT nextval(pg_get_serial_sequence('"${resourceOf(entity)!.table}"', 'id'))::int AS id FROM generate_series(1, $1)`,
      [rows.length],
    );
    rows.forEach((row, index) => numbers.set(row.pk as number, next[index]!.id));
    this.renumbered.set(entity, numbers);
  }

  idOf(entity: Entity, id: unknown): number {
    return this.renumbered.get(entity)?.get(id as number) ?? (id as number);
  }

  /** Looks up what the rows refer to, in one statement for each table of which there is something new. */
  async lookUp(rows: readonly DumpRow[], fields: readonly FieldMeta[]): Promise<void> {
    const wanted = new Map<Entity, Set<number>>();
    for (const field of fields) {
      const target = field.target!();
      const ids = wanted.get(target) ?? new Set();
      for (const row of rows)
        for (const value of [row.fields[field.rest]].flat()) {
          const id = this.idOf(target, value);
          if (Number.isInteger(id) && Math.abs(id) <= MAX_INTEGER) ids.add(id);
        }
      wanted.set(target, ids);
    }
    for (const [target, ids] of wanted) {
      let present = this.present.get(target);
      if (!present || present.size + ids.size > MAX_REFERRED) this.present.set(target, (present = new Map()));
      const unknown = [...ids].filter((id) => !present.has(id));
      if (!unknown.length) continue;
      const { table, owned, dump } = resourceOf(target)!;
      const owner = owned && dump !== USERS ? `"${OWNER.column}"` : 'NULL::int';
      const found = await this.ask(`SELECT "id", ${owner} AS "owner" FROM "${table}" WHERE "id" = ANY($1)`, [unknown]);
      for (const row of found) present.set(row.id, row.owner ?? undefined);
    }
  }

  /** The id that a value means; the row must have been looked up and be there. */
  idIn(row: DumpRow, field: FieldMeta, value: unknown): number | null {
    if (value === null || value === undefined) return field.null ? null : fail(`${at(row)}: ${field.rest} is missing.`);
    const target = field.target!();
    const id = this.idOf(target, value);
    if (!this.present.get(target)!.has(id))
      fail(`${at(row)}: ${field.rest} refers to ${resourceOf(target)!.dump} ${JSON.stringify(value)}, which does not exist.`);
    return id;
  }

  ownerOf(target: Entity, id: number): number | undefined {
    return this.present.get(target)!.get(id);
  }
}
