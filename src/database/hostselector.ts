/**
 * Selection of one of several hosts of a connection URL, as in libpq: the first host in order that accepts connections and whose server has the required
 * state. All connections use it until one of them fails or is rejected as read-only; then the hosts are probed again.
 */
import { Client, type ClientBase } from 'pg';
import { parseDatabaseHosts, type DatabaseHosts, type TargetSessionAttrs } from '../platform/databasehosts';

/** Timeout of a probe. It is shorter than that of a connection (`CONNECTION_TIMEOUT_MS`), which includes the probe. */
const PROBE_TIMEOUT_MS = 2_000;

const CONDITION_SQL_BY_SESSION_ATTRS: Record<TargetSessionAttrs, string> = {
  any: 'true',
  primary: 'NOT pg_is_in_recovery()',
  'read-write': `NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off'`,
};

export interface SelectedHost {
  host: string;
  port: number;
}

export class HostSelector {
  private static readonly selectorByUrl = new Map<string, HostSelector>();
  private selectedHost?: Promise<SelectedHost>;

  /** Returns the selection that all connections with this URL share; undefined if the URL has a single host and does not restrict target_session_attrs. */
  static forUrl(url: string | undefined): HostSelector | undefined {
    const hosts = url === undefined ? undefined : parseDatabaseHosts(url);
    if (!hosts || (hosts.urls.length === 1 && hosts.requiredSessionAttrs === 'any')) return undefined;
    const selection = this.selectorByUrl.get(url!) ?? new HostSelector(hosts);
    this.selectorByUrl.set(url!, selection);
    return selection;
  }

  private constructor(private readonly hosts: DatabaseHosts) {}

  /** Connection URL of the first host. The database, the user and the other options are the same for all hosts. */
  get url(): string {
    return this.hosts.urls[0]!;
  }

  /** Returns the selected host; probes all hosts first if none is selected. */
  selectHost(): Promise<SelectedHost> {
    return (this.selectedHost ??= this.probeAll().catch((error) => {
      this.selectedHost = undefined;
      throw error;
    }));
  }

  /** Discards the selection if `host` is the selected host. Call this when a connection to the host failed or was rejected as read-only. */
  deselect(host: SelectedHost): void {
    const discard = (selected: SelectedHost) => {
      if (selected.host === host.host && selected.port === host.port) this.selectedHost = undefined;
    };
    // If selecting a host has failed, its error is ignored here: the callers of `selectHost` handle it.
    void this.selectedHost?.then(discard, () => undefined);
  }

  /** Throws if the server of the connection does not have the state that `target_session_attrs` requires. */
  async requireSuitableServer(client: ClientBase): Promise<void> {
    const { requiredSessionAttrs } = this.hosts;
    if (requiredSessionAttrs === 'any') return;
    const { rows } = await client.query(`SELECT ${CONDITION_SQL_BY_SESSION_ATTRS[requiredSessionAttrs]} AS "suits"`);
    if (!(rows as [{ suits: boolean }])[0].suits) throw new Error(`the server is not ${requiredSessionAttrs}`);
  }

  /** Probes all hosts concurrently, so that hosts that do not respond cost a single timeout, and returns the first suitable host in the order of the URL. */
  private async probeAll(): Promise<SelectedHost> {
    const probes = await Promise.allSettled(this.hosts.urls.map((url) => this.probe(url)));
    const suitableProbe = probes.find((probe) => probe.status === 'fulfilled');
    if (suitableProbe) return suitableProbe.value;
    throw (probes[0] as PromiseRejectedResult).reason;
  }

  private async probe(url: string): Promise<SelectedHost> {
    const client = new Client({
      connectionString: url,
      application_name: 'fitgraph probe',
      connectionTimeoutMillis: PROBE_TIMEOUT_MS,
      query_timeout: PROBE_TIMEOUT_MS,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await this.requireSuitableServer(client);
      return { host: client.host, port: client.port };
    } finally {
      void client.end().catch(() => undefined);
    }
  }
}
