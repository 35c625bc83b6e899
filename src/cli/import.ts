/** `fitgraph import`: imports a data dump with its media files. */
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { ClientError } from '../core/model/errors';
import { CommitOutcomeUnknown } from '../database/errors';
import { Media } from '../files/media';
import { StagedFiles } from '../files/staging';
import { DumpFile } from '../transfer/dumpfile';
import { stageMedia } from '../transfer/media';
import { importDumpRows } from '../transfer/importer';
import {
  formatCount,
  recordOperatorEvent,
  runScheduledFileRemovals,
  withDatabase,
  createRowProgressPrinter,
  printLine,
} from './commandcontext';

export async function importDump(
  file: string,
  { media, replace }: { media?: string; replace?: boolean },
): Promise<void> {
  const dump = await DumpFile.open(file);
  await withDatabase(async ({ config, database, session, tokenVault }) => {
    const mediaStore = Media.fromConfig(config);
    const stagingFolder = `.import-${randomUUID()}`;
    const stagedFiles = new StagedFiles(mediaStore, stagingFolder);
    const rowCounts = await importDumpRows(dump, database, {
      tokenVault,
      shouldReplaceExisting: replace,
      reportProgress: createRowProgressPrinter('Importing'),
      beforeCommit: async () => {
        if (media) await stageMedia(dump, media, mediaStore, stagedFiles, Boolean(replace));
      },
    }).catch(async (error: unknown) => {
      if (error instanceof CommitOutcomeUnknown && media)
        throw new ClientError(
          'SERVICE_UNAVAILABLE',
          'The connection was lost while the rows were being committed. Check whether they exist. ' +
            `If so, move their files from ${stagingFolder} to the top of the file store; otherwise delete that folder.`,
        );
      await stagedFiles.discard();
      throw error;
    });
    const count = [...rowCounts.values()].reduce((sum, rowCount) => sum + rowCount, 0);
    try {
      await recordOperatorEvent(
        {
          kind: 'IMPORTED',
          detail: `${basename(file)}${replace ? ' --replace' : ''}: ${formatCount(count, 'row')}`,
        },
        session,
      );
    } finally {
      // Imported media files replace existing files only after the commit, because the existing files are still needed if the transaction is rolled
      // back.
      await stagedFiles.publish();
    }
    if (replace) await runScheduledFileRemovals(config, database);
    printLine(`${formatCount(count, 'row')} of ${formatCount(rowCounts.size, 'model')} imported.`);
  });
}
