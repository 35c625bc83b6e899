import { Command } from 'commander';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { KnownError } from '../core/model/errors';
import { Media } from '../files/media';
import { takeBackup } from '../transfer/backup/take';
import { counted, noteOf, operate, say, stages } from './operator';

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

export const backupCommand = () =>
  new Command('backup')
    .description(
      'Write all rows as they are at one moment, their files and the secret key into one file (.tar.gz), and read it again to verify it.',
    )
    .argument('<file>', 'where to; keep it safe, for it holds the key')
    .option('--replace', 'put it in the place of a file that is there')
    .action((file: string, { replace }: { replace?: boolean }) =>
      operate(
        async ({ config, database, session, secretKey }) => {
          if (!replace && existsSync(file))
            throw new KnownError('CONFLICT', `${file} is there already: --replace puts the backup in its place.`);
          // One that cannot be noted, of a standby perhaps, is better than none.
          await noteOf({ kind: 'COMMAND', detail: `backup ${basename(file)}` }, session).catch(() => undefined);
          const media = Media.of(config);
          const { summary, missing } = await takeBackup({ file, database, media, secretKey, progress: stages() });
          for (const path of missing)
            process.stderr.write(`There is no file ${path}, though a row names it: the backup has none either.\n`);
          const rows = Object.values(summary.rows).reduce((sum, count) => sum + count, 0);
          const { size } = await stat(file);
          say(
            `${counted(rows, 'row')} of ${counted(Object.keys(summary.rows).length, 'table')} and ${counted(summary.files, 'file')} are in ${file} (${megabytes(size)}), verified.`,
          );
        },
        { migrate: false },
      ),
    );
