/** Average width of field values in bytes, from PostgreSQL's column statistics (`pg_stats`), for estimates of response sizes. */
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import { fieldsOf, type Entity, type EntityField } from '../model/fields';
import { allEntities, resourceOf } from '../model/registry';

const REFRESH_INTERVAL_MS = 600_000;
const DEFAULT_WIDTH_BYTES = 5;
const LONG_TEXT_WIDTH_BYTES = 200;

const COLUMN_WIDTHS_SQL = `SELECT "tablename" || '.' || "attname" AS "column", "avg_width" AS "width" FROM pg_stats WHERE "schemaname" = current_schema()`;

/** Returns the assumed width of a field without statistics. */
const defaultWidthBytes = ({ kind, maxLength }: EntityField): number =>
  kind === 'string' && maxLength === undefined ? LONG_TEXT_WIDTH_BYTES : DEFAULT_WIDTH_BYTES;

export class AverageColumnWidths {
  private widthsByCoordinate: ReadonlyMap<string, number> = new Map();
  private refreshTimer?: NodeJS.Timeout;

  readonly averageFieldBytesOf = (typeName: string, name: string): number =>
    this.widthsByCoordinate.get(`${typeName}.${name}`) ?? DEFAULT_WIDTH_BYTES;

  /** Reads the statistics immediately, and again at regular intervals. */
  async start(database: Database, log: Logger): Promise<void> {
    const refresh = async () => {
      const rows = (await database.queryAsServer(COLUMN_WIDTHS_SQL)) as { column: string; width: number }[];
      const widthByColumn = new Map(rows.map(({ column, width }) => [column, width]));
      const widthsOf = (entity: Entity) =>
        fieldsOf(entity).map((field): [string, number] => {
          const width = widthByColumn.get(`${resourceOf(entity)!.table}.${field.column}`) ?? defaultWidthBytes(field);
          return [`${entity.name}.${field.name}`, width];
        });
      this.widthsByCoordinate = new Map(allEntities().flatMap(widthsOf));
    };
    await refresh();
    const refreshOrWarn = () => void refresh().catch((error) => log.warn({ err: error }, 'statistics of the database could not be read'));
    this.refreshTimer = setInterval(refreshOrWarn, REFRESH_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.refreshTimer);
  }
}
