/** pgbouncer processes in front of a test database. */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { readConfig } from '../../../src/shared/config';
import { openDatabase } from '../../../src/database/open';
import { createDatabase, SECRET_KEY } from '../../setup/databases';
import { until } from '../../setup/waits';

/** Finds a port that is currently free. */
async function freePort(): Promise<number> {
  const server = createServer();

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  await new Promise((resolve) => server.close(resolve));
  return port;
}

export class Poolers {
  private readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-pgbouncer-'));
  private readonly children: ChildProcess[] = [];

  private constructor(readonly directDatabase: Awaited<ReturnType<typeof createDatabase>>) {
    fs.chmodSync(this.folder, 0o755);
  }

  static async start(): Promise<Poolers> {
    return new Poolers(await createDatabase('catalogue'));
  }

  /** Starts a pgbouncer with these settings; returns a URL that connects through it. */
  async through(settings: string): Promise<string> {
    const { host, port, user, password, database } = this.directDatabase.connection;
    const listening = await freePort();
    const file = path.join(this.folder, `${listening}.ini`);
    const to = Object.entries({ host, port, user, password, dbname: database }).flatMap(
      ([name, value]) => (value ? [`${name}=${String(value)}`] : []),
    );
    const lines = [
      '[databases]',
      `fit = ${to.join(' ')}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${listening}`,
    ];

    fs.writeFileSync(
      file,
      [
        ...lines,
        'unix_socket_dir =',
        'auth_type = any',
        'admin_users = anybody',
        settings,
        '',
      ].join('\n'),
    );
    // pgbouncer refuses to run as root, and needs access to the socket.
    const { uid, gid } = fs.statSync(host!);
    const child = spawn(process.env.PGBOUNCER!, [file], {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(process.getuid!() === 0 && { uid, gid }),
    });

    this.children.push(child);
    let output = '';

    child.stderr!.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until('pgbouncer listens', () => {
      if (child.exitCode !== null) throw new Error(output);

      return output.includes('process up');
    });

    return `postgres://anybody@127.0.0.1:${listening}/fit`;
  }

  /** Sends a signal to a pgbouncer process. Processes are numbered in the order of their start. */
  signal(which: number, signal: NodeJS.Signals): void {
    this.children[which]!.kill(signal);
  }

  open(url: string, environment: Record<string, string> = {}) {
    const data = {
      DATA_DIR: path.join(this.folder, 'data'),
      SECRET_KEY,
      TIME_ZONE: 'Asia/Tokyo',
      STATEMENT_TIMEOUT: '7s',
    };

    return openDatabase(
      readConfig({ DATABASE_URL: url, ...data, ...environment }),
      () => undefined,
    );
  }

  async close(): Promise<void> {
    for (const child of this.children) child.kill('SIGKILL');
    await this.directDatabase.drop();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
