/**
 * Sizes of the catalogue for cost estimates, from statistics of PostgreSQL's planner (`pg_class`,
 * `pg_stats`). Owned tables are excluded, because the rows of other users must not change the cost
 * of a user's operations.
 */
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import {
  childRowsFieldsOf,
  fieldOf,
  fieldsOf,
  type Entity,
  type EntityField,
} from '../declare/fields';
import { allEntities, resourceOf } from '../declare/registry';

const REFRESH_INTERVAL_MS = 600_000;

/**
 * Estimated number of rows of each table. For each column, `repetitions` is the number of rows with
 * the most common value, or the average number of rows per value if the most common value is
 * unknown.
 */
const SIZES_SQL = `SELECT "table", "rows", "column",
  "rows" * coalesce("frequency", 1 / nullif("distinct", 0)) AS "repetitions" FROM (
    SELECT c."relname" AS "table", greatest(c."reltuples", 0) AS "rows", s."attname" AS "column",
      s."most_common_freqs"[1] AS "frequency",
      CASE WHEN s."n_distinct" < 0 THEN -s."n_distinct" * c."reltuples" ELSE s."n_distinct"
        END AS "distinct"
    FROM pg_class c JOIN pg_stats s ON s."schemaname" = current_schema()
      AND s."tablename" = c."relname"
    WHERE c."relnamespace" = current_schema()::regnamespace) x`;

interface Sizes {
  table: string;
  column: string;
  rows: number;
  repetitions: number | null;
}

/**
 * Column (`table.column`) whose value all elements of a to-many list share, if there is one. Its
 * most common value belongs to the longest list.
 */
const listColumnOf = ({ link, groupColumn }: EntityField): string | undefined => {
  if (groupColumn) return `${groupColumn.table}.${groupColumn.column}`;

  return link && `${link.table}.${link.ownColumn}`;
};

/**
 * Unpaginated lists of catalogue rows: the name of the GraphQL field, and the column
 * (`table.column`) whose value all elements of a list share.
 */
function listColumnsOf(entity: Entity): [fieldName: string, column: string | undefined][] {
  const listColumns: [string, string | undefined][] = [];

  for (const field of fieldsOf(entity)) {
    if (!field.relation?.isToMany) continue;
    const column = listColumnOf(field);

    listColumns.push([field.name, column], [field.relationFieldName!, column]);
  }

  for (const { name, target, referenceFieldName, isConnection } of childRowsFieldsOf(entity)) {
    const { isOwned, table } = resourceOf(target())!;

    if (isConnection || isOwned) continue;
    const { column } = fieldOf(target(), referenceFieldName);

    listColumns.push([name, `${table}.${column}`]);
  }

  return listColumns;
}

export class PlannerStatistics {
  private rowCounts: ReadonlyMap<string, number> = new Map();
  private listSizes: ReadonlyMap<string, number> = new Map();
  private refreshTimer?: NodeJS.Timeout;

  /** Number of rows of a catalogue type, or 0. */
  readonly rowCountOf = (typeName: string): number => this.rowCounts.get(typeName) ?? 0;

  /** Length of the longest list that an unpaginated catalogue field returns, or 0. */
  readonly longestListOf = (typeName: string, fieldName: string): number =>
    this.listSizes.get(`${typeName}.${fieldName}`) ?? 0;

  async start(database: Database, log: Logger): Promise<void> {
    const refresh = async () => {
      const sizes = (await database.queryAsServer(SIZES_SQL)) as unknown as Sizes[];
      const rowsByTable = new Map(sizes.map(({ table, rows }) => [table, rows]));
      const repetitionsByColumn = new Map(
        sizes.map(({ table, column, repetitions }) => [
          `${table}.${column}`,
          Math.ceil(repetitions ?? 0),
        ]),
      );
      const catalogue = allEntities().filter((entity) => !resourceOf(entity)!.isOwned);

      this.rowCounts = new Map(
        catalogue.map((entity) => [entity.name, rowsByTable.get(resourceOf(entity)!.table) ?? 0]),
      );
      this.listSizes = new Map(
        catalogue.flatMap((entity) =>
          listColumnsOf(entity).map(([name, column]) => [
            `${entity.name}.${name}`,
            repetitionsByColumn.get(column ?? '') ?? 0,
          ]),
        ),
      );
    };

    await refresh();
    const refreshOrWarn = () =>
      void refresh().catch((error) =>
        log.warn({ err: error }, 'statistics of the database could not be read'),
      );

    this.refreshTimer = setInterval(refreshOrWarn, REFRESH_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.refreshTimer);
  }
}
