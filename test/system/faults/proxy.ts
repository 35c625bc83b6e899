/** What stands between a server and its database, and fails as networks do: silently, suddenly, or for old connections only. */
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import type { PoolConfig } from 'pg';

interface Pair {
  near: net.Socket;
  far: net.Socket;
  /** Bytes are dropped, in both directions; neither end is told. */
  silent: boolean;
}

export class Proxy {
  private readonly pairs = new Set<Pair>();
  private frozen = false;
  private silent = false;
  private refusing = false;

  private constructor(
    private readonly server: net.Server,
    private readonly target: PoolConfig,
  ) {
    server.on('connection', (near) => this.connect(near));
  }

  /** Before a PostgreSQL that listens on a Unix socket. */
  static async before(target: PoolConfig): Promise<Proxy> {
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Proxy(server, target);
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `postgres://${this.target.user}@127.0.0.1:${port}/${this.target.database}`;
  }

  private connect(near: net.Socket): void {
    if (this.refusing) return void near.resetAndDestroy();
    const far = net.connect(`${this.target.host}/.s.PGSQL.${this.target.port}`);
    const pair: Pair = { near, far, silent: this.silent };
    this.pairs.add(pair);
    if (this.frozen) for (const socket of [near, far]) socket.pause();
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => {
        if (!pair.silent) to.write(bytes);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        // Of a connection that is silent nobody hears that it has ended either.
        if (pair.silent) return;
        to.destroy();
        this.pairs.delete(pair);
      });
    }
    if (this.frozen) for (const socket of [near, far]) socket.pause();
  }

  /** Nothing gets through until it thaws; then all of it does. */
  freeze(): void {
    this.frozen = true;
    for (const { near, far } of this.pairs) for (const socket of [near, far]) socket.pause();
  }

  thaw(): void {
    this.frozen = false;
    for (const { near, far } of this.pairs) for (const socket of [near, far]) socket.resume();
  }

  /** What is sent is lost: on all connections, and on those to come unless only the old ones are meant. */
  blackHole(which: 'all' | 'old' = 'all'): void {
    this.silent = which === 'all';
    for (const pair of this.pairs) pair.silent = true;
  }

  /** Every connection is reset; further ones too, until `heal`. */
  cut(refusing = false): void {
    this.refusing = refusing;
    for (const { near, far } of this.pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
    this.pairs.clear();
  }

  /** New connections get through. Those that had fallen silent stay so. */
  heal(): void {
    this.refusing = false;
    this.silent = false;
    this.thaw();
  }

  async close(): Promise<void> {
    this.silent = false;
    for (const pair of this.pairs) pair.silent = false;
    this.cut(true);
    await new Promise((resolve) => this.server.close(resolve));
  }
}
