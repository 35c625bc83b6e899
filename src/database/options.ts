/** Options of the database: connections, pools and timeouts. */
import type { PoolConfig } from 'pg';
import type { ModelCtor } from 'sequelize-typescript';
import type { LimiterOptions } from '../platform/limiter';
import type { ReplicaOptions } from './replica';
import type { ConnectionLimits } from './settings';

/** Pooling mode of a pooler before PostgreSQL: one session per connection (without its startup parameters), or a different one for each transaction. */
export type Pooling = 'session' | 'transaction';

/** Client of the limiter: a user's id, the network of an anonymous client, or a name for the server itself. */
export type Caller = string | number;

export interface ConnectionOptions extends ConnectionLimits {
  /** Options of pg: a connection string, or host, port, user and database. */
  connection: PoolConfig;
  /** The same without a pooler, for what needs a session, such as LISTEN. Default: `connection`. */
  direct?: PoolConfig;
  replica?: ReplicaOptions;
  /** Absent without a pooler. */
  pooling?: Pooling;
  /** Connections for reads, each for anonymous clients and for signed-in users. */
  poolSize: number;
  /** `statement_timeout` in milliseconds; absent or 0: none. */
  statementTimeout?: number;
  /** The same for anonymous clients. */
  anonymousTimeout?: number;
  /** Row-level security for requests. Default: `on`, which means where possible. */
  rowSecurity?: 'on' | 'required' | 'off';
  /** Bounds of the queues for database slots. */
  queue: Required<Pick<LimiterOptions, 'maxQueued' | 'maxWaitMs'>>;
  models: ModelCtor[];
}
