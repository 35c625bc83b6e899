/** How long the values of fields are on an average: of columns what PostgreSQL's statistics say, so that the cost of an answer has its bytes. */
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import { fieldsOf } from '../model/fields';
import { entityNamed, resourceOf } from '../model/registry';

const REFRESHED_EVERY_MS = 600_000;
/** Bytes of a value of which nothing is known; of a long text. */
const SHORT = 5;
const LONG = 200;

const STATISTICS = `SELECT "tablename" || '.' || "attname" AS "column", "avg_width" AS "width" FROM pg_stats WHERE "schemaname" = current_schema()`;

export class Widths {
  private byColumn: ReadonlyMap<string, number> = new Map();
  private byField = new Map<string, number>();
  private refreshing?: NodeJS.Timeout;

  /** In bytes, by the names of a type and of its field. */
  readonly of = (type: string, name: string): number => {
    const coordinate = `${type}.${name}`;
    const width = this.byField.get(coordinate) ?? this.widthOf(type, name);
    this.byField.set(coordinate, width);
    return width;
  };

  private widthOf(type: string, name: string): number {
    const entity = entityNamed(type);
    const field = entity && fieldsOf(entity).find((one) => one.name === name);
    if (!field) return SHORT;
    const known = field.column === undefined ? undefined : this.byColumn.get(`${resourceOf(entity)!.table}.${field.column}`);
    return known ?? (field.kind === 'string' && field.maxLength === undefined ? LONG : SHORT);
  }

  async follow(database: Database, log: Logger): Promise<void> {
    const refresh = async () => {
      const rows = (await database.ask(STATISTICS)) as { column: string; width: number }[];
      this.byColumn = new Map(rows.map(({ column, width }) => [column, width]));
      this.byField = new Map();
    };
    await refresh();
    const again = () => void refresh().catch((error) => log.warn({ err: error }, 'statistics of the database could not be read'));
    this.refreshing = setInterval(again, REFRESHED_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.refreshing);
  }
}
