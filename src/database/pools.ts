/** Connections, by who needs them. */
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import type { ConnectionOptions, Pooling } from './options';
import { KEEP_ALIVE, type Pulse } from './pulse';
import type { ReplicaOptions } from './replica';
import { keptByPoolers, settingOf, settingsOf, type Limits } from './settings';
import { getTypeParser } from './types';
import type { Viewers } from './viewers';

/** Longer than this nobody waits for a connection to be made. */
export const CONNECTION_TIMEOUT_MS = 3_000;

/** Of the server itself, which no request takes. */
const OWN_CONNECTIONS = 4;

/** For work that needs a session, where those are other connections than the rest. */
const SESSIONS = 4;

/** Sizes of the other pools, by that of strangers' reads and of users'. `live`: what users have besides, for what stays open. */
export const poolSizes = (poolSize: number) => ({ writes: Math.max(2, Math.ceil(poolSize / 2)), live: Math.ceil(poolSize / 4) });

/** How many connections a worker may have, one of them to hear of changes. */
export function connectionsOf(poolSize: number): number {
  const { writes, live } = poolSizes(poolSize);
  return 2 * poolSize + live + writes + OWN_CONNECTIONS + 1;
}

/** What a connection behind a pooler is told by statements, because the pooler drops what it asks for when it is made. */
export function toldBehind(pooling: Pooling | undefined, limits: Limits, timeout: number): string | undefined {
  if (pooling === undefined) return undefined;
  return pooling === 'session' ? settingOf(limits, timeout) : keptByPoolers(limits);
}

/** Tells a connection what it has to know before it is used for anything. */
export async function first(client: PoolClient, told: readonly (string | undefined)[]): Promise<void> {
  const text = told.filter(Boolean).join('; ');
  if (text) await client.query(text);
}

export class Pools {
  /** Of the server itself, to which PostgreSQL shows everything. */
  readonly own: Pool;
  readonly users: Pool;
  /** Their connections have a shorter timeout of their own. */
  readonly strangers: Pool;
  readonly writes: Pool;
  /** Whose connections keep what they are told. */
  readonly sessions: Pool;

  constructor(
    private readonly options: ConnectionOptions,
    private readonly pulse: Pulse,
    viewers: Viewers,
  ) {
    const { writes, live } = poolSizes(options.poolSize);
    const { direct, poolSize, statementTimeout = 0, anonymousTimeout = statementTimeout } = options;
    this.own = this.pool(OWN_CONNECTIONS, statementTimeout);
    this.users = this.pool(poolSize + live, statementTimeout, viewers);
    this.strangers = this.pool(poolSize, anonymousTimeout, viewers);
    this.writes = this.pool(writes, statementTimeout, viewers);
    this.sessions = direct ? this.make(direct, SESSIONS, statementTimeout, () => [settingOf(options, statementTimeout)]) : this.own;
  }

  /** Of a standby, for strangers, and for whoever looks how far it is. */
  ofReplica({ connection }: ReplicaOptions, pulse: Pulse, viewers: Viewers): Pool {
    const { poolSize, anonymousTimeout = this.options.statementTimeout ?? 0 } = this.options;
    return this.make(connection, poolSize + 1, anonymousTimeout, () => [viewers.first], pulse);
  }

  private pool(max: number, timeout: number, viewers?: Viewers): Pool {
    const { options } = this;
    const told = toldBehind(options.pooling, options, timeout);
    return this.make(options.connection, max, timeout, () => [told, viewers?.first]);
  }

  private make(to: PoolConfig, max: number, timeout: number, told: () => readonly (string | undefined)[], pulse = this.pulse): Pool {
    const made = new Pool({
      ...to,
      ...KEEP_ALIVE,
      max,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      options: settingsOf(this.options, timeout),
      types: { getTypeParser },
      application_name: 'fitgraph',
      // Before it is used for anything.
      verify: (client: PoolClient, over: (error?: Error) => void) => void first(client, told()).then(() => over(), over),
    } as PoolConfig);
    // A lost idle connection is replaced by the pool at the next request; the request that needs one reports the failure.
    made.on('error', () => undefined);
    made.on('connect', (client) => {
      // One that is lost while it is used fails what it runs; that it tells so besides must find a listener.
      client.on('error', () => undefined);
      pulse.watch(client, timeout);
    });
    return made;
  }

  async end(): Promise<void> {
    const pools = new Set([this.own, this.users, this.strangers, this.writes, this.sessions]);
    await Promise.all([...pools].map((pool) => pool.end()));
  }
}
