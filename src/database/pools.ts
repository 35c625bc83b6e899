/** Connection pools by kind of client. */
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import type { ConnectionOptions, Pooling } from './options';
import { KEEP_ALIVE, type CircuitBreaker } from './circuitbreaker';
import type { ReplicaOptions } from './replica';
import { ObservedClient } from './observedclient';
import { poolerSafeSettings, setStatements, startupOptions, type ConnectionLimits } from './settings';
import { getTypeParser } from './types';
import type { SessionUsers } from './sessionuser';

export const CONNECTION_TIMEOUT_MS = 3_000;

/** For the server itself, never used by requests. */
const OWN_CONNECTIONS = 4;

/** Direct connections for work that needs a session, behind a transaction pooler. */
const SESSION_CONNECTIONS = 4;

/** Pool sizes derived from `poolSize`; `live` is added to the pool of signed-in users for subscriptions. */
export const poolSizes = (poolSize: number) => ({ writes: Math.max(2, Math.ceil(poolSize / 2)), live: Math.ceil(poolSize / 4) });

/** Maximum number of connections of a worker, including the one that listens for notifications. */
export function connectionsOf(poolSize: number): number {
  const { writes, live } = poolSizes(poolSize);
  return 2 * poolSize + live + writes + OWN_CONNECTIONS + 1;
}

/** SET statements for a connection behind a pooler, which drops startup parameters. */
export function settingsBehindPooler(pooling: Pooling | undefined, limits: ConnectionLimits, timeout: number): string | undefined {
  if (pooling === undefined) return undefined;
  return pooling === 'session' ? setStatements(limits, timeout) : poolerSafeSettings(limits);
}

/** Runs the first statements of a new connection. */
export async function runFirstStatements(client: PoolClient, firstStatements: readonly (string | undefined)[]): Promise<void> {
  const text = firstStatements.filter(Boolean).join('; ');
  if (text) await client.query(text);
}

export class Pools {
  /** Of the server itself; row-level security does not apply. */
  readonly own: Pool;
  readonly users: Pool;
  /** For anonymous clients, with a shorter statement timeout. */
  readonly anonymous: Pool;
  readonly writes: Pool;
  /** Connections with a session of their own. */
  readonly sessions: Pool;

  constructor(
    private readonly options: ConnectionOptions,
    private readonly breaker: CircuitBreaker,
    viewers: SessionUsers,
  ) {
    const { writes, live } = poolSizes(options.poolSize);
    const { direct, poolSize, statementTimeout = 0, anonymousTimeout = statementTimeout } = options;
    this.own = this.poolFor(OWN_CONNECTIONS, statementTimeout);
    this.users = this.poolFor(poolSize + live, statementTimeout, viewers);
    this.anonymous = this.poolFor(poolSize, anonymousTimeout, viewers);
    this.writes = this.poolFor(writes, statementTimeout, viewers);
    this.sessions = direct
      ? this.createPool(direct, SESSION_CONNECTIONS, statementTimeout, () => [setStatements(options, statementTimeout)])
      : this.own;
  }

  /** For the read replica; one connection more for monitoring its lag. */
  ofReplica({ connection }: ReplicaOptions, breaker: CircuitBreaker, viewers: SessionUsers): Pool {
    const { poolSize, anonymousTimeout = this.options.statementTimeout ?? 0 } = this.options;
    return this.createPool(connection, poolSize + 1, anonymousTimeout, () => [viewers.first], breaker);
  }

  private poolFor(max: number, timeout: number, viewers?: SessionUsers): Pool {
    const { options } = this;
    const firstStatements = settingsBehindPooler(options.pooling, options, timeout);
    return this.createPool(options.connection, max, timeout, () => [firstStatements, viewers?.first]);
  }

  private createPool(
    connection: PoolConfig,
    max: number,
    timeout: number,
    firstStatements: () => readonly (string | undefined)[],
    breaker = this.breaker,
  ): Pool {
    const pool = new Pool({
      ...connection,
      ...KEEP_ALIVE,
      Client: ObservedClient,
      max,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      options: startupOptions(this.options, timeout),
      types: { getTypeParser },
      application_name: 'fitgraph',
      verify: (client: PoolClient, done: (error?: Error) => void) =>
        void runFirstStatements(client, firstStatements()).then(() => done(), done),
    } as PoolConfig);
    // The pool replaces lost idle connections; a request that cannot get one reports the failure.
    pool.on('error', () => undefined);
    // The pool removes a connection that is ending, and opens another one.
    pool.on('release', (_error, client) => void ((client as unknown as ObservedClient).isReadOnly && client.end().catch(() => undefined)));
    pool.on('connect', (client) => {
      // The running query reports the loss; without a listener the error event would be uncaught.
      client.on('error', () => undefined);
      breaker.watch(client, timeout);
    });
    return pool;
  }

  async end(): Promise<void> {
    const pools = new Set([this.own, this.users, this.anonymous, this.writes, this.sessions]);
    await Promise.all([...pools].map((pool) => pool.end()));
  }
}
