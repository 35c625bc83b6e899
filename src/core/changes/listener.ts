/** Connection that listens for PostgreSQL notifications (https://www.postgresql.org/docs/current/sql-notify.html) and reconnects when it is lost. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import { ADVISORY_LOCK_CLASSES } from '../../database/advisorylocks';
import { migrationNames } from '../../database/migrationmodules';
import { CONNECTION_TIMEOUT_MS } from '../../database/pools';
import { TCP_KEEPALIVE_OPTIONS } from '../../database/circuitbreaker';
import { startupOptions } from '../../database/settings';
import { ObservedClient } from '../../database/observedclient';
import { socketOf } from '../../internals/pg';

const RECONNECT_INTERVAL_MS = 500;
/** Minimum and maximum back-off before a failed notification handler is called again. It doubles with each failure. */
const [MIN_HANDLER_RETRY_MS, MAX_HANDLER_RETRY_MS] = [1_000, 30_000];
const HEARTBEAT_INTERVAL_MS = 2_000;
const QUERY_TIMEOUT_MS = 2_000;
const CLOSE_TIMEOUT_MS = 500;
export const LISTENER_APPLICATION_NAME_PREFIX = 'fitgraph listener';
const MAX_APPLICATION_NAME_BYTES = 63;
/** Notification channel of restores and other commands that replace all data. */
const DATA_REPLACED_CHANNEL = 'fitgraph_everything';

export interface NotificationHandler {
  onNotification(payload: string): Promise<void> | void;
  /** Handles a possible loss of notifications. Called after a reconnection and after the replacement of all data. */
  onMissedNotifications(): Promise<void> | void;
}

/**
 * SQL that follows the keyword FROM, including a WHERE clause: the advisory locks that all running server instances hold on this database. The column
 * `objid` of a lock is the number of the instance.
 */
export const LIVE_INSTANCES_SQL = `pg_locks l WHERE l."locktype" = 'advisory' AND l."classid" = ${ADVISORY_LOCK_CLASSES.instance} AND l."granted"
      AND l."database" = (SELECT d."oid" FROM pg_database d WHERE d."datname" = current_database())`;

/** Returns the PostgreSQL application name of a server's listening connection, which contains the newest migration that the server knows. */
export const listenerApplicationName = (newestMigration = ''): string =>
  `${LISTENER_APPLICATION_NAME_PREFIX} ${newestMigration}`.slice(0, MAX_APPLICATION_NAME_BYTES);

export class NotificationListener {
  /** Random number that identifies this process among all instances. */
  readonly instanceNumber = randomInt(1, 2 ** 31);
  private readonly handlers = new Map<string, NotificationHandler>();
  private client?: Client;
  private heartbeatTimer?: NodeJS.Timeout;
  private isStopped = false;
  private readonly handlersAwaitingRetry = new Set<NotificationHandler>();
  lostConnectionCount = 0;
  notificationCount = 0;

  constructor(
    private readonly database: Database,
    private readonly log: Logger,
  ) {}

  /** Registers the handler of a channel. Call it only before `start`. */
  registerHandler(channel: string, handler: NotificationHandler): void {
    this.handlers.set(channel, handler);
  }

  async start(): Promise<void> {
    const { breaker, options, direct } = this.database;
    const client: Client = new ObservedClient({
      ...direct,
      ...TCP_KEEPALIVE_OPTIONS,
      options: startupOptions(options, QUERY_TIMEOUT_MS),
      application_name: listenerApplicationName(migrationNames().at(-1)),
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    });
    client.on('error', () => this.reconnect(client));
    client.on('end', () => this.reconnect(client));
    client.on('notification', ({ channel, payload = '' }) => {
      this.notificationCount += 1;
      if (channel === DATA_REPLACED_CHANNEL) this.reportMissedNotifications();
      const handler = this.handlers.get(channel);
      if (handler) this.runHandler(handler, () => handler.onNotification(payload));
    });
    try {
      await client.connect();
      breaker.watch(client, QUERY_TIMEOUT_MS);
      // Holds a lock on the number of this instance while it runs. The lock is shared, because an exclusive one would wait for a dead previous connection of
      // this instance that PostgreSQL has not detected yet.
      await client.query('SELECT pg_advisory_lock_shared($1, $2)', [
        ADVISORY_LOCK_CLASSES.instance,
        this.instanceNumber,
      ]);
      for (const channel of [...this.handlers.keys(), DATA_REPLACED_CHANNEL])
        await client.query(`LISTEN ${channel}`);
      if (this.isStopped) throw new Error('The listener was stopped while it connected.');
    } catch (error) {
      socketOf(client).destroy();
      throw error;
    }
    this.client = client;
    // A regular query detects a dead connection. Otherwise it would remain unnoticed, because a dead connection merely delivers no notifications.
    let isHeartbeatAnswered = true;
    this.heartbeatTimer = setInterval(() => {
      if (!isHeartbeatAnswered) return;
      isHeartbeatAnswered = false;
      client
        .query('SELECT 1')
        .catch(() => undefined)
        .finally(() => (isHeartbeatAnswered = true));
    }, HEARTBEAT_INTERVAL_MS).unref();
  }

  get isConnected(): boolean {
    return this.client !== undefined;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.heartbeatTimer);
    const { client } = this;
    if (!client) return;
    // Closing has a timeout, because the connection may hang.
    await Promise.race([
      client.end().catch(() => undefined),
      sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    socketOf(client).destroy();
  }

  private reportMissedNotifications(): void {
    for (const handler of this.handlers.values())
      this.runHandler(handler, () => handler.onMissedNotifications());
  }

  /**
   * Calls the handler of a notification. If the handler fails, the notification counts as missed, and `onMissedNotifications` is called until it
   * succeeds.
   */
  private runHandler(
    handler: NotificationHandler,
    callHandler: () => Promise<void> | void,
    retryMs = MIN_HANDLER_RETRY_MS,
  ): void {
    const callHandlerAsync = async () => callHandler();
    callHandlerAsync().catch((error: unknown) => {
      if (this.isStopped || this.handlersAwaitingRetry.has(handler)) return;
      this.log.error({ err: error }, 'the caches could not be reloaded');
      this.handlersAwaitingRetry.add(handler);
      setTimeout(() => {
        this.handlersAwaitingRetry.delete(handler);
        if (!this.isStopped)
          this.runHandler(
            handler,
            () => handler.onMissedNotifications(),
            Math.min(2 * retryMs, MAX_HANDLER_RETRY_MS),
          );
      }, retryMs).unref();
    });
  }

  private reconnect(client: Client): void {
    if (this.isStopped || this.client !== client) return;
    this.client = undefined;
    clearInterval(this.heartbeatTimer);
    this.lostConnectionCount += 1;
    this.log.warn('the connection for change notifications was lost');
    const tryConnect = () => {
      if (this.isStopped) return;
      this.start()
        .then(() => {
          this.log.info('change notifications are received again');
          this.reportMissedNotifications();
        })
        .catch(() => setTimeout(tryConnect, RECONNECT_INTERVAL_MS).unref());
    };
    setTimeout(tryConnect, RECONNECT_INTERVAL_MS).unref();
  }
}
