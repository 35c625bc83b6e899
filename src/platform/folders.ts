/** Recursive creation of folders (`mkdir -p`). */
import fs from 'node:fs';
import path from 'node:path';

/**
 * Creates a folder and its parents, unless they exist. `mode` applies to every created folder. Unlike `mkdirSync` with `recursive`, this throws on file
 * systems such as /proc instead of looping forever.
 */
export function createFolder(folder: string, mode?: number): void {
  if (fs.existsSync(folder)) return;
  createFolder(path.resolve(folder, '..'), mode);
  try {
    fs.mkdirSync(folder, { mode });
  } catch (error) {
    // Ignores EEXIST: another process has created the folder in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
