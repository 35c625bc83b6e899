/** The real server and its commands, as processes. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { childrenOf, processesOf, until } from '../database/processes';
import { Person } from '../setup/person';

const ROOT = path.join(__dirname, '../..');
const SERVER = path.join(ROOT, 'dist/src/index.js');
const COMMANDS = path.join(ROOT, 'dist/src/cli/index.js');

/** Only what is out of date is built. */
export function build(): void {
  const { status, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'scripts/build.mjs')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

type Environment = Record<string, string>;

const environment = (own: Environment): Environment => ({ PATH: process.env.PATH!, TMPDIR: os.tmpdir(), PORT: '0', ...own });

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end. */
export function run(program: 'server' | 'command', own: Environment, args: readonly string[] = [], input = ''): Promise<Ended> {
  const child = spawn(process.execPath, [program === 'server' ? SERVER : COMMANDS, ...args], { env: environment(own) });
  const ended = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (ended.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (ended.stderr += chunk.toString()));
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, ...ended })));
}

export class Installation {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-server-'));
  private readonly children: ChildProcess[] = [];

  constructor(private readonly environment: Environment = {}) {
    fs.chmodSync(this.folder, 0o755);
  }

  get dataDir(): string {
    return path.join(this.folder, 'data');
  }

  command(...args: string[]): Promise<Ended> {
    return run('command', { DATA_DIR: this.dataDir, ...this.environment }, args);
  }

  commandReading(input: string, ...args: string[]): Promise<Ended> {
    return run('command', { DATA_DIR: this.dataDir, ...this.environment }, args, input);
  }

  /** A running server; waits until it answers. */
  async start(own: Environment = {}): Promise<Server> {
    const child = spawn(process.execPath, [SERVER], { env: environment({ DATA_DIR: this.dataDir, ...this.environment, ...own }) });
    this.children.push(child);
    const server = new Server(child);
    await until('the server is ready or has ended', () => server.url !== '' || child.exitCode !== null);
    if (server.url === '') throw new Error(`the server has ended: ${server.stderr}`);
    return server;
  }

  /** The processes of its database that still run. */
  get processes(): number[] {
    return processesOf(this.folder);
  }

  /** Ends whatever still runs. */
  async end(): Promise<void> {
    for (const child of this.children) if (child.exitCode === null) child.kill('SIGKILL');
    await until('everything has ended', () => this.processes.length === 0);
  }

  async remove(): Promise<void> {
    await this.end();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

export class Server {
  stdout = '';
  stderr = '';
  readonly ended: Promise<number | null>;

  constructor(readonly process: ChildProcess) {
    process.stdout!.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    process.stderr!.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = new Promise((resolve) => process.once('exit', (status) => resolve(status)));
  }

  /** The processes that answer requests. */
  get workers(): number[] {
    return childrenOf(this.process.pid!, 'worker.js');
  }

  /** Empty until it is ready. */
  get url(): string {
    return /REST +(http:\S+)\/api\/v2\//.exec(this.stdout)?.[1] ?? '';
  }

  /** As the first start prints it. */
  get demo(): { username: string; password: string; token: string } {
    const [, username, password, token] = /User (\S+), password (\S+)\s+Authorization: Token (\S+)/.exec(this.stdout) ?? [];
    return { username: username!, password: password!, token: token! };
  }

  get anyone(): Person {
    return new Person(this.url);
  }

  signedIn(token: string): Person {
    return new Person(this.url, { id: 0, token });
  }
}
