/** A client of pg that shows whether a statement is running, for the circuit breaker, and whether its session is read-only, for the pool. */
import { Client, type ClientConfig } from 'pg';
import { onServerError } from '../internals/pg';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html: read_only_sql_transaction */
const READ_ONLY = '25006';

export class ObservedClient extends Client {
  /** Identifies the latest statement; undefined while the connection is idle. */
  statement?: object;
  /** Whether a write was rejected because of a read-only transaction. The session may keep that default after the database has become writable. */
  isReadOnly = false;

  constructor(config?: string | ClientConfig) {
    super(config);
    this.on('drain', () => (this.statement = undefined));
    onServerError(this, ({ code }) => (this.isReadOnly ||= code === READ_ONLY));
  }

  /** Has all overloads of `Client.query`. */
  override query(...parameters: unknown[]): never {
    const result = (super.query as (...all: unknown[]) => never).apply(this, parameters);
    this.statement = {};
    return result;
  }
}
