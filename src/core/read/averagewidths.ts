/** Average width of field values in bytes, from PostgreSQL's column statistics (`pg_stats`). Used to estimate the size of a response for its cost. */
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import { fieldsOf } from '../model/fields';
import { findEntity, resourceOf } from '../model/registry';

const REFRESH_INTERVAL_MS = 600_000;
const DEFAULT_WIDTH_BYTES = 5;
const LONG_TEXT_WIDTH_BYTES = 200;

const COLUMN_WIDTHS_SQL = `SELECT "tablename" || '.' || "attname" AS "column", "avg_width" AS "width" FROM pg_stats WHERE "schemaname" = current_schema()`;

export class AverageWidths {
  private byColumn: ReadonlyMap<string, number> = new Map();
  private byField = new Map<string, number>();
  private refreshTimer?: NodeJS.Timeout;

  /** Average width in bytes of a field of a GraphQL type. */
  readonly of = (type: string, name: string): number => {
    const coordinate = `${type}.${name}`;
    const width = this.byField.get(coordinate) ?? this.widthOf(type, name);
    this.byField.set(coordinate, width);
    return width;
  };

  private widthOf(type: string, name: string): number {
    const entity = findEntity(type);
    const field = entity && fieldsOf(entity).find((one) => one.name === name);
    if (!field) return DEFAULT_WIDTH_BYTES;
    const columnWidth = field.column === undefined ? undefined : this.byColumn.get(`${resourceOf(entity)!.table}.${field.column}`);
    return columnWidth ?? (field.kind === 'string' && field.maxLength === undefined ? LONG_TEXT_WIDTH_BYTES : DEFAULT_WIDTH_BYTES);
  }

  async follow(database: Database, log: Logger): Promise<void> {
    const refresh = async () => {
      const rows = (await database.ask(COLUMN_WIDTHS_SQL)) as { column: string; width: number }[];
      this.byColumn = new Map(rows.map(({ column, width }) => [column, width]));
      this.byField = new Map();
    };
    await refresh();
    const refreshOrWarn = () => void refresh().catch((error) => log.warn({ err: error }, 'statistics of the database could not be read'));
    this.refreshTimer = setInterval(refreshOrWarn, REFRESH_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.refreshTimer);
  }
}
