/**
 * A proxy between a server and its database that simulates network faults: lost packets, delays and
 * resets.
 */
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import type { PoolConfig } from 'pg';

interface Pair {
  near: net.Socket;
  far: net.Socket;

  /** Drops bytes in both directions without closing either end. */
  silent: boolean;

  /**
   * What happens to the transaction of the connection: its COMMIT will be delivered, but not the
   * reply to it; or that COMMIT has been delivered.
   */
  lostCommit?: 'awaited' | 'delivered';
}

export class Proxy {
  private readonly pairs = new Set<Pair>();
  private frozen = false;
  private silent = false;
  private refusing = false;
  private latencyMs = 0;
  private statementOfLostCommit?: string;

  private constructor(
    private readonly server: net.Server,
    private target: PoolConfig,
  ) {
    server.on('connection', (near) => this.connect(near));
  }

  /** Starts a proxy for a PostgreSQL that listens on a Unix socket. */
  static async before(target: PoolConfig): Promise<Proxy> {
    const server = net.createServer();

    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Proxy(server, target);
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;

    return `postgres://${this.target.user}@127.0.0.1:${port}/${this.target.database}`;
  }

  /** Leads new connections to another PostgreSQL, and resets the existing ones. */
  leadTo(target: PoolConfig): void {
    this.target = target;
    this.cut();
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
        if (pair.silent) return;
        if (from === near) this.findLostCommit(pair, bytes);
        else if (pair.lostCommit === 'delivered') return this.reset(pair);
        if (this.latencyMs) setTimeout(() => to.write(bytes), this.latencyMs);
        else to.write(bytes);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        // A silent connection does not propagate its end either.
        if (pair.silent) return;
        to.destroy();
        this.pairs.delete(pair);
      });
    }

    if (this.frozen) for (const socket of [near, far]) socket.pause();
  }

  /** Delays all bytes until `thaw`. */
  freeze(): void {
    this.frozen = true;
    for (const { near, far } of this.pairs) for (const socket of [near, far]) socket.pause();
  }

  thaw(): void {
    this.frozen = false;
    for (const { near, far } of this.pairs) for (const socket of [near, far]) socket.resume();
  }

  /** Delivers all bytes with this delay until `heal`. */
  slow(latencyMs: number): void {
    this.latencyMs = latencyMs;
  }

  /** Drops all bytes, on existing connections and, with `all`, on new ones. */
  blackHole(which: 'all' | 'old' = 'all'): void {
    this.silent = which === 'all';
    for (const pair of this.pairs) pair.silent = true;
  }

  /** Resets every connection; with `refusing`, new ones too until `heal`. */
  cut(refusing = false): void {
    this.refusing = refusing;
    for (const pair of this.pairs) this.reset(pair);
  }

  private reset(pair: Pair): void {
    pair.near.resetAndDestroy();
    pair.far.destroy();
    this.pairs.delete(pair);
  }

  /**
   * Delivers the COMMIT of the next transaction with this statement to PostgreSQL, but resets the
   * connection instead of delivering the reply.
   */
  loseCommitReplyOf(statement: string): void {
    this.statementOfLostCommit = statement;
  }

  private findLostCommit(pair: Pair, bytes: Buffer): void {
    if (this.statementOfLostCommit !== undefined && bytes.includes(this.statementOfLostCommit)) {
      this.statementOfLostCommit = undefined;
      pair.lostCommit = 'awaited';
    }

    if (pair.lostCommit === 'awaited' && bytes.includes('COMMIT')) pair.lostCommit = 'delivered';
  }

  /** Lets new connections through. Silent connections stay silent. */
  heal(): void {
    this.latencyMs = 0;
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
