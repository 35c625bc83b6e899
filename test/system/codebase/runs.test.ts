/** Every test is run by `npm test` or by `npm run test:system`, and by one of them only. */
import fs from 'node:fs';
import path from 'node:path';
import { scripts } from '../../../package.json';
import { runs, togetherIn } from '../../setup/runs';

const ROOT = path.join(__dirname, '../../..');
const TESTS = path.join(ROOT, 'test');

const files = (fs.readdirSync(TESTS, { recursive: true }) as string[])
  .filter((file) => file.endsWith('.ts'))
  .sort();

/** Returns the test files of a run; suites are resolved into their files. */
const filesOfRun = (run: keyof typeof runs) =>
  runs[run].flatMap((file) =>
    path.basename(file) === 'suite.ts'
      ? togetherIn(path.dirname(file)).map((name) => `${name}.test.ts`)
      : [file],
  );

/** Returns the test files that a file imports. */
const importsOf = (file: string) =>
  [...fs.readFileSync(path.join(TESTS, file), 'utf8').matchAll(/\bfrom '(\.[^']+)'/g)]
    .map(([, name]) => `${path.join(path.dirname(file), name!)}.ts`)
    .filter((name) => files.includes(name));

const importsAnyOf = (file: string, named: readonly string[]): boolean =>
  importsOf(file).some((imported) => named.includes(imported) || importsAnyOf(imported, named));

test('every test belongs to exactly one of the two runs', () => {
  expect([...filesOfRun('service'), ...filesOfRun('system')].sort()).toEqual(
    files.filter((file) => file.endsWith('.test.ts')),
  );
});

test('both runs have tests, and suites belong to `npm test`', () => {
  expect(runs.service).toContain('core/suite.ts');
  expect(runs.system).toContain('server/primary.test.ts');
  expect(runs.system.filter((file) => file.endsWith('suite.ts'))).toEqual([]);
});

test('tests that start a server process or a browser belong to the system tests', () => {
  const started = filesOfRun('service').filter((file) =>
    importsAnyOf(file, ['server/running.ts', 'system/browser/person.ts']),
  );
  expect(started).toEqual([]);
});

test('npm scripts, `check:all` and CI execute both runs', () => {
  const together = 'jest --config jest.together.config.js';
  expect(scripts.test).toContain(`jest --selectProjects service --config jest.together.config.js`);
  expect(scripts['test:system']).toContain(
    `jest --selectProjects system --config jest.together.config.js`,
  );
  expect(scripts['check:test'].endsWith(together)).toBe(true);
  expect(scripts['check:all']).toBe('npm run check && npm run check:test');
  const ci = fs.readFileSync(path.join(ROOT, '.ci/run'), 'utf8');
  expect(ci).toMatch(/^tests 'tests' npm test --$/m);
  // CI replays the contract in a separate step.
  const [, ignored] = /^tests 'system tests' npm run test:system -- (.*)$/m.exec(ci)!;
  expect(ignored).toBe(
    '--testPathIgnorePatterns=/node_modules/ --testPathIgnorePatterns=/test/system/contract/',
  );
  expect(runs.system.filter((file) => file.startsWith('system/contract/'))).toEqual([
    'system/contract/replay.test.ts',
  ]);
  expect(ci).toMatch(
    /^begin 'contract' [^\n]*node scripts\/contract\.mjs --contract "\$contract"$[^]*^finish 'contract'$/m,
  );
  for (const check of ['texts', 'schema', 'tables', 'breaking']) {
    expect(scripts.check).toContain(`npm run check:${check}`);
    expect(ci).toContain(`npm run --silent check:${check}`);
  }
});
