/** The version of this program, as its package says it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Built, this file lies one folder deeper below the package. */
function nearestPackage(folder: string): string {
  const file = join(folder, 'package.json');
  return existsSync(file) ? file : nearestPackage(dirname(folder));
}

export const VERSION = (JSON.parse(readFileSync(nearestPackage(__dirname), 'utf8')) as { version: string }).version;
