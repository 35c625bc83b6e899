/** The connection on which this process hears what the database tells (NOTIFY), made anew whenever it is lost. */
import { Client } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../database/connection';

const RETRY_MS = 500;
/** Said by whoever has put other data in the place of all. */
const EVERYTHING = 'fitgraph_everything';

export interface Ear {
  heard(payload: string): void;
  /** The connection was lost for a while, so something may have been told meanwhile. */
  missed(): Promise<void> | void;
}

export class Listener {
  private readonly ears = new Map<string, Ear>();
  private client?: Client;
  private closed = false;

  constructor(
    private readonly database: Database,
    private readonly log: Logger,
  ) {}

  /** Before `start`. */
  on(channel: string, ear: Ear): void {
    this.ears.set(channel, ear);
  }

  async start(): Promise<void> {
    const client = new Client({ ...this.database.options.connection, application_name: 'fitgraph listener', keepAlive: true });
    client.on('error', () => this.again(client));
    client.on('end', () => this.again(client));
    client.on('notification', ({ channel, payload = '' }) =>
      channel === EVERYTHING ? this.missed() : this.ears.get(channel)?.heard(payload),
    );
    await client.connect();
    for (const channel of [...this.ears.keys(), EVERYTHING]) await client.query(`LISTEN ${channel}`);
    this.client = client;
  }

  async stop(): Promise<void> {
    this.closed = true;
    await this.client?.end().catch(() => undefined);
  }

  private missed(): void {
    void Promise.all([...this.ears.values()].map((ear) => ear.missed())).catch((error) =>
      this.log.error({ err: error }, 'what is in memory could not be read again'),
    );
  }

  private again(client: Client): void {
    if (this.closed || this.client !== client) return;
    this.client = undefined;
    this.log.warn('the connection on which the database tells of changes was lost');
    const attempt = () => {
      if (this.closed) return;
      this.start()
        .then(() => Promise.all([...this.ears.values()].map((ear) => ear.missed())))
        .catch(() => setTimeout(attempt, RETRY_MS).unref());
    };
    setTimeout(attempt, RETRY_MS).unref();
  }
}
