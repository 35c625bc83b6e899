/** A pg client that exposes whether a statement is running, for the circuit breaker, and whether its session is read-only, for the pool. */
import { Client, type ClientConfig } from 'pg';
import { onServerError } from '../internals/pg';

/** Error code read_only_sql_transaction (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const READ_ONLY_TRANSACTION_CODE = '25006';

export class ObservedClient extends Client {
  /** Identifies the latest statement; undefined while the connection is idle. */
  runningStatement?: object;
  /** Whether a write was rejected because the transaction is read-only. The session may stay read-only after the database has become writable. */
  isReadOnly = false;

  constructor(config?: string | ClientConfig) {
    super(config);
    this.on('drain', () => (this.runningStatement = undefined));
    onServerError(this, ({ code }) => {
      if (code === READ_ONLY_TRANSACTION_CODE) this.isReadOnly = true;
    });
  }

  /** Accepts the parameters of all overloads of `Client.query`. */
  override query(...parameters: unknown[]): never {
    const result = (super.query as (...allParameters: unknown[]) => never).apply(this, parameters);
    this.runningStatement = {};
    return result;
  }
}
