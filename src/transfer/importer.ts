/** Import writer: inserts dump rows in one transaction, maps ids, checks references, and derives missing owners from parent rows. */
import type { PoolClient } from 'pg';
import { acceptsNull, fieldsOf, type Entity, type EntityField } from '../core/model/fields';
import { allEntities, OWNER_FIELD, resourceOf } from '../core/model/registry';
import type { TokenVault } from '../auth/tokens';
import type { Database } from '../database/connection';
import { quoteIdentifiers } from '../database/identifiers';
import { lockTables } from '../database/lockconflicts';
import type { Row } from '../database/rows';
import { inTransaction } from '../database/transaction';
import type { FieldKind } from '../contract/metadata';
import { recreateKeysAndIndexes, dropKeysIfNoServerRuns } from './bulkload';
import { CopyStream, formatCopyRows } from './copy';
import {
  describeRow,
  entitiesByDumpModel,
  failImport,
  indexRowsByModel,
  sortByDependency,
  DJANGO_TOKEN_MODEL,
  DJANGO_USER_MODEL,
  type DumpRow,
  type DumpRowIndex,
} from './dump';
import { ReferenceResolver } from './references';
import { withRowNamedInErrors, type RowIdentity } from './rowerrors';
import { scheduleFileRemoval } from '../files/removal';
import { clearFlagExceptOnNewestRow, advanceSequence } from './fixups';
import { insertTokens } from './tokens';

export interface ImportOptions {
  tokenVault: TokenVault;
  /** Whether the tables of all models in the dump are emptied before the import. */
  shouldReplaceExisting?: boolean;
  /** Whether imported rows get new ids. References between these rows are changed accordingly. */
  shouldAssignNewIds?: boolean;
  reportProgress?: (importedRowCount: number, totalRows: number) => void;
  /** Callback that runs in the transaction of the import, after all rows are written and before the commit. */
  beforeCommit?: (client: PoolClient) => Promise<void>;
}

const ROWS_PER_CHUNK = 1_000;

/** Maximum number of rows per COPY. More rows would reduce the overhead, but a COPY reports foreign key violations only at its end. */
const MAX_ROWS_PER_COPY = 10_000;

const IGNORED_USER_FIELDS = ['groups', 'user_permissions'];

/** Formats of values, by kind of field. They are stricter than PostgreSQL, which also accepts `today`, `infinity` and `NaN`. */
const PATTERN_BY_FIELD_KIND: Partial<Record<FieldKind, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d/,
  datetime: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  decimal: /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i,
};

/** Writes all rows or, on any error, none. Returns the number of rows by model. */
export async function importDumpRows(
  rows: readonly DumpRow[] | DumpRowIndex,
  database: Database,
  options: ImportOptions,
): Promise<Map<string, number>> {
  return database.withoutTimeouts((client) =>
    inTransaction(client, async () => {
      const importedRowCounts = await new ImportWriter(
        'rowsOf' in rows ? rows : indexRowsByModel(rows),
        client,
        options,
      ).write();
      await options.beforeCommit?.(client);
      return importedRowCounts;
    }),
  );
}

async function* chunksOf(
  rows: Iterable<DumpRow> | AsyncIterable<DumpRow>,
): AsyncGenerator<DumpRow[]> {
  let chunk: DumpRow[] = [];
  for await (const row of rows) {
    chunk.push(row);
    if (chunk.length < ROWS_PER_CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length) yield chunk;
}

/** Requests one item ahead, so that the next chunk of the dump is read while the previous one is written to PostgreSQL. Two chunks are then in memory. */
async function* prefetch<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let nextItem = items.next();
  try {
    for (;;) {
      const { done, value } = await nextItem;
      if (done) return;
      nextItem = items.next();
      // Avoids an unhandled rejection if the consumer fails before it requests this prefetched item.
      nextItem.catch(() => undefined);
      yield value as T;
    }
  } finally {
    await items.return(undefined);
  }
}

/**
 * SQL: the tables `$1` and all others whose rows refer to theirs, directly or indirectly, which `TRUNCATE … CASCADE` empties, too. The referring ones come
 * first, because most requests use them before those to which they refer.
 */
const TRUNCATED_TABLES_SQL = `WITH RECURSIVE truncated AS (
    SELECT to_regclass(quote_ident("name"))::oid AS "oid" FROM unnest($1::text[]) AS "name"
    UNION SELECT conrelid FROM pg_constraint JOIN truncated ON confrelid = truncated."oid" WHERE contype = 'f')
  SELECT relname::text AS "table" FROM (SELECT "oid", row_number() OVER () AS "number" FROM truncated) t JOIN pg_class USING ("oid") ORDER BY "number" DESC`;

class ImportWriter {
  private readonly entityByModel = entitiesByDumpModel();
  private readonly referenceResolver = new ReferenceResolver((text, values) =>
    this.query(text, values),
  );
  /** The COPY in progress. PostgreSQL may still reject its rows. */
  private currentCopy?: {
    stream: CopyStream;
    table: string;
    columns: readonly string[];
    rows: RowIdentity[];
  };

  constructor(
    private readonly rows: DumpRowIndex,
    private readonly client: PoolClient,
    private readonly options: ImportOptions,
  ) {}

  async write(): Promise<Map<string, number>> {
    try {
      return await this.writeModels();
    } finally {
      await this.currentCopy?.stream.abort();
    }
  }

  private async writeModels(): Promise<Map<string, number>> {
    const { shouldReplaceExisting, reportProgress } = this.options;
    const insertionOrder = sortByDependency(this.entityByModel);
    if (shouldReplaceExisting) await this.truncateTables(insertionOrder);
    const totalRows = [...this.rows.rowCountByModel.values()].reduce(
      (sum, count) => sum + count,
      0,
    );
    const importedRowCounts = new Map<string, number>();
    let importedRowCount = 0;
    for (const entity of insertionOrder) {
      const model = resourceOf(entity)!.dumpModelName;
      const count = (model && this.rows.rowCountByModel.get(model)) || 0;
      if (!count) continue;
      const recreationStatements = await dropKeysIfNoServerRuns(
        this.client,
        resourceOf(entity)!.table,
        count,
      );
      let firstRow: RowIdentity | undefined;
      for await (const chunk of prefetch(chunksOf(this.rows.rowsOf(model!)))) {
        firstRow ??= chunk[0]!;
        if (this.options.shouldAssignNewIds)
          await this.referenceResolver.allocateIds(entity, chunk);
        await this.insert(entity, chunk);
        reportProgress?.((importedRowCount += chunk.length), totalRows);
      }
      await this.finishCopy();
      await withRowNamedInErrors([firstRow!], () =>
        recreateKeysAndIndexes(this.client, recreationStatements),
      );
      await clearFlagExceptOnNewestRow(entity, this.client);
      await advanceSequence(entity, this.client);
      importedRowCounts.set(model!, count);
    }
    const tokenCount = this.rows.rowCountByModel.get(DJANGO_TOKEN_MODEL);
    if (tokenCount) {
      for await (const chunk of chunksOf(this.rows.rowsOf(DJANGO_TOKEN_MODEL))) {
        await insertTokens(chunk, this.client, this.options.tokenVault);
        reportProgress?.((importedRowCount += chunk.length), totalRows);
      }
      importedRowCounts.set(DJANGO_TOKEN_MODEL, tokenCount);
    }
    return importedRowCounts;
  }

  /** Truncates the tables of the dump's models. Throws if that would also delete child rows of other models. */
  private async truncateTables(insertionOrder: readonly Entity[]): Promise<void> {
    const dumpEntities = insertionOrder.filter((entity) =>
      this.rows.rowCountByModel.has(resourceOf(entity)!.dumpModelName ?? ''),
    );
    if (!dumpEntities.length) return;
    const dumpTables = dumpEntities.map((entity) => resourceOf(entity)!.table);
    const { rows } = await this.client.query(TRUNCATED_TABLES_SQL, [dumpTables]);
    const truncatedTables = rows.map(({ table }) => table as string);
    // Locks the tables until they are truncated. Otherwise, rows that other transactions add after the check below would be deleted unnoticed.
    await lockTables(this.client, truncatedTables);
    for (const entity of allEntities()) {
      if (dumpEntities.includes(entity)) continue;
      const { table, dumpModelName } = resourceOf(entity)!;
      const linkTables = fieldsOf(entity).flatMap(({ link }) => link?.table ?? []);
      for (const truncatedTable of [table, ...linkTables].filter((name) =>
        truncatedTables.includes(name),
      ))
        if ((await this.client.query(`SELECT 1 FROM "${truncatedTable}" LIMIT 1`)).rows.length)
          failImport(
            `--replace would also delete rows of ${dumpModelName ?? entity.name}, or their links, which the file does not contain.`,
          );
    }
    await scheduleFileRemoval(this.client, dumpEntities);
    await this.client.query(`TRUNCATE ${quoteIdentifiers(dumpTables)} RESTART IDENTITY CASCADE`);
  }

  private async insert(entity: Entity, rows: readonly DumpRow[]): Promise<void> {
    const { table, isOwned, dumpModelName } = resourceOf(entity)!;
    const fields = fieldsOf(entity).filter((field) => field.isColumn && !field.setByDatabase);
    const linkFields = fieldsOf(entity).filter((field) => field.link && !field.link.keyColumn);
    const knownKeys = new Set([...fields, ...linkFields].map((field) => field.restKey));
    const isUser = dumpModelName === DJANGO_USER_MODEL;
    await this.referenceResolver.cacheReferencedRowOwners(
      rows,
      [...fields, ...linkFields].filter((field) => field.target),
    );
    const ownerIdByRowId = new Map<number, number>();
    const records: Record<string, unknown>[] = [];
    for (const row of rows) {
      for (const key of Object.keys(row.fields))
        if (
          !knownKeys.has(key) &&
          !(isUser && (key === 'password' || IGNORED_USER_FIELDS.includes(key)))
        )
          failImport(`${describeRow(row)}: unknown field ${JSON.stringify(key)}.`);
      const record: Record<string, unknown> = {};
      const parents: { field: EntityField; owner?: number }[] = [];
      for (const field of fields) {
        if (field.name === 'id') record.id = this.referenceResolver.mapId(entity, row.pk);
        else if (field.target) {
          if (field.name === OWNER_FIELD.field && !(field.restKey in row.fields)) continue;
          const id = this.referenceResolver.resolveId(row, field, row.fields[field.restKey]);
          record[field.column!] = id;
          if (
            id !== null &&
            resourceOf(field.target())!.isOwned &&
            field.name !== OWNER_FIELD.field
          )
            parents.push({ field, owner: this.referenceResolver.ownerIdOf(field.target(), id) });
        } else record[field.column!] = this.fieldValue(row, field);
      }
      if (isUser)
        record.password =
          row.fields.password ?? failImport(`${describeRow(row)}: password is missing.`);
      else if (isOwned) {
        // A row without an owner belongs to the owner of its parent row.
        record[OWNER_FIELD.column] ??=
          parents[0]?.owner ?? failImport(`${describeRow(row)}: its owner cannot be determined.`);
        ownerIdByRowId.set(record.id as number, record[OWNER_FIELD.column] as number);
      }
      for (const { field, owner } of parents)
        if (owner !== record[OWNER_FIELD.column])
          failImport(`${describeRow(row)}: ${field.restKey} refers to a row of another user.`);
      records.push(record);
    }
    await this.copyRecords(table, records, rows);
    for (const field of linkFields) {
      const linkRows = this.buildLinkTableRows(entity, field, rows, ownerIdByRowId);
      await this.copyRecords(
        field.link!.table,
        linkRows.map(({ values }) => values),
        linkRows.map(({ row }) => row),
      );
    }
  }

  /** Adds records to the COPY of the table. `rows` are the dump rows of the records, for error messages. */
  private async copyRecords(
    table: string,
    records: readonly Record<string, unknown>[],
    rows: readonly DumpRow[],
  ): Promise<void> {
    if (!records.length) return;
    if (
      this.currentCopy &&
      (this.currentCopy.table !== table || this.currentCopy.rows.length >= MAX_ROWS_PER_COPY)
    )
      await this.finishCopy();
    // All records of a table have the same columns.
    const columns = this.currentCopy?.columns ?? Object.keys(records[0]!);
    const currentCopy = (this.currentCopy ??= {
      stream: new CopyStream(this.client, table, columns),
      table,
      columns,
      rows: [],
    });
    for (const { model, pk } of rows) currentCopy.rows.push({ model, pk });
    await withRowNamedInErrors(currentCopy.rows, () =>
      currentCopy.stream.write(formatCopyRows(records, columns)),
    );
  }

  private async query(text: string, values: unknown[]): Promise<Row[]> {
    await this.finishCopy();
    return (await this.client.query(text, values)).rows;
  }

  /** Ends the COPY in progress, which is required before any other statement on the connection. */
  private async finishCopy(): Promise<void> {
    const currentCopy = this.currentCopy;
    if (!currentCopy) return;
    await withRowNamedInErrors(currentCopy.rows, () => currentCopy.stream.end());
    this.currentCopy = undefined;
  }

  private fieldValue(row: DumpRow, field: EntityField): unknown {
    const value = row.fields[field.restKey];
    if (value === undefined || value === null) {
      if (acceptsNull(field)) return null;
      if (value === undefined && field.hasDefault && typeof field.default !== 'function')
        return field.default;
      if (value === undefined && field.allowBlank) return '';
      return failImport(`${describeRow(row)}: ${field.restKey} is missing.`);
    }
    if (PATTERN_BY_FIELD_KIND[field.kind]?.test(String(value)) === false)
      failImport(
        `${describeRow(row)}: ${field.restKey} is not a valid ${field.kind}: ${JSON.stringify(value)}.`,
      );
    return value;
  }

  private buildLinkTableRows(
    entity: Entity,
    field: EntityField,
    rows: readonly DumpRow[],
    ownerIdByRowId: ReadonlyMap<number, number>,
  ): { row: DumpRow; values: Record<string, unknown> }[] {
    const { ownColumn, otherColumn, discriminators } = field.link!;
    return rows.flatMap((row) => {
      const linkedIds = row.fields[field.restKey] ?? [];
      if (!Array.isArray(linkedIds))
        return failImport(`${describeRow(row)}: ${field.restKey} must be a list of ids.`);
      const ownId = this.referenceResolver.mapId(entity, row.pk);
      return (linkedIds as unknown[]).map((id) => ({
        row,
        values: {
          [ownColumn]: ownId,
          [otherColumn]: this.referenceResolver.resolveId(row, field, id),
          ...discriminators,
          ...(ownerIdByRowId.has(ownId) && { [OWNER_FIELD.column]: ownerIdByRowId.get(ownId) }),
        },
      }));
    });
  }
}
