/** The files that imported rows name. */
import { access, copyFile, mkdir } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fieldsOf } from '../core/fields';
import { at, byModel, fail, type DumpRow } from './dump';

/** Copies them; the folder must hold them all. */
export async function copyMedia(rows: readonly DumpRow[], from: string, to: string): Promise<number> {
  const models = byModel();
  let copied = 0;
  for (const row of rows) {
    const entity = models.get(row.model);
    for (const field of entity ? fieldsOf(entity) : []) {
      if (field.kind !== 'image') continue;
      const path = normalize(String(row.fields[field.rest]));
      if (path.startsWith('..') || path.startsWith('/')) fail(`${at(row)}: ${field.rest} leads out of the media folder.`);
      await access(join(from, path)).catch(() => fail(`${at(row)}: there is no file ${path} in ${from}.`));
      await mkdir(dirname(join(to, path)), { recursive: true });
      await copyFile(join(from, path), join(to, path));
      copied += 1;
    }
  }
  return copied;
}
