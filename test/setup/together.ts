/**
 * Runs several test files as one suite, so that what they all load, above all the schema, is loaded
 * and built only once.
 */
import path from 'node:path';
import { togetherIn } from './test-files';

const TESTS = path.join(__dirname, '..');

/** Runs the test files of the folder, except those with a process of their own. */
export function together(folder: string): void {
  for (const name of togetherIn(path.relative(TESTS, folder))) {
    describe(name, () => {
      try {
        // eslint-disable-next-line @typescript-eslint/no-require-imports -- a file becomes a part of this one
        require(path.join(TESTS, `${name}.test.ts`));
      } catch (error) {
        // The other files run nevertheless.
        test('can be loaded', () => {
          throw error;
        });
      }
    });
  }
}
