/** Several test files as one suite: what all of them load, the schema above all, is loaded and built once for all instead of for each. */
import fs from 'node:fs';
import path from 'node:path';
import ALONE from './alone.json';

const TESTS = path.join(__dirname, '..');
const ENDING = '.test.ts';
/** The longest that any of them asks for: the last one to ask decides for all. */
const TIMEOUT_MS = 180_000;

/** Those of the folder, but for those that have a process of their own. */
export function together(folder: string): void {
  const files = fs
    .readdirSync(folder)
    .filter((file) => file.endsWith(ENDING))
    .map((file) => path.join(folder, file.slice(0, -ENDING.length)))
    .filter((file) => !ALONE.includes(path.relative(TESTS, file)));
  for (const file of files)
    describe(path.relative(TESTS, file), () => {
      try {
        // eslint-disable-next-line @typescript-eslint/no-require-imports -- a file becomes a part of this one
        require(`${file}${ENDING}`);
      } catch (error) {
        // The others run all the same.
        test('can be loaded', () => {
          throw error;
        });
      }
    });
  jest.setTimeout(TIMEOUT_MS);
}
