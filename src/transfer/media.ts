/** Staging of media files referenced by imported rows. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fieldsOf, type FieldMeta } from '../core/model/fields';
import type { Media } from '../files/media';
import { isMediaPath } from '../files/paths';
import { Staging } from '../files/staging';
import { describeRow, entitiesByModel, failImport, type DumpRow, type DumpRows } from './dump';

/** Copies the files to staging, to be published after the rows are committed. Throws if the source folder lacks one of them. */
export async function stageMedia(rows: DumpRows, from: string, media: Media, replace: boolean): Promise<Staging> {
  const models = entitiesByModel();
  const staging = new Staging(media);
  try {
    for (const [model, entity] of models)
      for (const field of fieldsOf(entity)) if (field.kind === 'image') for await (const row of rows.of(model)) await stage(row, field);
    return staging;
  } catch (error) {
    await staging.discard();
    throw error;
  }

  async function stage(row: DumpRow, field: FieldMeta): Promise<void> {
    const path = String(row.fields[field.rest]);
    if (!isMediaPath(path)) failImport(`${describeRow(row)}: ${field.rest} is not a path in the media folder.`);
    await access(join(from, path)).catch(() => failImport(`${describeRow(row)}: the file ${path} does not exist in ${from}.`));
    await staging.add(path, join(from, path));
    if (!replace && (await staging.wouldOverwrite(path))) failImport(`${describeRow(row)}: a different file ${path} already exists.`);
  }
}
