/** Files that `scripts/build.mjs` builds for browsers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// The relative path differs between src/web (Jest) and dist/src/web (compiled).
export const BROWSER_FILES_FOLDER = join(
  __dirname,
  __filename.endsWith('.ts') ? '../../dist/browser' : '../../browser',
);

/** Reads a script that was built from `src/web/browser`. */
export const readBrowserScript = (name: string): string =>
  readFileSync(join(BROWSER_FILES_FOLDER, name), 'utf8');
