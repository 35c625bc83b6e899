/** Runs the built server and its commands as processes. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { processesOf, workersOf } from '../database/processes';
import { FOLDER } from './shared-server';
import { Person } from './person';
import { until } from './waits';

const ROOT = path.join(__dirname, '../..');
const PROGRAMS = { server: 'dist/src/index.js', command: 'dist/src/cli/index.js' };

export const SERVER = path.join(ROOT, PROGRAMS.server);

/** Builds the server if the build is out of date. */
export function build(): void {
  const { status, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'scripts/build.mjs')], {
    encoding: 'utf8',
  });

  if (status !== 0) throw new Error(stderr);
}

type Environment = Record<string, string>;

/**
 * Returns environment variables with defaults. By default, admission control is off and the primary
 * waits a minute for a worker, because on a busy machine they would shed requests and kill workers
 * that merely wait for the processor or for the disk.
 */
const environment = (own: Environment): Environment => ({
  PATH: process.env.PATH!,
  ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
  TMPDIR: os.tmpdir(),
  PORT: '0',
  MAX_LAG: 'off',
  WORKER_TIMEOUT: '1min',
  ...own,
});

/** The default of WORKER_TIMEOUT, for tests of what happens to a worker that hangs. */
export const DEFAULT_WORKER_TIMEOUT = { WORKER_TIMEOUT: '5s' };

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program of the build in `root` and waits for its end. */
export function run(
  program: keyof typeof PROGRAMS,
  own: Environment,
  args: readonly string[] = [],
  input = '',
  root = ROOT,
): Promise<Ended> {
  const child = spawn(process.execPath, [path.join(root, PROGRAMS[program]), ...args], {
    env: environment(own),
  });
  const ended = { stdout: '', stderr: '' };

  child.stdout.on('data', (chunk: Buffer) => (ended.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (ended.stderr += chunk.toString()));
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, ...ended })));
}

interface Account {
  username: string;
  password: string;
  token: string;
}

export class Installation {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-server-'));
  private readonly children: ChildProcess[] = [];
  private readonly servers: Server[] = [];
  private demo?: Account;

  /**
   * Creates an installation without data. `root` is the folder of the repository whose build is
   * used.
   */
  constructor(
    private readonly environment: Environment = {},
    private readonly root = ROOT,
  ) {
    fs.chmodSync(this.folder, 0o755);
  }

  /**
   * Creates an installation with a copy of the data of a first start, which takes place once per
   * test run.
   */
  static async started(environment?: Environment): Promise<Installation> {
    const { data, demo } = await firstStart();
    const installation = new Installation(environment);

    // `-a` preserves the owner of PostgreSQL's files.
    execFileSync('cp', ['-a', data, installation.dataDir]);
    installation.demo = demo;
    return installation;
  }

  get dataDir(): string {
    return path.join(this.folder, 'data');
  }

  command(...args: string[]): Promise<Ended> {
    return this.commandReading('', ...args);
  }

  commandReading(input: string, ...args: string[]): Promise<Ended> {
    return run('command', { DATA_DIR: this.dataDir, ...this.environment }, args, input, this.root);
  }

  /** Starts a server and waits until it is ready. */
  async start(own: Environment = {}): Promise<Server> {
    const program = path.join(this.root, PROGRAMS.server);
    const child = spawn(process.execPath, [program], {
      env: environment({ DATA_DIR: this.dataDir, ...this.environment, ...own }),
    });

    this.children.push(child);
    const server = new Server(child, this.demo);

    this.servers.push(server);
    await until(
      'the server is ready or has ended',
      () => server.url !== '' || child.exitCode !== null,
    );
    if (server.url === '') throw new Error(`the server has ended: ${server.stderr}`);

    return server;
  }

  /** Process ids of its database that still run. */
  get processes(): number[] {
    return processesOf(this.folder);
  }

  /** Process ids of the workers that answer requests or are starting. */
  get workers(): number[] {
    return this.children.flatMap(({ pid }) => workersOf(pid!));
  }

  /** Kills all processes that still run. */
  async end(): Promise<void> {
    for (const child of this.children) if (child.exitCode === null) child.kill('SIGKILL');
    await until('everything has ended', () => this.processes.length === 0);
  }

  /**
   * Ends all processes and deletes the folder. Throws if Node has printed a warning, such as about
   * leaked listeners, deprecated functions or unhandled rejections. Ignores the warning of the AWS
   * SDK about the version of Node.
   */
  async remove(): Promise<void> {
    await this.end();
    // Asynchronous, because a blocked event loop would not notice that the server closes idle
    // connections, and would send the next request over one.
    await fs.promises.rm(this.folder, { recursive: true, force: true });
    const warnings = this.servers.flatMap(
      ({ stderr }) =>
        stderr.match(/^\(node:\d+\) (?!Warning: NodeVersionSupportWarning).*/gm) ?? [],
    );

    if (warnings.length > 0) throw new Error(warnings.join('\n'));
  }
}

/**
 * Returns the data of a first start. The first test process that needs the data creates them; the
 * others wait.
 */
async function firstStart(): Promise<{ data: string; demo: Account }> {
  const place = path.join(process.env[FOLDER]!, 'started');
  const [data, account] = [path.join(place, 'data'), path.join(place, 'demo.json')];

  try {
    fs.mkdirSync(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await until('there is a demo account to copy', () => fs.existsSync(account));
    return { data, demo: JSON.parse(fs.readFileSync(account, 'utf8')) as Account };
  }

  const installation = new Installation();

  try {
    const server = await installation.start({ WEB_CONCURRENCY: '0' });
    const { demo } = server;

    server.process.kill('SIGTERM');
    await server.ended;
    await until('the database has ended', () => installation.processes.length === 0);
    fs.mkdirSync(data);

    for (const name of ['postgres', 'secret-key', 'media']) {
      execFileSync('cp', ['-a', path.join(installation.dataDir, name), data]);
    }

    // Renamed last, so that the file is complete when it appears.
    fs.writeFileSync(`${account}.part`, JSON.stringify(demo));
    fs.renameSync(`${account}.part`, account);
    return { data, demo };
  } catch (error) {
    fs.rmSync(place, { recursive: true, force: true });
    throw error;
  } finally {
    await installation.remove();
  }
}

export class Server {
  stdout = '';
  stderr = '';
  readonly ended: Promise<number | null>;

  constructor(
    readonly process: ChildProcess,
    private readonly made?: Account,
  ) {
    process.stdout!.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    process.stderr!.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = new Promise((resolve) => process.once('exit', (status) => resolve(status)));
  }

  /** Process ids of the workers. */
  get workers(): number[] {
    return workersOf(this.process.pid!);
  }

  /** URL that the server has printed or, in production, logged. Empty until the server is ready. */
  get url(): string {
    const [, banner, logged] =
      /REST +(http:\S+)\/api\/v2\/|"url":"(http:[^"]+)","msg":"ready"/.exec(this.stdout) ?? [];

    return banner ?? logged ?? '';
  }

  /** The demo account that the first start created. */
  get demo(): Account {
    if (this.made) return this.made;
    const [, username, password, token] =
      /User (\S+), password (\S+)\s+Authorization: Token (\S+)/.exec(this.stdout) ?? [];

    return { username: username!, password: password!, token: token! };
  }

  private readonly lastOutput = (): string => this.stdout.slice(-2_000) + this.stderr.slice(-2_000);

  get anonymous(): Person {
    return new Person(this.url, undefined, {}, this.lastOutput);
  }

  signedIn(token: string): Person {
    return new Person(this.url, { id: 0, token }, {}, this.lastOutput);
  }
}
