import fs from 'node:fs';
import path from 'node:path';

/**
 * Makes a folder and those above it that are missing. Node's own `recursive` never ends on a file system that answers ENOENT to whatever is made in a
 * folder that is there, as /proc does; this throws.
 */
export function makeFolder(folder: string, mode?: number): void {
  if (fs.existsSync(folder)) return;
  makeFolder(path.resolve(folder, '..'), mode);
  try {
    fs.mkdirSync(folder, { mode });
  } catch (error) {
    // Another process has made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
