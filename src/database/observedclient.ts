/** A client of pg that shows whether a statement is running, for the circuit breaker. */
import { Client, type ClientConfig } from 'pg';

export class ObservedClient extends Client {
  /** Identifies the latest statement; undefined while the connection is idle. */
  statement?: object;

  constructor(config?: string | ClientConfig) {
    super(config);
    this.on('drain', () => (this.statement = undefined));
  }

  /** Has all overloads of `Client.query`. */
  override query(...parameters: unknown[]): never {
    const result = (super.query as (...all: unknown[]) => never).apply(this, parameters);
    this.statement = {};
    return result;
  }
}
