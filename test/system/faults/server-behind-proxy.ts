/**
 * A server with a proxy in front of its database, a user with a token, and the evaluation of their
 * traffic.
 */
import type { PoolConfig } from 'pg';
import { createUser, getOrCreateApiKey } from '../../../src/accounts/accounts';
import { TokenVault } from '../../../src/accounts/tokens';
import type { Database } from '../../../src/database/connection';
import { build, Installation, type Server } from '../../setup/server-process';
import { createDatabase, open, SECRET_KEY } from '../../setup/databases';
import { Proxy } from './proxy';
import { Traffic, type Verdict } from './traffic';

const STATEMENT_TIMEOUT_MS = 3_000;

/** Time after the timeout of a statement until its connection counts as dead. */
const ANSWER_TIMEOUT_MS = 1_000;

/** The longest time for which a write waits until others have ended. */
const WRITE_QUEUE_MS = 6_000;

/** The longest allowed response time, without scheduling delays. */
export const LONGEST_SILENCE_MS = STATEMENT_TIMEOUT_MS + ANSWER_TIMEOUT_MS + WRITE_QUEUE_MS + 1_000;

/** The longest time for which the key of an interrupted write may stay claimed. */
export const LONGEST_CLAIM_MS = 5_000;

/** Prints a verdict and checks it. */
export function checkVerdict(
  what: string,
  { withoutRetryAfter, lost, doubled, withoutResponse, silenceMs, heldMs, ...counted }: Verdict,
): void {
  const outcomes = Object.entries(counted.outcomes).map(([name, count]) => `${count} × ${name}`);

  process.stdout.write(
    `${what}: ${counted.requests} requests (${outcomes.join(', ')}); 5xx without Retry-After ${withoutRetryAfter.length}; acknowledged writes ` +
      `${counted.acknowledged}, of which lost ${lost.length}, doubled ${doubled.length}, without a stored response ${withoutResponse.length}; longest silence ${(silenceMs / 1000).toFixed(1)} s, ` +
      `longest claim of a key ${(heldMs / 1000).toFixed(1)} s\n`,
  );
  expect({ unpromising: withoutRetryAfter, lost, doubled, unheard: withoutResponse }).toEqual({
    unpromising: [],
    lost: [],
    doubled: [],
    unheard: [],
  });
  expect(heldMs).toBeLessThanOrEqual(LONGEST_CLAIM_MS);
  expect(silenceMs).toBeLessThanOrEqual(LONGEST_SILENCE_MS);
}

export class Scene {
  private constructor(
    private readonly ownDatabase: Awaited<ReturnType<typeof createDatabase>>,

    /** A direct connection, without the proxy. */
    readonly database: Database,
    readonly proxy: Proxy,
    private readonly installation: Installation,
    readonly server: Server,
    readonly token: string,
  ) {}

  static async open(environment: Record<string, string> = {}): Promise<Scene> {
    build();
    const ownDatabase = await createDatabase('catalogue');
    const database = open(ownDatabase.connection);
    const session = database.createSession();
    const id = await createUser({ username: 'ann', password: 'a good password' }, session);
    const token = await getOrCreateApiKey(id, session, new TokenVault(SECRET_KEY));
    const proxy = await Proxy.before(ownDatabase.connection);
    const settings = {
      SECRET_KEY,
      BUDGET: 'off',
      STATEMENT_TIMEOUT: `${STATEMENT_TIMEOUT_MS}ms`,
    };
    const installation = new Installation({ DATABASE_URL: proxy.url, ...settings, ...environment });

    return new Scene(ownDatabase, database, proxy, installation, await installation.start(), token);
  }

  get connection(): PoolConfig {
    return this.ownDatabase.connection;
  }

  /** The owner of the database. */
  get user(): string {
    return String(this.connection.user);
  }

  /** Starts another server, which connects by the given role. */
  another(role: string): Promise<Server> {
    return this.installation.start({
      DATABASE_URL: this.proxy.url.replace(`${this.user}@`, `${role}@`),
    });
  }

  traffic(): Traffic {
    return new Traffic(this.server, this.token);
  }

  async endAndCheck(what: string, traffic: Traffic): Promise<void> {
    checkVerdict(what, await traffic.end(() => this.comments()));
  }

  async comments(): Promise<string[]> {
    return (await this.database.pool.query('SELECT "comment" FROM "workout"')).rows.map(
      ({ comment }) => comment as string,
    );
  }

  async close(): Promise<void> {
    await this.installation.remove();
    await this.proxy.close();
    await this.database.close();
    await this.ownDatabase.drop();
  }
}
