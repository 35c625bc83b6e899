/** Advisory locks: their keys are distinct and defined in one file. */
import fs from 'node:fs';
import path from 'node:path';
import { ADVISORY_LOCK_CLASSES, ADVISORY_LOCK_KEYS } from '../../src/database/advisory-locks';

const src = path.join(__dirname, '../../src');

/** Locks two random keys, to find out whether two connections reach the same server. */
const RANDOM = path.join('database', 'pooler.ts');

const callers = (fs.readdirSync(src, { recursive: true }) as string[])
  .filter((file) => /\.tsx?$/.test(file) && file !== RANDOM)
  .map((file) => ({ file, text: fs.readFileSync(path.join(src, file), 'utf8') }))
  .filter(({ text }) => /pg_(?:try_)?advisory_/.test(text));

test.each(Object.entries({ ADVISORY_LOCK_KEYS, ADVISORY_LOCK_CLASSES }))(
  '%s have distinct keys',
  (_name, keys) => {
    const numbers = Object.values(keys);

    expect(new Set(numbers).size).toBe(numbers.length);
  },
);

test('keys of released locks are unchanged, so that versions exclude each other during an upgrade', () => {
  expect(ADVISORY_LOCK_KEYS).toEqual({
    migration: 7_316_402,
    files: 7_316_403,
    restore: 7_316_404,
    embeddedOwner: 7_316_405,
    catalogue: 7_316_406,
    accounts: 7_316_407,
  });
  expect(ADVISORY_LOCK_CLASSES).toEqual({
    instance: 7_316_403,
    quota: 7_301,
    fileName: 7_302,
    contribution: 7_303,
  });
});

test('no other file defines lock keys', () => {
  expect(callers.length).toBeGreaterThan(5);

  for (const { file, text } of callers) {
    expect([
      file,
      /from '[./]*\/advisory-locks'|from '[./]*\/database\/advisory-locks'/.test(text),
    ]).toEqual([file, true]);
    expect([file, /pg_(?:try_)?advisory_\w+\(\s*(?:\d|hashtext)/.exec(text)]).toEqual([file, null]);
    expect([file, /\w*LOCK\s*=\s*\d/.exec(text)]).toEqual([file, null]);
  }
});
