/**
 * Connection that listens for PostgreSQL notifications
 * (https://www.postgresql.org/docs/current/sql-notify.html) and reconnects when it is lost.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import { ADVISORY_LOCK_CLASSES } from '../../database/advisory-locks';
import { migrationNames } from '../../database/migration-modules';
import { CONNECTION_OPTIONS } from '../../database/pools';
import { startupOptions } from '../../database/settings';

const RECONNECT_INTERVAL_MS = 500;

/**
 * Minimum and maximum delay before a failed notification handler is called again. Each failure
 * doubles the delay.
 */
const [MIN_HANDLER_RETRY_MS, MAX_HANDLER_RETRY_MS] = [1_000, 30_000];
const HEARTBEAT_INTERVAL_MS = 2_000;
const QUERY_TIMEOUT_MS = 1_500;
const CLOSE_TIMEOUT_MS = 500;

export const LISTENER_APPLICATION_NAME_PREFIX = 'fitgraph listener';
const MAX_APPLICATION_NAME_BYTES = 63;

/** Notification channel of restores and other commands that replace all data. */
const DATA_REPLACED_CHANNEL = 'fitgraph_everything';

export interface NotificationHandler {
  onNotification(payload: string): Promise<void> | void;

  /**
   * Handles a possible loss of notifications. Called after a reconnection, and after a command has
   * replaced all data.
   */
  onMissedNotifications(): Promise<void> | void;
}

/**
 * SQL after FROM that selects the advisory locks of all server instances that run on this database.
 * The column `objid` is the instance number.
 */
export const LIVE_INSTANCES_SQL = `pg_locks l WHERE l."locktype" = 'advisory'
  AND l."classid" = ${ADVISORY_LOCK_CLASSES.instance} AND l."granted"
      AND l."database" = (SELECT d."oid" FROM pg_database d WHERE d."datname" = current_database())`;

/**
 * Application name of a server's listening connection. Contains the newest migration that the
 * server knows.
 */
export const listenerApplicationName = (newestMigration = ''): string =>
  `${LISTENER_APPLICATION_NAME_PREFIX} ${newestMigration}`.slice(0, MAX_APPLICATION_NAME_BYTES);

/** SQL: counts running workers, each of which has one connection that listens for notifications. */
export const RUNNING_WORKER_COUNT_SQL = `SELECT count(*)::int AS "workers" FROM pg_stat_activity
  WHERE "application_name" LIKE '${LISTENER_APPLICATION_NAME_PREFIX}%'
    AND "datname" = current_database()`;

export class NotificationListener {
  /** Random number that identifies this process among all instances. */
  readonly instanceNumber = randomInt(1, 2 ** 31);
  private readonly handlersByChannel = new Map<string, NotificationHandler[]>();
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

  /** Registers a handler of a channel. Call it only before `start`. */
  registerHandler(channel: string, handler: NotificationHandler): void {
    const handlers = this.handlersByChannel.get(channel) ?? [];

    this.handlersByChannel.set(channel, [...handlers, handler]);
  }

  async start(): Promise<void> {
    const { options, directConnectionOptions } = this.database;
    const client = new Client({
      ...directConnectionOptions,
      ...CONNECTION_OPTIONS,
      options: startupOptions(options, QUERY_TIMEOUT_MS),
      query_timeout: QUERY_TIMEOUT_MS,
      application_name: listenerApplicationName(migrationNames().at(-1)),
    });

    client.on('error', () => this.reconnect(client));
    client.on('end', () => this.reconnect(client));
    client.on('notification', ({ channel, payload = '' }) => {
      this.notificationCount += 1;
      if (channel === DATA_REPLACED_CHANNEL) this.reportMissedNotifications();

      for (const handler of this.handlersByChannel.get(channel) ?? []) {
        this.runHandler(handler, () => handler.onNotification(payload));
      }
    });

    try {
      await client.connect();
      // Holds a lock on the number of this instance while it runs. A shared lock, because an
      // exclusive one would wait for a dead previous connection of this instance that PostgreSQL
      // has not detected yet.
      await client.query('SELECT pg_advisory_lock_shared($1, $2)', [
        ADVISORY_LOCK_CLASSES.instance,
        this.instanceNumber,
      ]);

      for (const channel of [...this.handlersByChannel.keys(), DATA_REPLACED_CHANNEL]) {
        await client.query(`LISTEN ${channel}`);
      }

      if (this.isStopped) throw new Error('The listener was stopped while it connected.');
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }

    this.client = client;
    // A regular query detects a dead connection, which would otherwise just deliver no
    // notifications.
    const checkConnection = () =>
      client.query('SELECT 1').catch(() => client.end().catch(() => undefined));

    this.heartbeatTimer = setInterval(() => void checkConnection(), HEARTBEAT_INTERVAL_MS).unref();
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
  }

  private reportMissedNotifications(): void {
    for (const handler of [...this.handlersByChannel.values()].flat()) {
      this.runHandler(handler, () => handler.onMissedNotifications());
    }
  }

  /**
   * Calls the handler of a notification. If it fails, the notification counts as missed, and
   * `onMissedNotifications` is retried until it succeeds.
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

        if (!this.isStopped) {
          this.runHandler(
            handler,
            () => handler.onMissedNotifications(),
            Math.min(2 * retryMs, MAX_HANDLER_RETRY_MS),
          );
        }
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
