/** Several test files as one suite: what all of them load, the schema above all, is loaded and built once for all instead of for each. */
import path from 'node:path';
import { togetherIn } from './runs';

const TESTS = path.join(__dirname, '..');

/** Those of the folder, but for those that have a process of their own. */
export function together(folder: string): void {
  for (const name of togetherIn(path.relative(TESTS, folder)))
    describe(name, () => {
      try {
        // eslint-disable-next-line @typescript-eslint/no-require-imports -- a file becomes a part of this one
        require(path.join(TESTS, `${name}.test.ts`));
      } catch (error) {
        // The others run all the same.
        test('can be loaded', () => {
          throw error;
        });
      }
    });
}
