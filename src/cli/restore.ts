import { basename } from 'node:path';
import { ConfigError, readConfig } from '../platform/config';
import { Media } from '../files/media';
import { inspect, restoreBackup } from '../transfer/backup/restore';
import { counted, noteOf, operate, say, stages } from './operator';

export async function restore(file: string, { replace = false }: { replace?: boolean }): Promise<void> {
  const config = readConfig();
  const progress = stages();
  const found = await inspect(file, progress);
  const elsewhere = config.secretKey !== undefined || config.databaseUrl !== undefined;
  if (elsewhere && config.secretKey !== found.key)
    throw new ConfigError(
      `SECRET_KEY is not that of the backup, without which nobody's token can be shown: set it to what \`tar -xzOf ${file} secret-key\` prints`,
    );
  await operate(
    async ({ database, session }) => {
      const media = Media.of(config);
      await restoreBackup({ file, found, database, media, dataDir: elsewhere ? undefined : config.dataDir, replace, progress });
      // In the log that was restored, of course: the one before it is gone with all else.
      await noteOf({ kind: 'COMMAND', detail: `restore ${basename(file)}` }, session);
      const rows = Object.values(found.summary.rows).reduce((sum, count) => sum + count, 0);
      say(`${counted(rows, 'row')} and ${counted(found.summary.files, 'file')} of ${found.header.taken} are restored.`);
      if (!elsewhere) say('A server that runs has to be restarted if its key was another one.');
    },
    { key: false, config },
  );
}
