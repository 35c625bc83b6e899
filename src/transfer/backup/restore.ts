/**
 * Atomic restore of a backup. The archive is verified before anything is changed. Media files are staged in a hidden folder. Rows are loaded in
 * one transaction under exclusive locks, into the schema of the backup, and then migrated. Staged files are published after the commit, by this
 * process or, if it dies, by the next one that opens the database.
 */
import { randomUUID } from 'node:crypto';
import { DatabaseError, type Client } from 'pg';
import { ClientError } from '../../core/model/errors';
import type { Database } from '../../database/connection';
import { quoteIdentifiers } from '../../database/identifiers';
import { ADVISORY_LOCK_KEYS } from '../../database/advisorylocks';
import { lockTables } from '../../database/lockconflicts';
import {
  readAppliedMigrationNames,
  applyMigrationsWithinTransaction,
  lockMigrations,
} from '../../database/migrate';
import { migrationNames } from '../../database/migrationmodules';
import { rebuildSchemaInTransaction } from '../../database/schemarepair';
import { CommitOutcomeUnknown } from '../../database/errors';
import {
  discardStagedKey,
  activateStagedKey,
  finishInterruptedKeyChanges,
  stageKey,
} from '../../database/secretkey';
import { commit } from '../../database/transaction';
import { assignRowSecurityPolicies } from '../../database/viewerrole';
import {
  findMissingReplacedMigration,
  replaceSquashedNames,
} from '../../database/squashedmigrations';
import { imageColumns } from '../../files/imagecolumns';
import type { Media } from '../../files/media';
import { VERSION } from '../../platform/version';
import {
  countLines,
  readArchive,
  verifyArchive,
  type ReportProgress,
  type VerifiedBackup,
} from './archive';
import {
  invalidBackupError,
  formatArchiveValue,
  toOneLine,
  type TableDescription,
} from './manifest';
import { recreateKeysAndIndexes, dropKeysAndIndexes, type RecreationStatements } from '../bulkload';
import { CopyStream } from '../copy';
import { finishInterruptedRestores, stagedFilesOfRestore, stageFile } from './files';
import { EXCLUDED_DATA_TABLES, openDedicatedConnection, listSequences, listTables } from './tables';

export interface RestoreOptions {
  file: string;
  backup: VerifiedBackup;
  database: Database;
  media: Media;
  /** Data folder, to which the secret key contained in the backup is written; absent if SECRET_KEY is set. */
  dataDir?: string;
  /** Whether existing data is overwritten. Otherwise, a database that contains data is rejected. */
  shouldReplaceExisting: boolean;
  reportProgress?: ReportProgress;
}

/** Verifies the whole archive. Throws if it is damaged, was created by a newer version, or has a schema older than that of Fitgraph 0.2. */
export async function inspectBackup(
  file: string,
  reportProgress?: RestoreOptions['reportProgress'],
): Promise<VerifiedBackup> {
  const backup = await verifyArchive(file, (bytes) => reportProgress?.('Reading, bytes', bytes));
  const { header } = backup;
  const program = toOneLine(header.program);
  if (findMissingReplacedMigration(header.migrations) !== undefined)
    throw invalidBackupError(
      file,
      `it was created by Fitgraph ${program} and its schema is older than that of Fitgraph 0.2; restore it with Fitgraph 0.2 and create a new backup`,
    );
  const migrations = replaceSquashedNames(header.migrations);
  const knownMigrationNames = migrationNames();
  const unknownMigrationNames = migrations.filter((name) => !knownMigrationNames.includes(name));
  if (unknownMigrationNames.length)
    throw invalidBackupError(
      file,
      `it was created by Fitgraph ${program} (${toOneLine(unknownMigrationNames.at(-1)!)}), but Fitgraph ${VERSION} supports the schema only up to ${knownMigrationNames.at(-1)}`,
    );
  // The order of the backup's migrations matters, because they may have to be run in this order to rebuild the schema of the backup.
  if (knownMigrationNames.filter((name) => migrations.includes(name)).join() !== migrations.join())
    throw invalidBackupError(file, 'its migrations are out of order');
  return { ...backup, header: { ...header, migrations } };
}

export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { file, backup, database, media, dataDir, shouldReplaceExisting } = options;
  const id = randomUUID();
  const stagedFiles = stagedFilesOfRestore(media, id);
  const client = await openDedicatedConnection(database);
  try {
    const [lock] = (
      await client.query('SELECT pg_try_advisory_lock($1) AS "free"', [ADVISORY_LOCK_KEYS.restore])
    ).rows;
    if (!lock.free) throw new ClientError('CONFLICT', 'Another backup is being restored.');
    await lockMigrations(client);
    // Cleans up after earlier restores that were interrupted: otherwise, the next start would replace the files and the secret key of this restore by theirs.
    await finishInterruptedRestores(client, media);
    if (dataDir) await finishInterruptedKeyChanges(dataDir, database);
    if (!shouldReplaceExisting) await requireEmptyDatabase(client);
    const rows = new RowLoader(client, options, id);
    let fileCount = 0;
    try {
      if (dataDir) stageKey(dataDir, id, backup.secretKey);
      await readArchive(file, {
        onMediaFile: async (path, content) => {
          await stageFile(stagedFiles, path, content);
          options.reportProgress?.('Files', (fileCount += 1), backup.summary.files);
        },
        onRows: (table, content) => rows.addRows(table, content),
      });
      await rows.finishAndCommit();
    } catch (error) {
      // It is unknown whether the restore was committed. Its files and key are kept: the next start uses them if it was, and deletes them otherwise.
      if (error instanceof CommitOutcomeUnknown) throw error;
      await rows.rollBack();
      await stagedFiles.discard();
      if (dataDir) discardStagedKey(dataDir, id);
      throw explainDatabaseError(file, error);
    }
    if (dataDir) activateStagedKey(dataDir, id);
    await stagedFiles.publish();
  } finally {
    await client.end();
  }
  await database.pool.query(
    `SELECT pg_notify('fitgraph_everything', ''), pg_notify('fitgraph_removed_file', '')`,
  );
}

/** Converts PostgreSQL's errors about invalid values into one-line errors about the archive; returns other errors unchanged. */
function explainDatabaseError(file: string, error: unknown): unknown {
  const { code, message, where = '' } = error as { code?: string; message: string; where?: string };
  return error instanceof DatabaseError && /^2[23]/.test(code ?? '')
    ? invalidBackupError(file, toOneLine(`${message} (${where})`))
    : error;
}

async function requireEmptyDatabase(client: Client): Promise<void> {
  // A database counts as empty although it contains a fingerprint of the secret key, because a server stores that already at its first start.
  for (const { name } of (await listTables(client)).filter(
    (table) => table.name !== 'secret_key_fingerprint',
  ))
    if ((await client.query(`SELECT FROM ${quoteIdentifiers([name])} LIMIT 1`)).rowCount)
      throw new ClientError(
        'CONFLICT',
        `The database is not empty (${name} has rows). Use --replace to replace all data with the backup.`,
      );
}

class RowLoader {
  private hasBegunTransaction = false;
  private currentCopy?: CopyStream;
  private currentTable = '';
  private loadedRowCount = 0;
  private readonly totalRows: number;
  private recreationStatements: RecreationStatements = [];

  constructor(
    private readonly client: Client,
    private readonly options: RestoreOptions,
    private readonly id: string,
  ) {
    this.totalRows = Object.values(options.backup.summary.rows).reduce(
      (sum, rows) => sum + rows,
      0,
    );
  }

  private get tables(): string[] {
    return this.options.backup.header.tables.map(({ name }) => name);
  }

  async addRows(table: string, content: AsyncIterable<Buffer>): Promise<void> {
    if (!this.hasBegunTransaction) await this.beginTransaction();
    if (table !== this.currentTable) await this.startCopy(table);
    for await (const chunk of content) {
      await this.currentCopy!.write(chunk);
      this.options.reportProgress?.(
        'Rows',
        (this.loadedRowCount += countLines(chunk)),
        this.totalRows,
      );
    }
  }

  private async startCopy(table: string): Promise<void> {
    await this.endCopy();
    const tableDescription = this.options.backup.header.tables.find(({ name }) => name === table);
    // A table can be missing in the backup's header only if the backup file was replaced after `inspectBackup` verified it.
    if (!tableDescription)
      throw invalidBackupError(
        this.options.file,
        `it contains rows of an unknown table ${formatArchiveValue(table)}`,
      );
    this.currentTable = table;
    this.currentCopy = new CopyStream(this.client, table, tableDescription.columns);
  }

  private async endCopy(): Promise<void> {
    await this.currentCopy?.end();
    this.currentCopy = undefined;
  }

  /** Begins the transaction of the restore: locks all tables exclusively, and empties or rebuilds them so that they have the schema of the backup. */
  private async beginTransaction(): Promise<void> {
    this.hasBegunTransaction = true;
    const { client, options } = this;
    await client.query('BEGIN');
    await lockTables(client, [
      ...(await listTables(client)).map(({ name }) => name),
      ...(await this.findExcludedDataTables()),
    ]);
    await this.recordFormerPaths();
    if (await this.hasSchemaOfBackup()) await this.truncateTables();
    else await rebuildSchemaInTransaction(client, options.backup.header.migrations);
    await this.requireKnownTablesAndColumns();
    await this.switchTriggers('DISABLE');
    this.recreationStatements = await dropKeysAndIndexes(client, this.tables);
  }

  /** Whether the current schema is that of the backup. It is not if the backup is older or a table was dropped. */
  private async hasSchemaOfBackup(): Promise<boolean> {
    const { migrations, tables } = this.options.backup.header;
    const appliedMigrations = await readAppliedMigrationNames(this.client);
    const serializeTables = (list: readonly TableDescription[]) =>
      list.map(({ name, columns }) => JSON.stringify([name, columns])).sort();
    const currentTables = new Set(serializeTables(await listTables(this.client)));
    return (
      appliedMigrations.join() === migrations.join() &&
      serializeTables(tables).every((table) => currentTables.has(table)) &&
      (await this.findExcludedDataTables()).length === EXCLUDED_DATA_TABLES.length
    );
  }

  /** Throws if the archive names a table, column or sequence that does not exist in the schema that its migrations create. */
  private async requireKnownTablesAndColumns(): Promise<void> {
    const { file, backup } = this.options;
    const columns = new Map(
      (await listTables(this.client)).map((table) => [table.name, table.columns]),
    );
    for (const table of backup.header.tables) {
      const knownColumns = columns.get(table.name);
      if (!knownColumns)
        throw invalidBackupError(file, `its schema has no table ${formatArchiveValue(table.name)}`);
      const unknownColumn = table.columns.find((name) => !knownColumns.includes(name));
      if (unknownColumn !== undefined)
        throw invalidBackupError(
          file,
          `its schema has no column ${formatArchiveValue(unknownColumn)} in ${table.name}`,
        );
    }
    const sequences = await listSequences(this.client, backup.header.tables);
    for (const { table, column } of backup.summary.sequences)
      if (!sequences.some((sequence) => sequence.table === table && sequence.column === column))
        throw invalidBackupError(
          file,
          `its schema has no sequence for ${formatArchiveValue(`${table}.${column}`)}`,
        );
  }

  private async findExcludedDataTables(): Promise<string[]> {
    const { rows } = await this.client.query(
      'SELECT "name" FROM unnest($1::text[]) AS "name" WHERE to_regclass("name") IS NOT NULL',
      [EXCLUDED_DATA_TABLES],
    );
    return rows.map(({ name }) => name as string);
  }

  /** Records the file paths of the rows that will be replaced. These files are deleted later, unless restored rows refer to them. */
  private async recordFormerPaths(): Promise<void> {
    const existingTables = new Set((await listTables(this.client)).map(({ name }) => name));
    const pathQueries = [...imageColumns(), { column: 'path', table: 'removed_file' }]
      .filter(({ table }) => existingTables.has(table))
      .map(({ column, table }) => `SELECT "${column}" AS "path" FROM "${table}"`);
    const noRowsSql = `SELECT '' AS "path" WHERE false`;
    await this.client.query(
      `CREATE TEMPORARY TABLE "former_path" ON COMMIT DROP AS ${[noRowsSql, ...pathQueries].join(' UNION ')}`,
    );
  }

  private async truncateTables(): Promise<void> {
    await this.switchTriggers('DISABLE');
    await this.client.query(
      `TRUNCATE ${quoteIdentifiers((await listTables(this.client)).map(({ name }) => name))}`,
    );
    await this.switchTriggers('ENABLE');
  }

  private async switchTriggers(state: 'ENABLE' | 'DISABLE'): Promise<void> {
    for (const { name } of await listTables(this.client))
      await this.client.query(`ALTER TABLE ${quoteIdentifiers([name])} ${state} TRIGGER USER`);
  }

  async finishAndCommit(): Promise<void> {
    const { client, options, id } = this;
    const { header, summary } = options.backup;
    if (!this.hasBegunTransaction) await this.beginTransaction();
    await this.endCopy();
    await client.query(`ANALYZE ${quoteIdentifiers(this.tables)}`);
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    await recreateKeysAndIndexes(client, this.recreationStatements);
    for (const { table, column, last, called } of summary.sequences)
      await client.query('SELECT setval(pg_get_serial_sequence(quote_ident($1), $2), $3, $4)', [
        table,
        column,
        last,
        called,
      ]);
    for (const name of this.tables) {
      const [{ count }] = (
        await client.query(`SELECT count(*)::float8 AS "count" FROM ${quoteIdentifiers([name])}`)
      ).rows as [{ count: number }];
      if (count !== summary.rows[name])
        throw invalidBackupError(
          options.file,
          `${name} has ${count} rows instead of ${summary.rows[name]}`,
        );
    }
    await this.switchTriggers('ENABLE');
    const newerMigrations = migrationNames().filter((name) => !header.migrations.includes(name));
    await applyMigrationsWithinTransaction(client, newerMigrations);
    // Row-level security must be in place at the commit, because running servers then read the restored rows.
    await assignRowSecurityPolicies(client);
    await this.resetChangeLog();
    await client.query(`INSERT INTO "removed_file" ("path") SELECT "path" FROM "former_path" WHERE "path" <> ''
      ON CONFLICT ("path") DO UPDATE SET "settled" = false`);
    await client.query('INSERT INTO "restored" ("id", "taken", "program") VALUES ($1, $2, $3)', [
      id,
      header.taken,
      header.program,
    ]);
    await commit(client);
  }

  /** Starts a new change log, so that the cursors of clients become invalid, and makes servers read the catalogue again at the commit. */
  private async resetChangeLog(): Promise<void> {
    await this.client.query('DELETE FROM "former_change_log"');
    await this.client.query('DELETE FROM "change"');
    await this.client.query('DELETE FROM "table_change"');
    await this.client.query('UPDATE "change_log" SET "id" = gen_random_uuid()');
    await this.client.query('INSERT INTO "table_change" ("table") SELECT unnest($1::text[])', [
      this.tables,
    ]);
    // Servers read the catalogue again at the commit, because they validate writes with it. They read the rest again when the files are in place.
    await this.client.query(`SELECT pg_notify('fitgraph_reference', '')`);
  }

  async rollBack(): Promise<void> {
    await this.currentCopy?.abort();
    await this.client.query('ROLLBACK').catch(() => undefined);
  }
}
