/**
 * A pg client that exposes whether a statement is running, for the circuit breaker, and whether its session is read-only, for the pool. If the connection URL
 * has several hosts, it connects to the selected one.
 */
import { Client, type ClientConfig } from 'pg';
import { onServerError, socketOf } from '../internals/pg';
import { HostSelector } from './hostselector';

/** Error code read_only_sql_transaction (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const READ_ONLY_TRANSACTION_CODE = '25006';

export class ObservedClient extends Client {
  /** Identifies the latest statement; undefined while the connection is idle. */
  runningStatement?: object;
  /** Whether a write was rejected because the transaction is read-only. The session may stay read-only after the database has become writable. */
  isReadOnly = false;
  private readonly hostSelector?: HostSelector;

  constructor(config?: string | ClientConfig) {
    const hostSelector = HostSelector.forUrl(typeof config === 'string' ? config : config?.connectionString);
    super(hostSelector && typeof config === 'object' ? { ...config, connectionString: hostSelector.url } : (hostSelector?.url ?? config));
    this.hostSelector = hostSelector;
    this.on('drain', () => (this.runningStatement = undefined));
    onServerError(this, ({ code }) => {
      if (code !== READ_ONLY_TRANSACTION_CODE) return;
      this.isReadOnly = true;
      hostSelector?.deselect(this);
    });
  }

  /** Accepts the parameters of both overloads of `Client.connect`. */
  override connect(...parameters: unknown[]): never {
    const connect = (...allParameters: unknown[]) => (super.connect as (...allParameters: unknown[]) => never).apply(this, allParameters);
    if (!this.hostSelector) return connect(...parameters);
    const connectionAttempt = this.connectToSelectedHost(this.hostSelector, connect);
    const [callback] = parameters as [((error: Error | null) => void)?];
    return (callback ? void connectionAttempt.then(() => callback(null), callback) : connectionAttempt) as never;
  }

  private async connectToSelectedHost(hostSelector: HostSelector, connect: () => PromiseLike<unknown>): Promise<void> {
    const selected = await hostSelector.selectHost();
    if (socketOf(this).destroyed) throw new Error('the connection was ended before it was established');
    Object.assign(this, selected);
    try {
      await connect();
      await hostSelector.requireSuitableServer(this);
    } catch (error) {
      hostSelector.deselect(selected);
      void this.end().catch(() => undefined);
      throw error;
    }
  }

  /** Accepts the parameters of all overloads of `Client.query`. */
  override query(...parameters: unknown[]): never {
    const result = (super.query as (...allParameters: unknown[]) => never).apply(this, parameters);
    this.runningStatement = {};
    return result;
  }
}
