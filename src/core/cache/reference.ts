/** Small public tables in memory, refreshed on every instance when the database says that they changed (a trigger's NOTIFY). */
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import { isDamage } from '../../database/refusals';
import type { Row } from '../../database/rows';
import { fieldsOf, type Entity, type RowOf } from '../model/fields';
import type { Listener } from '../changes/listener';
import { BY_ID } from '../sql/ordering';
import { columnsOf, select } from '../sql/select';
import { resourceOf } from '../model/registry';

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
      notified: () => void this.reload().catch((error) => log.error({ err: error }, 'the reference tables could not be read')),
      missed: () => this.reload(),
    });
  }

  get<M>(entity: Entity<M>, id: number): RowOf<M> | null {
    return (this.rows.get(entity)?.get(id) as RowOf<M> | undefined) ?? null;
  }

  all<M>(entity: Entity<M>): RowOf<M>[] {
    return [...(this.rows.get(entity)?.values() ?? [])] as RowOf<M>[];
  }

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
    const [now] = await this.database.ask('SELECT pg_current_snapshot()::text AS "snapshot"');
    for (const entity of this.byTable.values()) {
      const names = fieldsOf(entity).map((field) => field.name);
      const columns = columnsOf(entity, names, 'rest');
      // PostgreSQL's words for a damaged row do not name its table.
      const rows = await this.database.ask(select({ columns, order: [BY_ID] })).catch((error: Error) => {
        throw isDamage(error)
          ? new Error(`the table ${resourceOf(entity)!.table} cannot be read: ${error.message}`, { cause: error })
          : error;
      });
      this.rows.set(entity, new Map(rows.map((row) => [row.id, row])));
    }
    this.snapshot = now!.snapshot;
    this.generation += 1;
  }
}
