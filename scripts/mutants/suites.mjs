/** Runs Jest in the copy with the mutants, and finds out which tests reach which mutant. */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  chmodSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const REPORTER = fileURLToPath(new URL('reporter.mjs', import.meta.url));
const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

export class Suites {
  #runs = 0;

  /**
   * `places`: the files that the instrumented code reads and writes. `ignored`: names of tests that
   * fail without a mutant.
   */
  constructor({ folder, out, places, ignored = [] }) {
    Object.assign(this, { folder, out, places, ignored });
    const { runs, togetherIn } = createRequire(join(folder, 'package.json'))(
      join(folder, 'test/setup/test-files.js'),
    );

    this.runs = runs;
    this.togetherIn = togetherIn;
  }

  /**
   * Returns the test files of a suite: for a `suite.ts` those of its folder, otherwise the suite
   * itself.
   */
  filesOf(suite) {
    return basename(suite) === 'suite.ts'
      ? this.togetherIn(dirname(suite))
      : [suite.replace(/\.test\.ts$/, '')];
  }

  suiteOf(path) {
    return relative(join(this.folder, 'test'), path);
  }

  /**
   * Returns a map from mutant ids to a map from each suite that reaches the mutant to the test
   * files in it that do.
   */
  reached(run) {
    const found = new Map();

    const add = (id, suite, files) => {
      const suites = found.get(id) ?? found.set(id, new Map()).get(id);

      suites.set(suite, new Set([...(suites.get(suite) ?? []), ...files]));
    };

    for (const line of readFileSync(this.places.reached, 'utf8').split('\n').filter(Boolean)) {
      const [id, path, name] = JSON.parse(line);
      const suite = this.suiteOf(path);

      // The global setup reached it, so every suite counts.
      if (path === '') for (const each of this.runs[run]) add(id, each, this.filesOf(each));
      if (!this.runs[run].includes(suite)) continue;
      const files = this.filesOf(suite);
      const at = files.indexOf(name);

      // Code that is reached while files load may belong to any of them; in a hook between two
      // files, to either.
      add(id, suite, at < 0 ? files : files.slice(at, at + 2));
    }

    return found;
  }

  /**
   * Runs tests with the mutants `active`. `chosen` maps suites to the test files to run in each;
   * without it all run. `name` selects one test. Returns { code, seconds, failed: [{ failed, path,
   * message }], ended: [suite], expired }.
   */
  async run({ active, project, chosen, name, bail = true, workers = 1, seconds = 600 }) {
    const id = `${process.pid}-${(this.#runs += 1)}`;
    const [report, temporary] = [join(this.out, `report-${id}.jsonl`), join(this.out, `tmp-${id}`)];

    writeFileSync(report, '');
    writeFileSync(this.places.active, active.join(' '));
    writeFileSync(this.places.current, '');
    mkdirSync(temporary);
    chmodSync(temporary, 0o1777);
    const args = [
      '-n',
      '10',
      process.execPath,
      'node_modules/.bin/jest',
      '--config',
      'jest.together.config.js',
      '--selectProjects',
      project,
    ];

    args.push('--maxWorkers', String(workers), `--reporters=${REPORTER}`);
    if (name) args.push('-t', `^${escaped(name)}$`);
    else if (chosen) args.push(...this.#pattern(chosen));

    if (chosen) {
      args.push(
        '--runTestsByPath',
        ...[...chosen.keys()].map((suite) => join(this.folder, 'test', suite)),
      );
    }

    const log = openSync(join(this.out, 'jest.log'), 'w');
    const started = performance.now();
    const child = spawn('nice', args, {
      cwd: this.folder,
      detached: true,
      stdio: ['ignore', log, log],
      env: {
        ...process.env,
        TMPDIR: temporary,
        MUTANT_REPORT: report,
        MUTANT_CURRENT: this.places.current,
        MUTANT_IGNORED: JSON.stringify(this.ignored),
        ...(bail && { MUTANT_BAIL: '1' }),
      },
    });
    let expired = false;
    const timer = setTimeout(() => ((expired = true), end(child.pid)), seconds * 1000);
    const code = await new Promise((resolve) => child.once('exit', resolve));

    clearTimeout(timer);
    closeSync(log);
    end(child.pid);
    const lines = readFileSync(report, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));

    rmSync(report);
    for (let tries = 0; tries < 100 && isUsed(temporary); tries += 1) await sleep(100);
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
    return {
      code,
      expired,
      seconds: (performance.now() - started) / 1000,
      failed: lines.filter(({ failed }) => failed),
      ended: lines.filter(({ ended }) => ended).map(({ ended }) => this.suiteOf(ended)),
    };
  }

  /** Returns Jest options that skip the unwanted test files of the chosen suites. */
  #pattern(chosen) {
    const left = [...chosen].flatMap(([suite, files]) =>
      this.filesOf(suite).length > 1 ? this.filesOf(suite).filter((file) => !files.has(file)) : [],
    );

    return left.length > 0 ? ['-t', `^(?!(?:${left.map(escaped).join('|')}) )`] : [];
  }
}

function end(group) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // The process group has already ended.
  }
}

/**
 * Whether a process still uses the folder. The database of a killed run ends by itself, a moment
 * later.
 */
function isUsed(folder) {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}`)) return false;

    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${folder}/`);
    } catch {
      return false;
    }
  });
}
