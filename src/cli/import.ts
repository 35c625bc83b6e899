/** `fitgraph import`: imports a data dump with its media files. */
import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { ClientError } from '../engine/declare/errors';
import { CommitOutcomeUnknown } from '../database/errors';
import { Media } from '../files/media';
import { StagedFiles } from '../files/staging';
import { DumpFile } from '../transfer/dump-file';
import { importDumpRows } from '../transfer/importer';
import {
  recordOperatorEvent,
  removeScheduledFiles,
  withDatabase,
  createRowProgressPrinter,
  printLine,
} from './command-context';
import { formatCount } from '../shared/messages';
import { copyFile, readFile } from 'node:fs/promises';
import { fieldsOf } from '../engine/declare/fields';
import { isMediaPath } from '../files/paths';
import { describeRow, entitiesByDumpModel, failImport, type DumpRowIndex } from '../transfer/dump';

/**
 * Stages copies of the media files to which the imported rows refer. The copies are published after
 * the rows are committed. Throws if a file is missing in `sourceFolder`.
 */
async function stageMedia(
  rows: DumpRowIndex,
  sourceFolder: string,
  media: Media,
  stagedFiles: StagedFiles,
  shouldReplaceExisting: boolean,
): Promise<void> {
  for (const [model, entity] of entitiesByDumpModel()) {
    for (const field of fieldsOf(entity).filter(({ kind }) => kind === 'image')) {
      for await (const row of rows.rowsOf(model)) {
        const path = String(row.fields[field.restKey]);

        if (!isMediaPath(path)) {
          failImport(`${describeRow(row)}: ${field.restKey} is not a path in the media folder.`);
        }

        const content = await readFile(join(sourceFolder, path)).catch(() =>
          failImport(`${describeRow(row)}: the file ${path} does not exist in ${sourceFolder}.`),
        );

        if (!shouldReplaceExisting && (await media.files.read(path))?.equals(content) === false) {
          failImport(`${describeRow(row)}: a different file ${path} already exists.`);
        }

        await stagedFiles.add(path, (localPath) => copyFile(join(sourceFolder, path), localPath));
      }
    }
  }
}

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
      if (error instanceof CommitOutcomeUnknown && media) {
        throw new ClientError(
          'SERVICE_UNAVAILABLE',
          'The connection was lost while the rows were being committed. Check whether they exist. ' +
            `If so, move their files from ${stagingFolder} to the top of the file store; otherwise delete that folder.`,
        );
      }

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
      // Publishes the files after the commit, because a rollback would still need the existing
      // files that they replace.
      await stagedFiles.publish();
    }

    if (replace) await removeScheduledFiles(config, database);
    printLine(`${formatCount(count, 'row')} of ${formatCount(rowCounts.size, 'model')} imported.`);
  });
}
