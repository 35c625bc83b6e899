/**
 * A pg client that exposes whether a statement is running, for the circuit breaker, and whether its session is read-only, for the pool. If the connection URL
 * has several hosts, it connects to the selected one.
 */
import { Client, type ClientConfig } from 'pg';
import { onServerError, socketOf } from '../internals/pg';
import { HostSelection } from './hostselection';

/** Error code read_only_sql_transaction (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const READ_ONLY_TRANSACTION_CODE = '25006';

export class ObservedClient extends Client {
  /** Identifies the latest statement; undefined while the connection is idle. */
  statement?: object;
  /** Whether a write was rejected because the transaction is read-only. The session may stay read-only after the database has become writable. */
  isReadOnly = false;
  private readonly hostSelection?: HostSelection;

  constructor(config?: string | ClientConfig) {
    const hosts = HostSelection.forUrl(typeof config === 'string' ? config : config?.connectionString);
    super(hosts && typeof config === 'object' ? { ...config, connectionString: hosts.url } : (hosts?.url ?? config));
    this.hostSelection = hosts;
    this.on('drain', () => (this.statement = undefined));
    onServerError(this, ({ code }) => {
      if (code !== READ_ONLY_TRANSACTION_CODE) return;
      this.isReadOnly = true;
      hosts?.deselect(this);
    });
  }

  /** Accepts the parameters of both overloads of `Client.connect`. */
  override connect(...parameters: unknown[]): never {
    const connect = (...allParameters: unknown[]) => (super.connect as (...allParameters: unknown[]) => never).apply(this, allParameters);
    if (!this.hostSelection) return connect(...parameters);
    const connected = this.connectToSelected(this.hostSelection, connect);
    const [callback] = parameters as [((error: Error | null) => void)?];
    return (callback ? void connected.then(() => callback(null), callback) : connected) as never;
  }

  private async connectToSelected(hosts: HostSelection, connect: () => PromiseLike<unknown>): Promise<void> {
    const selected = await hosts.selectHost();
    if (socketOf(this).destroyed) throw new Error('the connection was ended before it was established');
    Object.assign(this, selected);
    try {
      await connect();
      await hosts.requireSuitableServer(this);
    } catch (error) {
      hosts.deselect(selected);
      void this.end().catch(() => undefined);
      throw error;
    }
  }

  /** Accepts the parameters of all overloads of `Client.query`. */
  override query(...parameters: unknown[]): never {
    const result = (super.query as (...allParameters: unknown[]) => never).apply(this, parameters);
    this.statement = {};
    return result;
  }
}
