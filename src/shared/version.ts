/** The version of Fitgraph, from its package.json. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Finds the nearest package.json in a folder or its parents. Compiled files lie one folder deeper
 * than their sources.
 */
function findPackageFile(folder: string): string {
  const file = join(folder, 'package.json');

  return existsSync(file) ? file : findPackageFile(dirname(folder));
}

export const VERSION = (
  JSON.parse(readFileSync(findPackageFile(__dirname), 'utf8')) as { version: string }
).version;
