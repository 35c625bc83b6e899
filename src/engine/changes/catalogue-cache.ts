/**
 * Catalogue cache: keeps small public tables in memory. A trigger notifies every server instance of
 * changes (NOTIFY), and the instance reloads the tables.
 */
import type { Database } from '../../database/connection';
import { isCorruptionError } from '../../database/errors';
import type { Row } from '../../database/rows';
import type { Catalogue, Context } from '../context';
import { fieldsOf, type Entity, type RowOf } from '../declare/fields';
import type { NotificationListener } from './listener';
import { ORDER_BY_ID } from '../sql/ordering';
import { columnSet, buildSelectStatement } from '../sql/select';
import { resourceOf } from '../declare/registry';

const NOTIFICATION_CHANNEL = 'fitgraph_reference';

/**
 * SQL condition: whether a table of the catalogue cache has changed since the cache read it, but
 * the notification of the change may not have arrived yet. Takes the parameters of
 * `Catalogue.snapshot` and `Catalogue.tables`.
 */
export const isCatalogueOutdatedSql = (snapshotParameter: string, tablesParameter: string) =>
  `EXISTS (SELECT FROM "table_change" c WHERE c."table" = ANY(${tablesParameter})
     AND c."transaction" >= pg_snapshot_xmin(${snapshotParameter}::pg_snapshot)
     AND NOT pg_visible_in_snapshot(c."transaction", ${snapshotParameter}::pg_snapshot))`;

/**
 * Returns PostgreSQL's current snapshot (`pg_current_snapshot`). The rows that the request reads
 * afterwards, also those of the catalogue cache, include all changes visible in it.
 */
export async function takeSnapshot({
  session,
  services: { catalogue },
}: Pick<Context, 'session' | 'services'>): Promise<string> {
  const [row] = await session.query(
    `SELECT pg_current_snapshot()::text AS "snapshot",
       ${isCatalogueOutdatedSql('$1', '$2')} AS "isCatalogueOutdated"`,
    [catalogue.snapshot, catalogue.tables],
  );

  if (row!.isCatalogueOutdated) await catalogue.reload();

  return row!.snapshot as string;
}

export class CatalogueCache implements Catalogue {
  private readonly rowsByEntity = new Map<Entity, Map<number, Row>>();
  private readonly entitiesByTable = new Map<string, Entity>();
  private lastReadPromise: Promise<void> = Promise.resolve();

  /** The scheduled read of all tables that has not started yet. */
  private scheduledRead?: Promise<void>;

  /** Number of completed reads: the version of the cached rows. */
  generation = 0;

  /**
   * PostgreSQL snapshot taken before the last read: the cached rows include all changes visible in
   * it.
   */
  snapshot?: string;

  constructor(
    private readonly database: Database,
    entities: readonly Entity[],
    listener: NotificationListener,
  ) {
    for (const entity of entities) {
      if (resourceOf(entity)!.isCachedInMemory) {
        this.entitiesByTable.set(resourceOf(entity)!.table, entity);
      }
    }

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
   * Reads all tables again. Reads run one after the other, so that an older read cannot overwrite
   * newer rows. Calls made before a scheduled read starts share it.
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
      // Adds the name of the table to the error, because PostgreSQL's message for a damaged row
      // does not contain it.
      const rows = await this.database
        .queryAsServer(buildSelectStatement({ columns, order: [ORDER_BY_ID] }))
        .catch((error: Error) => {
          if (!isCorruptionError(error)) throw error;
          const { table } = resourceOf(entity)!;

          throw new Error(`the table ${table} cannot be read: ${error.message}`, { cause: error });
        });

      this.rowsByEntity.set(entity, new Map(rows.map((row) => [row.id, row])));
    }

    this.snapshot = snapshotRow!.snapshot;
    this.generation += 1;
  }
}
