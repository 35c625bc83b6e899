/** Small public tables in memory, refreshed on every instance when the database says that they changed (a trigger's NOTIFY). */
import type { Logger } from 'pino';
import type { Database, Row } from '../database/connection';
import { fieldsOf, type Entity, type RowOf } from './fields';
import type { Listener } from './listener';
import { columnsOf, from } from './plan';
import { resourceOf } from './resource';

const CHANNEL = 'fitgraph_reference';

export class ReferenceTables {
  private readonly rows = new Map<Entity, Map<number, Row>>();
  private readonly byTable = new Map<string, Entity>();
  private reading: Promise<void> = Promise.resolve();
  /** The next reading, until it begins. */
  private next?: Promise<void>;
  /** Grows whenever the tables were read again. */
  generation = 0;
  /** What is in memory has all changes of these transactions. */
  snapshot?: string;

  constructor(
    private readonly database: Database,
    entities: readonly Entity[],
    listener: Listener,
    log: Logger,
  ) {
    for (const entity of entities) if (resourceOf(entity)!.inMemory) this.byTable.set(resourceOf(entity)!.table, entity);
    listener.on(CHANNEL, {
      heard: () => void this.reload().catch((error) => log.error({ err: error }, 'the reference tables could not be read')),
      missed: () => this.reload(),
    });
  }

  get<M>(entity: Entity<M>, id: number): RowOf<M> | null {
    return (this.rows.get(entity)?.get(id) as RowOf<M> | undefined) ?? null;
  }

  all<M>(entity: Entity<M>): RowOf<M>[] {
    return [...(this.rows.get(entity)?.values() ?? [])] as RowOf<M>[];
  }

  /** How many rows are in memory. */
  get size(): number {
    return [...this.rows.values()].reduce((sum, { size }) => sum + size, 0);
  }

  get tables(): string[] {
    return [...this.byTable.keys()];
  }

  /** One after the other, so that what was read last is what is kept; whoever asks before a reading begins shares it. */
  reload(): Promise<void> {
    this.next ??= this.reading = this.reading
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.read();
      });
    return this.next;
  }

  private async read(): Promise<void> {
    const { pool } = this.database;
    const { rows: snapshots } = await pool.query('SELECT pg_current_snapshot()::text AS "snapshot"');
    for (const entity of this.byTable.values()) {
      const names = fieldsOf(entity).map((field) => field.name);
      const { rows } = await pool.query(`SELECT ${columnsOf(entity, names, 'rest')} ${from(entity)} ORDER BY t."id"`);
      this.rows.set(entity, new Map(rows.map((row) => [row.id, row])));
    }
    this.snapshot = snapshots[0].snapshot;
    this.generation += 1;
  }
}
