/**
 * What to do where PostgreSQL gives fewer connections than there should be: those that there are do the work. Each pool is content with what it has
 * for a while, and one that has none gets one of those that have several.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';

/** So long nobody asks for more than there are. */
const CONTENT_MS = 5_000;
/** Where nobody has one to give, it is asked for again and again. */
const AGAIN_MS = 100;
/** So long PostgreSQL takes to notice that a connection is free. */
const NOTICED_WITHIN_MS = 50;
/** So long a statement or a transaction tries. */
export const PATIENCE_MS = 2_000;

interface Share {
  /** Connections that are made; pg counts those too that are being made. */
  connected: number;
  /** How many there should be. */
  readonly wanted: number;
  readonly role: Role;
}

interface Role {
  /** Serves instead of this one where it must. */
  other?: Pool;
  /** What it does may take long: it makes do with what it has only where it is refused itself. */
  isOwn?: boolean;
}

export class Scarcity {
  private readonly shares = new Map<Pool, Share>();
  private content?: NodeJS.Timeout;
  private giving?: Promise<boolean>;

  /** To be told of every pool that takes its connections from the same PostgreSQL, before it has any. */
  watch(pool: Pool, role: Role): void {
    const share: Share = { connected: 0, wanted: pool.options.max, role };
    pool.on('connect', () => (share.connected += 1));
    pool.on('remove', () => (share.connected -= 1));
    this.shares.set(pool, share);
  }

  private has(pool: Pool): number {
    return this.shares.get(pool)!.connected;
  }

  /** PostgreSQL has refused a connection to `pool`: answers where to ask again, once that is worth while. */
  async after(pool: Pool): Promise<Pool> {
    this.makeDo(pool);
    if (this.has(pool)) return pool;
    this.giving ??= this.give(pool).finally(() => (this.giving = undefined));
    if (await this.giving) return pool;
    const { other } = this.shares.get(pool)!.role;
    if (other && this.has(other)) return other;
    await sleep(AGAIN_MS);
    return pool;
  }

  /** For a while those that come wait for one of the connections that there are. */
  private makeDo(refused: Pool): void {
    for (const [pool, { connected, role }] of this.shares) if (pool === refused || !role.isOwn) pool.options.max = Math.max(1, connected);
    this.content ??= setTimeout(() => {
      this.content = undefined;
      for (const [pool, { wanted }] of this.shares) pool.options.max = wanted;
    }, CONTENT_MS).unref();
  }

  /** Whether it has one that others need more. */
  private canSpare(pool: Pool, { connected, role: { other, isOwn } }: Share, to: Pool): boolean {
    if (pool === to || (isOwn && !pool.idleCount)) return false;
    return connected > 1 || (connected === 1 && other !== undefined && other !== to && this.has(other) > 0);
  }

  /** Ends a connection of a pool that has several, one that nobody uses if there is any; answers whether it did. */
  private async give(to: Pool): Promise<boolean> {
    const rich = [...this.shares].filter(([pool, share]) => this.canSpare(pool, share, to));
    const [richest] = rich.sort(([a, x], [b, y]) => b.idleCount - a.idleCount || y.connected - x.connected);
    if (!richest) return false;
    const [pool, { connected }] = richest;
    pool.options.max = Math.max(1, connected - 1);
    const given = await pool.connect().then(
      (client) => (client.release(true), true),
      () => false,
    );
    if (given) await sleep(NOTICED_WITHIN_MS);
    return given;
  }
}
