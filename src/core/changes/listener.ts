/** The connection on which this process hears what the database tells (NOTIFY), made anew whenever it is lost. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import { LOCK_CLASSES } from '../../database/locks';
import { CONNECTION_TIMEOUT_MS } from '../../database/pools';
import { KEEP_ALIVE } from '../../database/pulse';
import { settingsOf } from '../../database/settings';
import { hangUp } from '../../database/pginternals';

const RETRY_MS = 500;
const HEARTBEAT_MS = 2_000;
/** Nothing that is asked here takes any time. */
const ANSWER_MS = 2_000;
const GOODBYE_MS = 500;
/** Said by whoever has put other data in the place of all. */
const EVERYTHING = 'fitgraph_everything';

export interface Subscriber {
  notified(payload: string): void;
  /** The connection was lost for a while, so something may have been told meanwhile. */
  missed(): Promise<void> | void;
}

/** For a FROM: the locks of all instances that share the database, each with the number of its instance as `objid`. A condition may follow. */
export const INSTANCES = `pg_locks l WHERE l."locktype" = 'advisory' AND l."classid" = ${LOCK_CLASSES.instance} AND l."granted"
      AND l."database" = (SELECT d."oid" FROM pg_database d WHERE d."datname" = current_database())`;

export class Listener {
  /** Of this process. */
  readonly instance = randomInt(1, 2 ** 31);
  private readonly subscribers = new Map<string, Subscriber>();
  private client?: Client;
  private heartbeat?: NodeJS.Timeout;
  private closed = false;
  /** How often the connection was lost, and how many notifications came on it. */
  losses = 0;
  notifications = 0;

  constructor(
    private readonly database: Database,
    private readonly log: Logger,
  ) {}

  /** Before `start`. */
  on(channel: string, subscriber: Subscriber): void {
    this.subscribers.set(channel, subscriber);
  }

  async start(): Promise<void> {
    const { pulse, options, direct } = this.database;
    const client = new Client({
      ...direct,
      ...KEEP_ALIVE,
      options: settingsOf(options, ANSWER_MS),
      application_name: 'fitgraph listener',
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    });
    client.on('error', () => this.again(client));
    client.on('end', () => this.again(client));
    client.on('notification', ({ channel, payload = '' }) => {
      this.notifications += 1;
      if (channel === EVERYTHING) this.missed();
      else this.subscribers.get(channel)?.notified(payload);
    });
    try {
      await client.connect();
      pulse.watch(client, ANSWER_MS);
      // Shared, because PostgreSQL may not know yet that the connection before this one is dead.
      await client.query('SELECT pg_advisory_lock_shared($1, $2)', [LOCK_CLASSES.instance, this.instance]);
      for (const channel of [...this.subscribers.keys(), EVERYTHING]) await client.query(`LISTEN ${channel}`);
    } catch (error) {
      hangUp(client);
      throw error;
    }
    this.client = client;
    // On a connection where nobody says anything nobody notices that it is dead.
    this.heartbeat = setInterval(() => void client.query('SELECT 1').catch(() => undefined), HEARTBEAT_MS).unref();
  }

  get connected(): boolean {
    return this.client !== undefined;
  }

  async stop(): Promise<void> {
    this.closed = true;
    clearInterval(this.heartbeat);
    const { client } = this;
    if (!client) return;
    // One that hangs does not say goodbye.
    await Promise.race([client.end().catch(() => undefined), sleep(GOODBYE_MS, undefined, { ref: false })]);
    hangUp(client);
  }

  private missed(): void {
    void Promise.all([...this.subscribers.values()].map((subscriber) => subscriber.missed())).catch((error) =>
      this.log.error({ err: error }, 'what is in memory could not be read again'),
    );
  }

  private again(client: Client): void {
    if (this.closed || this.client !== client) return;
    this.client = undefined;
    clearInterval(this.heartbeat);
    this.losses += 1;
    this.log.warn('the connection on which the database tells of changes was lost');
    const attempt = () => {
      if (this.closed) return;
      this.start()
        .then(() => this.catchUp())
        .catch(() => setTimeout(attempt, RETRY_MS).unref());
    };
    setTimeout(attempt, RETRY_MS).unref();
  }

  private async catchUp(): Promise<void> {
    try {
      await Promise.all([...this.subscribers.values()].map((subscriber) => subscriber.missed()));
      this.log.info('the database tells of changes again');
    } catch (error) {
      const { client } = this;
      this.client = undefined;
      clearInterval(this.heartbeat);
      if (client) hangUp(client);
      throw error;
    }
  }
}
