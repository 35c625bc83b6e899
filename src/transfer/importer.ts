/**
 * Imports dump rows in one transaction: assigns new ids if requested, checks references, and
 * derives missing owners from parent rows.
 */
import type { ClientBase } from 'pg';
import { acceptsNull, fieldsOf, type Entity, type EntityField } from '../engine/declare/fields';
import { allEntities, OWNER_FIELD, resourceOf } from '../engine/declare/registry';
import type { TokenVault } from '../accounts/tokens';
import type { Database } from '../database/connection';
import { quoteIdentifiers } from '../database/identifiers';
import { lockTables } from '../database/lock-conflicts';
import type { Row } from '../database/rows';
import { inTransaction } from '../database/transaction';
import type { FieldKind } from '../shared/metadata';
import { recreateKeysAndIndexes, dropKeysIfNoServerRuns } from './bulk-load';
import { chunksOf, prefetch } from './chunks';
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
  nameRowInErrors,
  type RowIdentity,
} from './dump';
import { ReferenceResolver } from './references';
import { scheduleFileRemoval } from '../files/removal';
import { clearFlagOfOlderRows, advanceSequence } from './fixups';
import { insertTokens } from './tokens';

export interface ImportOptions {
  tokenVault: TokenVault;

  /** Whether to empty the tables of all models in the dump before the rows are inserted. */
  shouldReplaceExisting?: boolean;

  /** Whether to give imported rows new ids and change the references between them accordingly. */
  shouldAssignNewIds?: boolean;
  reportProgress?: (importedRowCount: number, totalRows: number) => void;

  /** Called within the transaction of the import, after all rows are written. */
  beforeCommit?: (client: ClientBase) => Promise<void>;
}

const ROWS_PER_CHUNK = 1_000;

/**
 * Maximum number of rows per COPY. A COPY reports foreign key violations only at its end, so a
 * larger one would report them later.
 */
const MAX_ROWS_PER_COPY = 10_000;

const IGNORED_USER_FIELDS = ['groups', 'user_permissions'];

/**
 * Patterns of values by kind of field. They reject `today`, `infinity` and `NaN`, which PostgreSQL
 * would accept.
 */
const PATTERN_BY_FIELD_KIND: Partial<Record<FieldKind, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d/,
  datetime: /^\d{4}-\d\d-\d\d(?:$|[T ]\d\d:\d\d)/,
  decimal: /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i,
};

/** Imports all rows or, on any error, none. Returns the number of rows by model. */
export async function importDumpRows(
  rows: readonly DumpRow[] | DumpRowIndex,
  database: Database,
  options: ImportOptions,
): Promise<Map<string, number>> {
  return database.withoutTimeouts((client) =>
    inTransaction(client, async () => {
      // What a dump contains is not an edit that imports of the catalogue must keep.
      await client.query("SET LOCAL fitgraph.catalogue_import = 'on'");
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

/**
 * Query for all tables that `TRUNCATE … CASCADE` of the tables `$1` empties. Referring tables come
 * before the tables to which they refer, because most requests lock tables in this order.
 */
const TRUNCATED_TABLES_SQL = `WITH RECURSIVE truncated AS (
    SELECT to_regclass(quote_ident("name"))::oid AS "oid" FROM unnest($1::text[]) AS "name"
    UNION SELECT conrelid FROM pg_constraint JOIN truncated ON confrelid = truncated."oid"
    WHERE contype = 'f')
  SELECT relname::text AS "table" FROM (SELECT "oid", row_number() OVER () AS "number"
    FROM truncated) t JOIN pg_class USING ("oid") ORDER BY "number" DESC`;

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
    private readonly client: ClientBase,
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

    const reportRows = (count: number) => {
      importedRowCount += count;
      reportProgress?.(importedRowCount, totalRows);
    };

    for (const entity of insertionOrder) {
      const model = resourceOf(entity)!.dumpModelName;
      const count = (model && this.rows.rowCountByModel.get(model)) || 0;

      if (!count) continue;
      const recreateStatements = await dropKeysIfNoServerRuns(
        this.client,
        resourceOf(entity)!.table,
        count,
      );
      let firstRow: RowIdentity | undefined;

      for await (const chunk of prefetch(chunksOf(this.rows.rowsOf(model!), ROWS_PER_CHUNK))) {
        firstRow ??= chunk[0]!;

        if (this.options.shouldAssignNewIds) {
          await this.referenceResolver.allocateIds(entity, chunk);
        }

        await this.insert(entity, chunk);
        reportRows(chunk.length);
      }

      await this.finishCopy();
      await nameRowInErrors([firstRow!], () =>
        recreateKeysAndIndexes(this.client, recreateStatements),
      );
      await clearFlagOfOlderRows(entity, this.client);
      await advanceSequence(entity, this.client);
      importedRowCounts.set(model!, count);
    }

    const tokenCount = this.rows.rowCountByModel.get(DJANGO_TOKEN_MODEL);

    if (tokenCount) {
      for await (const chunk of chunksOf(this.rows.rowsOf(DJANGO_TOKEN_MODEL), ROWS_PER_CHUNK)) {
        await insertTokens(chunk, this.client, this.options.tokenVault);
        reportRows(chunk.length);
      }

      importedRowCounts.set(DJANGO_TOKEN_MODEL, tokenCount);
    }

    return importedRowCounts;
  }

  /**
   * Truncates the tables of the dump's models. Throws if the truncation would also delete rows or
   * links of models that the dump does not contain.
   */
  private async truncateTables(insertionOrder: readonly Entity[]): Promise<void> {
    const dumpEntities = insertionOrder.filter((entity) =>
      this.rows.rowCountByModel.has(resourceOf(entity)!.dumpModelName ?? ''),
    );

    if (!dumpEntities.length) return;
    const dumpTables = dumpEntities.map((entity) => resourceOf(entity)!.table);
    const { rows } = await this.client.query(TRUNCATED_TABLES_SQL, [dumpTables]);
    const truncatedTables = rows.map(({ table }) => table as string);

    // Locks the tables, so that no other transaction can add rows after the check below, which the
    // truncation would delete.
    await lockTables(this.client, truncatedTables);

    for (const entity of allEntities()) {
      if (dumpEntities.includes(entity)) continue;
      const { table, dumpModelName } = resourceOf(entity)!;
      const linkTables = fieldsOf(entity).flatMap(({ link }) => link?.table ?? []);

      const affectedTables = [table, ...linkTables].filter((name) =>
        truncatedTables.includes(name),
      );

      for (const affectedTable of affectedTables) {
        if ((await this.client.query(`SELECT 1 FROM "${affectedTable}" LIMIT 1`)).rows.length) {
          failImport(
            `--replace would also delete rows of ${dumpModelName ?? entity.name}, or their links, which the file does not contain.`,
          );
        }
      }
    }

    await scheduleFileRemoval(this.client, dumpEntities);
    await this.client.query(`TRUNCATE ${quoteIdentifiers(dumpTables)} RESTART IDENTITY CASCADE`);
  }

  private async insert(entity: Entity, rows: readonly DumpRow[]): Promise<void> {
    const { table, isOwned, dumpModelName } = resourceOf(entity)!;
    // Dumps have the fields of REST.
    const fields = fieldsOf(entity).filter(
      (field) => field.isColumn && !field.setByDatabase && field.setByTriggerIn !== 'rest',
    );
    const linkFields = fieldsOf(entity).filter((field) => field.link && !field.link.keyColumn);
    const knownKeys = new Set([...fields, ...linkFields].map((field) => field.restKey));
    const isUser = dumpModelName === DJANGO_USER_MODEL;

    await this.referenceResolver.cacheReferencedOwners(
      rows,
      [...fields, ...linkFields].filter((field) => field.target),
    );
    const ownerIdByRowId = new Map<number, number>();
    const records: Record<string, unknown>[] = [];

    const isKnownKey = (key: string) =>
      knownKeys.has(key) || (isUser && ['password', ...IGNORED_USER_FIELDS].includes(key));

    for (const row of rows) {
      const unknownKey = Object.keys(row.fields).find((key) => !isKnownKey(key));

      if (unknownKey !== undefined) {
        failImport(`${describeRow(row)}: unknown field ${JSON.stringify(unknownKey)}.`);
      }

      const record: Record<string, unknown> = {};
      const parents: { field: EntityField; ownerId?: number }[] = [];

      for (const field of fields) {
        if (field.name === 'id') record.id = this.referenceResolver.mapId(entity, row.pk);
        else if (field.target) {
          if (field.name === OWNER_FIELD.field && !(field.restKey in row.fields)) continue;
          const id = this.referenceResolver.resolveId(row, field, row.fields[field.restKey]);

          record[field.column!] = id;

          const isReferenceToOwnedRow =
            resourceOf(field.target())!.isOwned && field.name !== OWNER_FIELD.field;

          if (id !== null && isReferenceToOwnedRow) {
            parents.push({ field, ownerId: this.referenceResolver.ownerIdOf(field.target(), id) });
          }
        } else record[field.column!] = this.fieldValue(row, field);
      }

      if (isUser) {
        record.password =
          row.fields.password ?? failImport(`${describeRow(row)}: password is missing.`);
      } else if (isOwned) {
        // A row without an owner belongs to the owner of its parent row.
        record[OWNER_FIELD.column] ??=
          parents[0]?.ownerId ?? failImport(`${describeRow(row)}: its owner cannot be determined.`);
        ownerIdByRowId.set(record.id as number, record[OWNER_FIELD.column] as number);
      }

      for (const { field, ownerId } of parents) {
        if (ownerId !== record[OWNER_FIELD.column]) {
          failImport(`${describeRow(row)}: ${field.restKey} refers to a row of another user.`);
        }
      }

      records.push(record);
    }

    await this.copyRecords(table, records, rows);

    for (const field of linkFields) {
      const linkRows = this.linkTableRows(entity, field, rows, ownerIdByRowId);

      await this.copyRecords(
        field.link!.table,
        linkRows.map(({ values }) => values),
        linkRows.map(({ row }) => row),
      );
    }
  }

  /**
   * Adds records to a COPY into the table. `rows` are the dump rows from which the records were
   * made, for error messages.
   */
  private async copyRecords(
    table: string,
    records: readonly Record<string, unknown>[],
    rows: readonly DumpRow[],
  ): Promise<void> {
    if (!records.length) return;

    const canContinueCopy =
      this.currentCopy?.table === table && this.currentCopy.rows.length < MAX_ROWS_PER_COPY;

    if (!canContinueCopy) await this.finishCopy();

    // All records of a table have the same columns.
    const columns = this.currentCopy?.columns ?? Object.keys(records[0]!);
    const currentCopy = (this.currentCopy ??= {
      stream: new CopyStream(this.client, table, columns),
      table,
      columns,
      rows: [],
    });

    for (const { model, pk } of rows) currentCopy.rows.push({ model, pk });
    await nameRowInErrors(currentCopy.rows, () =>
      currentCopy.stream.write(formatCopyRows(records, columns)),
    );
  }

  private async query(text: string, values: unknown[]): Promise<Row[]> {
    await this.finishCopy();
    return (await this.client.query(text, values)).rows;
  }

  /** Ends the COPY in progress, if any, as required before another statement on the connection. */
  private async finishCopy(): Promise<void> {
    const currentCopy = this.currentCopy;

    if (!currentCopy) return;
    await nameRowInErrors(currentCopy.rows, () => currentCopy.stream.end());
    this.currentCopy = undefined;
  }

  private fieldValue(row: DumpRow, field: EntityField): unknown {
    const value = row.fields[field.restKey];

    if (value === undefined || value === null) {
      if (acceptsNull(field)) return null;

      if (value === undefined && field.hasDefault && typeof field.default !== 'function') {
        return field.default;
      }

      if (value === undefined && field.allowBlank) return '';

      return failImport(`${describeRow(row)}: ${field.restKey} is missing.`);
    }

    if (PATTERN_BY_FIELD_KIND[field.kind]?.test(String(value)) === false) {
      failImport(
        `${describeRow(row)}: ${field.restKey} is not a valid ${field.kind}: ${JSON.stringify(value)}.`,
      );
    }

    return value;
  }

  private linkTableRows(
    entity: Entity,
    field: EntityField,
    rows: readonly DumpRow[],
    ownerIdByRowId: ReadonlyMap<number, number>,
  ): { row: DumpRow; values: Record<string, unknown> }[] {
    const { ownColumn, otherColumn, discriminators } = field.link!;

    return rows.flatMap((row) => {
      const linkedIds = row.fields[field.restKey] ?? [];

      if (!Array.isArray(linkedIds)) {
        return failImport(`${describeRow(row)}: ${field.restKey} must be a list of ids.`);
      }

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
