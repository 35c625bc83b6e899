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
  /** Grows whenever a table was read again. */
  generation = 0;

  constructor(
    private readonly database: Database,
    entities: readonly Entity[],
    listener: Listener,
    log: Logger,
  ) {
    for (const entity of entities) if (resourceOf(entity)!.inMemory) this.byTable.set(resourceOf(entity)!.table, entity);
    listener.on(CHANNEL, {
      heard: (table) => void this.reload([table]).catch((error) => log.error({ err: error }, 'a reference table could not be read')),
      missed: () => this.reload(),
    });
  }

  get<M>(entity: Entity<M>, id: number): RowOf<M> | null {
    return (this.rows.get(entity)?.get(id) as RowOf<M> | undefined) ?? null;
  }

  all<M>(entity: Entity<M>): RowOf<M>[] {
    return [...(this.rows.get(entity)?.values() ?? [])] as RowOf<M>[];
  }

  /** One after the other, so that what was read last is what is kept. */
  reload(tables: Iterable<string> = this.byTable.keys()): Promise<void> {
    const reading = this.reading.catch(() => undefined).then(() => this.read(tables));
    this.reading = reading;
    return reading;
  }

  private async read(tables: Iterable<string>): Promise<void> {
    for (const table of tables) {
      const entity = this.byTable.get(table);
      if (!entity) continue;
      const names = fieldsOf(entity).map((field) => field.name);
      const { rows } = await this.database.pool.query(`SELECT ${columnsOf(entity, names)} ${from(entity)} ORDER BY t."id"`);
      this.rows.set(entity, new Map(rows.map((row) => [row.id, row])));
      this.generation += 1;
    }
  }
}
