/** `fitgraph backup`: writes a backup archive and verifies it. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { ClientError } from '../engine/declare/errors';
import { Media } from '../files/media';
import { takeBackup } from '../transfer/backup/take';
import {
  recordOperatorEvent,
  withDatabase,
  printLine,
  createProgressPrinter,
} from './command-context';
import { formatCount } from '../shared/messages';

const formatMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

export const backup = (file: string, { replace }: { replace?: boolean }): Promise<void> =>
  withDatabase(
    async ({ config, database, session, secretKey }) => {
      if (!replace && existsSync(file)) {
        throw new ClientError('CONFLICT', `${file} already exists. Use --replace to overwrite it.`);
      }

      // The backup continues if the audit log is not writable, for example on a standby.
      await recordOperatorEvent(
        { kind: 'COMMAND', detail: `backup ${basename(file)}` },
        session,
      ).catch(() => undefined);
      const media = Media.fromConfig(config);
      const { summary, missingPaths } = await takeBackup({
        file,
        database,
        media,
        secretKey,
        reportProgress: createProgressPrinter(),
      });

      for (const path of missingPaths) {
        process.stderr.write(
          `The file ${path} is missing although a row refers to it. The backup does not contain it.\n`,
        );
      }

      const rowCount = Object.values(summary.rows).reduce((sum, count) => sum + count, 0);
      const { size } = await stat(file);

      printLine(
        `Backed up ${formatCount(rowCount, 'row')} of ${formatCount(Object.keys(summary.rows).length, 'table')} and ${formatCount(summary.files, 'file')} to ${file} (${formatMegabytes(size)}), verified.`,
      );
    },
    { migrate: false },
  );
