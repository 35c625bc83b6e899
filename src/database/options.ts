/** Options of the database: connections, pools and timeouts. */
import type { PoolConfig } from 'pg';
import type { ModelCtor } from 'sequelize-typescript';
import type { LimiterOptions } from '../platform/limiter';
import type { ConnectionSettings } from './settings';

/**
 * Mode of a connection pooler in front of PostgreSQL. `session`: each connection keeps one PostgreSQL session, but the pooler may drop its startup
 * parameters. `transaction`: each transaction may run in a different session.
 */
export type PoolerMode = 'session' | 'transaction';

export interface ConnectionOptions extends ConnectionSettings {
  /** Options of pg: a connection string, or host, port, user and database. */
  connection: PoolConfig;
  /** Options of a connection that bypasses the pooler, for work that needs a session, such as LISTEN. Default: `connection`. */
  directConnection?: PoolConfig;
  /** Mode of the pooler; absent without a pooler. */
  poolerMode?: PoolerMode;
  /** Maximum number of connections for reads by anonymous clients, and also for reads by signed-in users, who have connections of their own. */
  poolSize: number;
  /** `statement_timeout` in milliseconds; absent or 0: none. */
  statementTimeout?: number;
  /** `statement_timeout` for anonymous clients. Default: `statementTimeout`. */
  anonymousTimeout?: number;
  /**
   * Row-level security for requests. Default: `on`, which applies it if the database permits that. `required`: the server does not start without it.
   */
  rowSecurity?: 'on' | 'required' | 'off';
  queueLimits: Required<Pick<LimiterOptions, 'maxQueued' | 'maxWaitMs'>>;
  models: ModelCtor[];
}
