/** Recursive creation of folders (`mkdir -p`). */
import fs from 'node:fs';
import path from 'node:path';

/**
 * Creates a folder and its missing parents with `mode`. Unlike `mkdirSync` with `recursive`, it
 * throws on file systems such as /proc instead of looping forever.
 */
export function createFolder(folder: string, mode?: number): void {
  if (fs.existsSync(folder)) return;
  createFolder(path.resolve(folder, '..'), mode);

  try {
    fs.mkdirSync(folder, { mode });
  } catch (error) {
    // Another process has created the folder in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
