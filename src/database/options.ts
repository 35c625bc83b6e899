/** How the database is reached, and what its connections may do. */
import type { PoolConfig } from 'pg';
import type { ModelCtor } from 'sequelize-typescript';
import type { LimiterOptions } from '../platform/limiter';
import type { ReplicaOptions } from './replica';
import type { Limits } from './settings';

/**
 * What a pooler between this program and PostgreSQL gives to a connection: a session of its own, though without what was asked for when it was made, or
 * another one for each transaction.
 */
export type Pooling = 'session' | 'transaction';

/** Who shares the database: a user by the id, an anonymous client by its network, the server itself by a name. */
export type Caller = string | number;

export interface ConnectionOptions extends Limits {
  /** Of `pg`: a connection string, or host, port, user and database. */
  connection: PoolConfig;
  /** The same for whatever needs a session of its own, such as LISTEN; absent: `connection`. */
  direct?: PoolConfig;
  /** Absent: everybody reads from the database itself. */
  replica?: ReplicaOptions;
  /** Absent: there is no pooler. */
  pooling?: Pooling;
  /** Of strangers' reads, and of users'. */
  poolSize: number;
  /** Milliseconds after which a statement is given up; absent or 0: never. */
  statementTimeout?: number;
  /** The same for what strangers read. */
  anonymousTimeout?: number;
  /** Whether requests are bound by the policies of PostgreSQL; absent: where they can be. */
  rowSecurity?: 'on' | 'required' | 'off';
  /** Of the requests that wait for a connection. */
  queue: Required<Pick<LimiterOptions, 'maxQueued' | 'maxWaitMs'>>;
  models: ModelCtor[];
}
