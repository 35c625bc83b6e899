/**
 * For the tests of the embedded database: child processes that open it, and functions that inspect
 * processes.
 *
 * The children are plain Node processes. They run the launcher, transpiled into a temporary
 * directory, so that they can be killed and run as another user without the test runner in between.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { transformSync } from '@swc/core';

const SOURCE = path.resolve(__dirname, '../../src');

export const MODULES = path.resolve(__dirname, '../../node_modules');

/**
 * Program of a child process. It reads commands, one JSON line each, and answers each with one
 * line. It exits at the end of its input.
 */
const CHILD = `
const { Client } = require('pg');
const { openEmbeddedDatabase } = require('./database/embedded.js');
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
let embedded;
const commands = {
  async open({ dataDir }) {
    embedded = await openEmbeddedDatabase({ dataDir, shouldRestart: true, log: (logged) => say({ logged }) });
    return { connection: embedded.connection, joined: embedded.isStartedByOtherProcess };
  },
  async query({ sql }) {
    const client = new Client(embedded.connection);
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return { rows };
  },
  async release() {
    await embedded.release();
    return {};
  },
};
require('readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { command, ...options } = JSON.parse(line);
  try { say(await commands[command](options)); } catch (error) { say({ error: error.message }); }
});
say({});
`;

interface Answer {
  error?: string;
  logged?: string;
  joined?: boolean;
  connection?: { host: string; port: number; user: string; database: string };
  rows?: Record<string, unknown>[];
}

export interface Child {
  process: ChildProcess;
  logged: string[];
  open(dataDir: string): Promise<Answer>;
  query(sql: string): Promise<Record<string, unknown>[]>;
  release(): Promise<Answer>;

  /** Ends the child with the signal or, without one, by closing its input. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Entry points of the launcher: its main module and the programs that it runs as processes. */
const ENTRY_POINTS = [
  'database/embedded.ts',
  ...fs
    .readdirSync(path.join(SOURCE, 'database/embedded'))
    .map((name) => `database/embedded/${name}`),
];

/** Returns the files and all modules that they import by value, directly or indirectly. */
function withImports(files: readonly string[], found = new Set<string>()): Set<string> {
  for (const file of files.filter((one) => !found.has(one))) {
    found.add(file);
    const text = fs.readFileSync(path.join(SOURCE, file), 'utf8');
    const specifiers = [
      ...text.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']*)'/gm),
    ].map(([, specifier]) => specifier!);

    withImports(
      specifiers.map((specifier) => `${path.join(path.dirname(file), specifier)}.ts`),
      found,
    );
  }

  return found;
}

/** Transpiles the launcher; returns its directory. */
export function buildLauncher(): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-launcher-'));

  fs.chmodSync(dir, 0o755);

  for (const file of withImports(ENTRY_POINTS)) {
    const { code } = transformSync(fs.readFileSync(path.join(SOURCE, file), 'utf8'), {
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'commonjs' },
    });

    fs.mkdirSync(path.join(dir, path.dirname(file)), { recursive: true });
    fs.writeFileSync(path.join(dir, file.replace(/ts$/, 'js')), code);
  }

  fs.writeFileSync(path.join(dir, 'child.js'), CHILD);
  return dir;
}

/** Command that runs a program with its own process ids and shared memory, as a container does. */
export const CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '--ipc'];

export async function startChild(
  launcher: string,
  options: { uid?: number; gid?: number; modules?: string; contained?: boolean } = {},
): Promise<Child> {
  const program = [process.execPath, path.join(launcher, 'child.js')];

  if (options.contained) program.unshift(...CONTAINER);
  const child = spawn(program[0]!, program.slice(1), {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      TMPDIR: os.tmpdir(),
      NODE_PATH: [options.modules, MODULES].filter(Boolean).join(':'),
    },
    uid: options.uid,
    gid: options.gid,
  });
  const logged: string[] = [];
  const waiting: ((answer: Answer) => void)[] = [];

  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer;

    if (answer.logged !== undefined) logged.push(answer.logged);
    else waiting.shift()?.(answer);
  });
  const ended = { error: 'the child has ended' };

  child.once('exit', () => waiting.splice(0).forEach((resolve) => resolve(ended)));
  const next = (): Promise<Answer> =>
    new Promise((resolve) => {
      if (child.exitCode === null && child.signalCode === null) waiting.push(resolve);
      else resolve(ended);
    });

  const ask = (command: string, more: object = {}): Promise<Answer> => {
    const answer = next();

    child.stdin.write(`${JSON.stringify({ command, ...more })}\n`);
    return answer;
  };

  await next();
  return {
    process: child,
    logged,
    open: (dataDir) => ask('open', { dataDir }),
    query: async (sql) => {
      const { rows, error } = await ask('query', { sql });

      if (error) throw new Error(error);

      return rows ?? [];
    },
    release: () => ask('release'),
    end: (signal) =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
        child.once('exit', (status) => resolve(status));
        if (signal) child.kill(signal);
        else child.stdin.end();
      }),
  };
}

/**
 * Returns the ids of the processes, except this one, whose command line or working directory
 * contains the directory.
 */
export function processesOf(dir: string): number[] {
  return fs.readdirSync('/proc').flatMap((name) => {
    try {
      if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
      const commandLineAndFolder =
        fs.readFileSync(`/proc/${name}/cmdline`, 'utf8') + fs.readlinkSync(`/proc/${name}/cwd`);

      return commandLineAndFolder.includes(dir) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** Returns the ids of the child processes that were started with a file of this name. */
export function childrenOf(parent: number, name: string): number[] {
  return childrenWhose(parent, (commandLine) => commandLine.includes(`/${name}\0`));
}

/** Returns the process ids of a primary's workers that answer requests or are starting. */
export const workersOf = (primary: number): number[] =>
  childrenWhose(
    primary,
    (line) => line.startsWith('fitgraph worker') || line.includes('/worker.js\0'),
  );

function childrenWhose(parent: number, isWanted: (commandLine: string) => boolean): number[] {
  return fs.readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid)) return [];
      const [, ppid] = /^\d+ \(.*\) \S (\d+)/s.exec(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))!;

      return Number(ppid) === parent && isWanted(fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
        ? [Number(pid)]
        : [];
    } catch {
      return [];
    }
  });
}

export function isRunning(pid: number): boolean {
  try {
    // A zombie process has ended.
    return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

export const serverPid = (cluster: string): number =>
  Number.parseInt(
    fs.readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0] ?? '',
    10,
  );

/**
 * Reads the status in PostgreSQL's lock file: `starting`, `ready` or `stopping`; undefined without
 * a server.
 */
export function serverStatus(cluster: string): string | undefined {
  const file = path.join(cluster, 'postmaster.pid');

  try {
    return fs.readFileSync(file, 'utf8').split('\n')[7]?.trim();
  } catch {
    return undefined;
  }
}

/**
 * Returns the process id of the server; undefined while no server runs or its process id is not
 * written yet.
 */
export function serverPidIfAny(cluster: string): number | undefined {
  try {
    return serverPid(cluster) || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
