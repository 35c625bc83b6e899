/**
 * Atomic restore of a backup, which is verified first. Rows are loaded in one transaction into the
 * schema of the backup, which is then migrated. Media files are staged in a hidden folder and
 * published after the commit. If the process dies in between, the next start of a server publishes
 * them.
 */
import { randomUUID } from 'node:crypto';
import { DatabaseError, type Client } from 'pg';
import { ClientError } from '../../engine/declare/errors';
import type { Database } from '../../database/connection';
import { quoteIdentifiers } from '../../database/identifiers';
import { ADVISORY_LOCK_KEYS } from '../../database/advisory-locks';
import { lockTables } from '../../database/lock-conflicts';
import { readAppliedMigrationNames, applyMigrations, lockMigrations } from '../../database/migrate';
import { migrationNames } from '../../database/migration-modules';
import { rebuildSchema } from '../../database/schema-repair';
import { CommitOutcomeUnknown } from '../../database/errors';
import {
  discardStagedKey,
  activateStagedKey,
  finishInterruptedKeyChanges,
  stageKey,
} from '../../database/secret-key';
import { commit } from '../../database/transaction';
import { assignRowSecurityPolicies } from '../../database/viewer-role';
import {
  findMissingSquashedMigration,
  replaceSquashedNames,
} from '../../database/squashed-migrations';
import { imageColumns } from '../../files/image-columns';
import type { Media } from '../../files/media';
import { VERSION } from '../../shared/version';
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
  escapeToOneLine,
  type TableDescription,
} from './manifest';
import { recreateKeysAndIndexes, dropKeysAndIndexes, type RecreateStatements } from '../bulk-load';
import { CopyStream } from '../copy';
import { finishInterruptedRestores, stagedFilesOfRestore, stageFile } from './files';
import { EXCLUDED_DATA_TABLES, openDedicatedConnection, listSequences, listTables } from './tables';

export interface RestoreOptions {
  file: string;
  backup: VerifiedBackup;
  database: Database;
  media: Media;

  /** Data folder to which the backup's secret key is written. Absent if SECRET_KEY is set. */
  dataDir?: string;

  /** Overwrites existing data instead of refusing to restore into a database that contains data. */
  shouldReplaceExisting: boolean;
  reportProgress?: ReportProgress;
}

/**
 * Verifies a whole backup archive. Rejects an archive that is damaged, was created by a newer
 * version, or has a schema older than that of Fitgraph 0.2.
 */
export async function inspectBackup(
  file: string,
  reportProgress?: RestoreOptions['reportProgress'],
): Promise<VerifiedBackup> {
  const backup = await verifyArchive(file, (bytes) => reportProgress?.('Reading, bytes', bytes));
  const { header } = backup;
  const program = escapeToOneLine(header.program);

  if (findMissingSquashedMigration(header.migrations) !== undefined) {
    throw invalidBackupError(
      file,
      `it was created by Fitgraph ${program} and its schema is older than that of Fitgraph 0.2; restore it with Fitgraph 0.2 and create a new backup`,
    );
  }

  const migrations = replaceSquashedNames(header.migrations);
  const knownMigrationNames = migrationNames();
  const unknownMigrationNames = migrations.filter((name) => !knownMigrationNames.includes(name));

  if (unknownMigrationNames.length) {
    throw invalidBackupError(
      file,
      `it was created by Fitgraph ${program} (${escapeToOneLine(unknownMigrationNames.at(-1)!)}), but Fitgraph ${VERSION} supports the schema only up to ${knownMigrationNames.at(-1)}`,
    );
  }

  // The order of the migrations matters, because they may have to be run to rebuild the schema of
  // the backup.
  const orderedMigrations = knownMigrationNames.filter((name) => migrations.includes(name));

  if (orderedMigrations.join() !== migrations.join()) {
    throw invalidBackupError(file, 'its migrations are out of order');
  }

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
    // Cleans up after earlier interrupted restores: otherwise, the next start would replace the
    // files and the secret key of this restore by those of the interrupted restores.
    await finishInterruptedRestores(client, media);
    if (dataDir) await finishInterruptedKeyChanges(dataDir, database);
    if (!shouldReplaceExisting) await checkDatabaseIsEmpty(client);
    const rowLoader = new RowLoader(client, options, id);
    let fileCount = 0;

    try {
      if (dataDir) stageKey(dataDir, id, backup.secretKey);
      await readArchive(file, {
        onMediaFile: async (path, content) => {
          await stageFile(stagedFiles, path, content);
          fileCount += 1;
          options.reportProgress?.('Files', fileCount, backup.summary.files);
        },
        onRows: (table, content) => rowLoader.addRows(table, content),
      });
      await rowLoader.finishAndCommit();
    } catch (error) {
      // The restore may have been committed, so its files and key are kept. If it was committed,
      // the next start uses them; otherwise the next start deletes them.
      if (error instanceof CommitOutcomeUnknown) throw error;
      await rowLoader.rollBack();
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

/** Converts PostgreSQL's errors about invalid values to one-line errors about the archive. */
function explainDatabaseError(file: string, error: unknown): unknown {
  const { code, message, where = '' } = error as { code?: string; message: string; where?: string };

  if (!(error instanceof DatabaseError) || !/^2[23]/.test(code ?? '')) return error;

  return invalidBackupError(file, escapeToOneLine(`${message} (${where})`));
}

async function checkDatabaseIsEmpty(client: Client): Promise<void> {
  // Ignores the fingerprint of the secret key, which a server stores already at its first start.
  const checkedTables = (await listTables(client)).filter(
    ({ name }) => name !== 'secret_key_fingerprint',
  );

  for (const { name } of checkedTables) {
    if ((await client.query(`SELECT FROM ${quoteIdentifiers([name])} LIMIT 1`)).rowCount) {
      throw new ClientError(
        'CONFLICT',
        `The database is not empty (${name} has rows). Use --replace to replace all data with the backup.`,
      );
    }
  }
}

class RowLoader {
  private hasBegunTransaction = false;
  private currentCopy?: CopyStream;
  private currentTable = '';
  private loadedRowCount = 0;
  private readonly totalRows: number;
  private recreateStatements: RecreateStatements = [];

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
      this.loadedRowCount += countLines(chunk);
      this.options.reportProgress?.('Rows', this.loadedRowCount, this.totalRows);
    }
  }

  private async startCopy(table: string): Promise<void> {
    await this.endCopy();
    const tableDescription = this.options.backup.header.tables.find(({ name }) => name === table);

    // Can happen only if the backup file was replaced after `inspectBackup` verified it.
    if (!tableDescription) {
      throw invalidBackupError(
        this.options.file,
        `it contains rows of an unknown table ${formatArchiveValue(table)}`,
      );
    }

    this.currentTable = table;
    this.currentCopy = new CopyStream(this.client, table, tableDescription.columns);
  }

  private async endCopy(): Promise<void> {
    await this.currentCopy?.end();
    this.currentCopy = undefined;
  }

  /**
   * Begins the transaction of the restore: locks all tables exclusively, and empties or rebuilds
   * them so that they have the schema of the backup.
   */
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
    else await rebuildSchema(client, options.backup.header.migrations);
    await this.checkTablesAndColumns();
    await this.setTriggers('DISABLE');
    this.recreateStatements = await dropKeysAndIndexes(client, this.tables);
  }

  /**
   * Whether the current schema equals the schema of the backup. It differs if the backup was
   * created by an older version, or if a table was dropped.
   */
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

  /**
   * Rejects an archive with a table, column or sequence that does not exist in the schema of its
   * migrations.
   */
  private async checkTablesAndColumns(): Promise<void> {
    const { file, backup } = this.options;
    const columns = new Map(
      (await listTables(this.client)).map((table) => [table.name, table.columns]),
    );

    for (const table of backup.header.tables) {
      const knownColumns = columns.get(table.name);

      if (!knownColumns) {
        throw invalidBackupError(file, `its schema has no table ${formatArchiveValue(table.name)}`);
      }

      const unknownColumn = table.columns.find((name) => !knownColumns.includes(name));

      if (unknownColumn !== undefined) {
        throw invalidBackupError(
          file,
          `its schema has no column ${formatArchiveValue(unknownColumn)} in ${table.name}`,
        );
      }
    }

    const sequences = await listSequences(this.client, backup.header.tables);

    for (const { table, column } of backup.summary.sequences) {
      if (!sequences.some((sequence) => sequence.table === table && sequence.column === column)) {
        throw invalidBackupError(
          file,
          `its schema has no sequence for ${formatArchiveValue(`${table}.${column}`)}`,
        );
      }
    }
  }

  private async findExcludedDataTables(): Promise<string[]> {
    const { rows } = await this.client.query(
      'SELECT "name" FROM unnest($1::text[]) AS "name" WHERE to_regclass("name") IS NOT NULL',
      [EXCLUDED_DATA_TABLES],
    );

    return rows.map(({ name }) => name as string);
  }

  /**
   * Records the file paths of the rows that will be replaced. These files are deleted later, unless
   * restored rows refer to them.
   */
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
    await this.setTriggers('DISABLE');
    await this.client.query(
      `TRUNCATE ${quoteIdentifiers((await listTables(this.client)).map(({ name }) => name))}`,
    );
    await this.setTriggers('ENABLE');
  }

  private async setTriggers(state: 'ENABLE' | 'DISABLE'): Promise<void> {
    for (const { name } of await listTables(this.client)) {
      await this.client.query(`ALTER TABLE ${quoteIdentifiers([name])} ${state} TRIGGER USER`);
    }
  }

  async finishAndCommit(): Promise<void> {
    const { client, options, id } = this;
    const { header, summary } = options.backup;

    if (!this.hasBegunTransaction) await this.beginTransaction();
    await this.endCopy();
    await client.query(`ANALYZE ${quoteIdentifiers(this.tables)}`);
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    await recreateKeysAndIndexes(client, this.recreateStatements);

    for (const { table, column, last, called } of summary.sequences) {
      await client.query('SELECT setval(pg_get_serial_sequence(quote_ident($1), $2), $3, $4)', [
        table,
        column,
        last,
        called,
      ]);
    }

    for (const name of this.tables) {
      const [{ count }] = (
        await client.query(`SELECT count(*)::float8 AS "count" FROM ${quoteIdentifiers([name])}`)
      ).rows as [{ count: number }];

      if (count !== summary.rows[name]) {
        throw invalidBackupError(
          options.file,
          `${name} has ${count} rows instead of ${summary.rows[name]}`,
        );
      }
    }

    await this.setTriggers('ENABLE');
    const newerMigrations = migrationNames().filter((name) => !header.migrations.includes(name));

    await applyMigrations(client, newerMigrations);
    // Applies row-level security before the commit, because running servers then read the restored
    // rows.
    await assignRowSecurityPolicies(client);
    await this.resetChangeLog();
    await client.query(`INSERT INTO "removed_file" ("path") SELECT "path" FROM "former_path"
      WHERE "path" <> ''
      ON CONFLICT ("path") DO UPDATE SET "settled" = false`);
    await client.query('INSERT INTO "restored" ("id", "taken", "program") VALUES ($1, $2, $3)', [
      id,
      header.taken,
      header.program,
    ]);
    await commit(client);
  }

  /** Starts a new change log, which invalidates the cursors of clients. */
  private async resetChangeLog(): Promise<void> {
    await this.client.query('DELETE FROM "former_change_log"');
    await this.client.query('DELETE FROM "change"');
    await this.client.query('DELETE FROM "table_change"');
    await this.client.query('UPDATE "change_log" SET "id" = gen_random_uuid()');
    await this.client.query('INSERT INTO "table_change" ("table") SELECT unnest($1::text[])', [
      this.tables,
    ]);
    // Makes servers read the catalogue again at the commit, because they validate writes with it.
    // They read all other data again when the files are in place.
    await this.client.query(`SELECT pg_notify('fitgraph_reference', '')`);
  }

  async rollBack(): Promise<void> {
    await this.currentCopy?.abort();
    await this.client.query('ROLLBACK').catch(() => undefined);
  }
}
