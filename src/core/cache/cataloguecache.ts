/** Catalogue cache: small public tables in memory. Every server instance reloads them when a trigger notifies it of a change (NOTIFY). */
import type { Database } from '../../database/connection';
import { isCorruptionError } from '../../database/errors';
import type { Row } from '../../database/rows';
import { fieldsOf, type Entity, type RowOf } from '../model/fields';
import type { NotificationListener } from '../changes/listener';
import { ORDER_BY_ID } from '../sql/ordering';
import { columnSet, buildSelectStatement } from '../sql/select';
import { resourceOf } from '../model/registry';

const NOTIFICATION_CHANNEL = 'fitgraph_reference';

export class CatalogueCache {
  private readonly rowsByEntity = new Map<Entity, Map<number, Row>>();
  private readonly entitiesByTable = new Map<string, Entity>();
  private lastReadPromise: Promise<void> = Promise.resolve();
  /** A scheduled read of all tables that has not started yet; undefined if there is none. */
  private scheduledRead?: Promise<void>;
  /** Number of completed reads, which serves as the version of the cached rows. */
  generation = 0;
  /** PostgreSQL snapshot. The cached rows contain all changes of the transactions that are visible in it. */
  snapshot?: string;

  constructor(
    private readonly database: Database,
    entities: readonly Entity[],
    listener: NotificationListener,
  ) {
    for (const entity of entities)
      if (resourceOf(entity)!.isCachedInMemory)
        this.entitiesByTable.set(resourceOf(entity)!.table, entity);
    listener.registerHandler(NOTIFICATION_CHANNEL, {
      onNotification: () => this.reload(),
      onMissedNotifications: () => this.reload(),
    });
  }

  get<M>(entity: Entity<M>, id: number): RowOf<M> | null {
    return (this.rowsByEntity.get(entity)?.get(id) as RowOf<M> | undefined) ?? null;
  }

  rowsOf<M>(entity: Entity<M>): RowOf<M>[] {
    return [...(this.rowsByEntity.get(entity)?.values() ?? [])] as RowOf<M>[];
  }

  get rowCount(): number {
    return [...this.rowsByEntity.values()].reduce((sum, { size }) => sum + size, 0);
  }

  get tables(): string[] {
    return [...this.entitiesByTable.keys()];
  }

  /**
   * Reads all tables again. Reads run one after the other, so that an older read cannot overwrite the rows of a newer one. While a scheduled read has
   * not started yet, further calls schedule no other read and return its promise.
   */
  reload(): Promise<void> {
    this.scheduledRead ??= this.lastReadPromise = this.lastReadPromise
      .catch(() => undefined)
      .then(() => {
        this.scheduledRead = undefined;
        return this.readTables();
      });
    return this.scheduledRead;
  }

  private async readTables(): Promise<void> {
    const [snapshotRow] = await this.database.queryAsServer(
      'SELECT pg_current_snapshot()::text AS "snapshot"',
    );
    for (const entity of this.entitiesByTable.values()) {
      const names = fieldsOf(entity).map((field) => field.name);
      const columns = columnSet(entity, names, 'bytes');
      // Adds the name of the table to the error, because PostgreSQL's message for a damaged row does not contain it.
      const rows = await this.database
        .queryAsServer(buildSelectStatement({ columns, order: [ORDER_BY_ID] }))
        .catch((error: Error) => {
          throw isCorruptionError(error)
            ? new Error(`the table ${resourceOf(entity)!.table} cannot be read: ${error.message}`, {
                cause: error,
              })
            : error;
        });
      this.rowsByEntity.set(entity, new Map(rows.map((row) => [row.id, row])));
    }
    this.snapshot = snapshotRow!.snapshot;
    this.generation += 1;
  }
}
