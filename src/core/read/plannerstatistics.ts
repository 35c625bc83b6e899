/**
 * Sizes of the catalogue from the statistics of PostgreSQL's planner (`pg_class`, `pg_stats`), for cost estimates. Rows of users have none: how many rows
 * others have must not change the price of one's own.
 */
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import {
  childRowsFieldsOf,
  fieldOf,
  fieldsOf,
  type Entity,
  type EntityField,
} from '../model/fields';
import { allEntities, resourceOf } from '../model/registry';

const REFRESH_INTERVAL_MS = 600_000;

/** The number of rows of each table; for each column, that of the rows which have its most common value, or the average if that is unknown. */
const SIZES_SQL = `SELECT "table", "rows", "column", "rows" * coalesce("frequency", 1 / nullif("distinct", 0)) AS "repetitions" FROM (
    SELECT c."relname" AS "table", greatest(c."reltuples", 0) AS "rows", s."attname" AS "column", s."most_common_freqs"[1] AS "frequency",
      CASE WHEN s."n_distinct" < 0 THEN -s."n_distinct" * c."reltuples" ELSE s."n_distinct" END AS "distinct"
    FROM pg_class c JOIN pg_stats s ON s."schemaname" = current_schema() AND s."tablename" = c."relname"
    WHERE c."relnamespace" = current_schema()::regnamespace) x`;

interface Sizes {
  table: string;
  column: string;
  rows: number;
  repetitions: number | null;
}

/** Returns the column whose equal values make the list of a to-many relation, as `table.column`; undefined if it is not stored. */
const listColumnOf = ({ link, groupColumn }: EntityField): string | undefined =>
  groupColumn
    ? `${groupColumn.table}.${groupColumn.column}`
    : link && `${link.table}.${link.ownColumn}`;

/** Returns the lists without pages of an entity with catalogue rows, as GraphQL name and `table.column`. */
function listColumnsOf(entity: Entity): [fieldName: string, column: string | undefined][] {
  return [
    ...fieldsOf(entity).flatMap((field): [string, string | undefined][] =>
      field.relation?.isToMany
        ? [field.name, field.objectFieldName!].map((name) => [name, listColumnOf(field)])
        : [],
    ),
    ...childRowsFieldsOf(entity).flatMap(
      ({ name, target, referenceFieldName, isConnection }): [string, string | undefined][] => {
        const { isOwned, table } = resourceOf(target())!;
        return isConnection || isOwned
          ? []
          : [[name, `${table}.${fieldOf(target(), referenceFieldName).column}`]];
      },
    ),
  ];
}

export class PlannerStatistics {
  private rowCounts: ReadonlyMap<string, number> = new Map();
  private listSizes: ReadonlyMap<string, number> = new Map();
  private refreshTimer?: NodeJS.Timeout;

  /** Number of rows of a type of the catalogue; 0 if unknown. */
  readonly rowCountOf = (typeName: string): number => this.rowCounts.get(typeName) ?? 0;

  /** Length of the longest list of a field without pages in the catalogue; 0 if unknown. */
  readonly longestListOf = (typeName: string, fieldName: string): number =>
    this.listSizes.get(`${typeName}.${fieldName}`) ?? 0;

  /** Reads the statistics immediately, and again at regular intervals. */
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
