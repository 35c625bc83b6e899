/** `fitgraph upgrade`: moves the embedded database to a new major version of PostgreSQL by backup and restore. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, readConfig, type Config } from '../platform/config';
import { Database } from '../database/connection';
import { openEmbeddedDatabase } from '../database/embedded';
import {
  findMajorUpgrade,
  findOldBinFolder,
  createTemporaryDataDir,
  replaceCluster,
  withOldServer,
} from '../database/embedded/majorupgrade';
import { migrateUp } from '../database/migrate';
import { FolderStore } from '../files/folderstore';
import { Media } from '../files/media';
import { models } from '../graphql/schema';
import { inspectBackup, restoreBackup } from '../transfer/backup/restore';
import { takeBackup } from '../transfer/backup/take';
import { recordOperatorEvent, printLine, createProgressPrinter } from './commandcontext';

const connectDatabase = (config: Config, connection: object) => new Database({ ...config, connection, models });

/** Creates a database cluster of the new PostgreSQL version in a separate folder and restores all rows into it. */
async function createUpgradedCluster(
  config: Config,
  dataDir: string,
  file: string,
  detail: string,
  printProgress: ReturnType<typeof createProgressPrinter>,
): Promise<void> {
  const embeddedDatabase = await openEmbeddedDatabase({ dataDir });
  const database = connectDatabase(config, embeddedDatabase.connection);
  try {
    await migrateUp(database);
    const backup = await inspectBackup(file, printProgress);
    // The backup that is made for an upgrade contains neither media files nor the secret key, because these stay in place.
    await restoreBackup({
      file,
      backup,
      database,
      media: new Media(new FolderStore(dataDir)),
      shouldReplaceExisting: false,
      reportProgress: printProgress,
    });
    await recordOperatorEvent({ kind: 'COMMAND', detail }, database.createSession());
  } finally {
    await database.close();
    await embeddedDatabase.release();
  }
}

export async function upgrade({ binaries }: { binaries?: string }): Promise<void> {
  const config = readConfig();
  if (config.databaseUrl) throw new ConfigError('DATABASE_URL is set: upgrade that PostgreSQL server as described in its documentation');
  const majorUpgrade = findMajorUpgrade(config.dataDir);
  if (!majorUpgrade) return printLine('Nothing to do.');
  const oldBinFolder = findOldBinFolder(majorUpgrade, binaries);
  const printProgress = createProgressPrinter();
  const file = join(config.dataDir, 'upgrade.tar.gz');
  await rm(file, { force: true });
  try {
    await withOldServer(majorUpgrade, oldBinFolder, async (connection) => {
      const database = connectDatabase(config, connection);
      await takeBackup({ file, database, secretKey: '', reportProgress: printProgress }).finally(() => database.close());
    });
    createTemporaryDataDir(majorUpgrade);
    await createUpgradedCluster(
      config,
      majorUpgrade.temporaryDataDir,
      file,
      `upgrade from PostgreSQL ${majorUpgrade.oldVersion} to ${majorUpgrade.newVersion}`,
      printProgress,
    );
    const oldDatabaseFolder = replaceCluster(majorUpgrade);
    printLine(
      `The database now uses PostgreSQL ${majorUpgrade.newVersion}. The PostgreSQL ${majorUpgrade.oldVersion} database is kept in ${oldDatabaseFolder}; delete it once everything works.`,
    );
  } finally {
    await rm(file, { force: true });
    await rm(majorUpgrade.temporaryDataDir, { recursive: true, force: true });
  }
}
