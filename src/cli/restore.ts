/** `fitgraph restore`: restores a backup archive. */
import { basename } from 'node:path';
import { ConfigError, readConfig } from '../platform/config';
import { Media } from '../files/media';
import { inspectBackup, restoreBackup } from '../transfer/backup/restore';
import { formatCount, recordOperatorEvent, withDatabase, printLine, createProgress } from './operator';

export async function restore(file: string, { replace = false }: { replace?: boolean }): Promise<void> {
  const config = readConfig();
  const progress = createProgress();
  const found = await inspectBackup(file, progress);
  const hasExternalKey = config.secretKey !== undefined || config.databaseUrl !== undefined;
  if (hasExternalKey && config.secretKey !== found.key)
    throw new ConfigError(
      `SECRET_KEY is not that of the backup, without which nobody's token can be shown: set it to what \`tar -xzOf ${file} secret-key\` prints`,
    );
  await withDatabase(
    async ({ database, session }) => {
      const media = Media.of(config);
      await restoreBackup({ file, found, database, media, dataDir: hasExternalKey ? undefined : config.dataDir, replace, progress });
      // Recorded after the restore, which has replaced the audit log.
      await recordOperatorEvent({ kind: 'COMMAND', detail: `restore ${basename(file)}` }, session);
      const rows = Object.values(found.summary.rows).reduce((sum, count) => sum + count, 0);
      printLine(`${formatCount(rows, 'row')} and ${formatCount(found.summary.files, 'file')} of ${found.header.taken} are restored.`);
      if (!hasExternalKey) printLine('A server that runs has to be restarted if its key was another one.');
    },
    { key: false, config },
  );
}
