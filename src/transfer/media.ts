/** Staging of the media files to which imported rows refer. */
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fieldsOf } from '../core/model/fields';
import type { Media } from '../files/media';
import { isMediaPath } from '../files/paths';
import type { StagedFiles } from '../files/staging';
import { describeRow, entitiesByDumpModel, failImport, type DumpRowIndex } from './dump';

/** Stages copies of the media files of imported rows; they are published after the rows are committed. Throws if a file is missing in `sourceFolder`. */
export async function stageMedia(
  rows: DumpRowIndex,
  sourceFolder: string,
  media: Media,
  stagedFiles: StagedFiles,
  shouldReplaceExisting: boolean,
): Promise<void> {
  for (const [model, entity] of entitiesByDumpModel())
    for (const field of fieldsOf(entity).filter(({ kind }) => kind === 'image'))
      for await (const row of rows.rowsOf(model)) {
        const path = String(row.fields[field.restKey]);
        if (!isMediaPath(path))
          failImport(`${describeRow(row)}: ${field.restKey} is not a path in the media folder.`);
        const content = await readFile(join(sourceFolder, path)).catch(() =>
          failImport(`${describeRow(row)}: the file ${path} does not exist in ${sourceFolder}.`),
        );
        if (!shouldReplaceExisting && (await media.files.read(path))?.equals(content) === false)
          failImport(`${describeRow(row)}: a different file ${path} already exists.`);
        await stagedFiles.add(path, (localPath) => copyFile(join(sourceFolder, path), localPath));
      }
}
