/** `fitgraph restore`: restores a backup archive. */
import { basename } from 'node:path';
import { ConfigError, readConfig } from '../shared/config';
import { ClientError } from '../engine/declare/errors';
import { checkSchemaIsSupported } from '../database/compatibility';
import { Media } from '../files/media';
import { inspectBackup, restoreBackup } from '../transfer/backup/restore';
import {
  recordOperatorEvent,
  withDatabase,
  printLine,
  createProgressPrinter,
} from './command-context';
import { formatCount } from '../shared/messages';

export async function restore(
  file: string,
  { replace = false }: { replace?: boolean },
): Promise<void> {
  const config = readConfig();
  const printProgress = createProgressPrinter();
  const backup = await inspectBackup(file, printProgress);
  const hasExternalKey = config.secretKey !== undefined || config.databaseUrl !== undefined;

  if (hasExternalKey && config.secretKey !== backup.secretKey) {
    throw new ConfigError(
      `SECRET_KEY differs from the key of the backup, which is required to show tokens: set it to the output of \`tar -xzOf ${file} secret-key\``,
    );
  }

  await withDatabase(
    async ({ database, session }) => {
      const [newerMigrationName] = await checkSchemaIsSupported(database.pool);

      if (newerMigrationName !== undefined) {
        throw new ClientError(
          'CONFLICT',
          `The database has the migration ${newerMigrationName} of a newer version: restore the backup with that version.`,
        );
      }

      const media = Media.fromConfig(config);

      await restoreBackup({
        file,
        backup,
        database,
        media,
        dataDir: hasExternalKey ? undefined : config.dataDir,
        shouldReplaceExisting: replace,
        reportProgress: printProgress,
      });
      // Records the command after the restore, which replaces the audit log.
      await recordOperatorEvent({ kind: 'COMMAND', detail: `restore ${basename(file)}` }, session);
      const rowCount = Object.values(backup.summary.rows).reduce((sum, count) => sum + count, 0);

      printLine(
        `Restored ${formatCount(rowCount, 'row')} and ${formatCount(backup.summary.files, 'file')} from the backup of ${backup.header.taken}.`,
      );
      if (!hasExternalKey) printLine('Restart a running server if its secret key was different.');
    },
    { needsSecretKey: false, config },
  );
}
