/**
 * Circuit breaker of the database (https://en.wikipedia.org/wiki/Circuit_breaker_design_pattern). A network that drops packets reports no error, so a
 * statement could wait forever and block others. A timer therefore watches all connections, at no cost to statements. If a running statement has received
 * no data for a moment, a health check asks PostgreSQL over a new connection which backends are working:
 * - The backend is working: the statement is a long one and is ended by its own timeout.
 * - The backend is idle or gone: the connection is dead. It is closed, and so are idle connections, which use the same network route.
 * - No response: the database is unavailable. Requests fail immediately until a later check succeeds.
 *
 * Time is counted in timer ticks instead of by the clock, so that a delay of this process does not count as silence of the database.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError, type PoolConfig } from 'pg';
import { backendKeyOf, socketOf } from '../internals/pg';
import { DatabaseUnavailable } from './errors';
import { ObservedClient } from './observedclient';

const TICK_MS = 250;
const SILENT_TICKS_UNTIL_CHECK = 5;
const HEALTH_CHECK_TIMEOUT_TICKS = 6;
/** Number of timer ticks after which a statement is checked again, if the last check found its backend working. */
const TIMER_TICKS_UNTIL_RECHECK = 8;
/** Number of timer ticks after the timeout of a statement (`statement_timeout`) until its connection is closed. */
const TICKS_FROM_TIMEOUT_TO_CLOSE = 12;
const KEEPALIVE_DELAY_MS = 10_000;

export const TCP_KEEPALIVE_OPTIONS = {
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
};

/**
 * Whether a health check failed for a reason that says nothing about existing connections: PostgreSQL rejected it, or the host name could not be
 * resolved.
 */
const isUnrelatedToAvailability = (error: NodeJS.ErrnoException) =>
  error instanceof DatabaseError || ['EAI_AGAIN', 'ENOTFOUND'].includes(error.code ?? '');

interface WatchedConnection {
  client: ObservedClient;
  /** Statement timeout in milliseconds; 0: none. */
  statementTimeoutMs: number;
  statementAtLastTick?: object;
  /** Bytes received on the connection until the last timer tick. */
  receivedBytes: number;
  /** Number of timer ticks since the running statement last received data. */
  silentTicks: number;
  silentTicksAtNextCheck: number;
}

const announcedPidOf = ({ client }: WatchedConnection): number =>
  backendKeyOf(client).processID ?? 0;

const BACKEND_STATES_SQL = `SELECT pg_backend_pid() AS "ownPid", a."pid", a."state" FROM (SELECT 1) o
  LEFT JOIN pg_stat_activity a ON a."pid" = ANY($1::int[])`;

export class CircuitBreaker {
  /**
   * Error with which statements are rejected while the database is unavailable; absent unless the latest conclusive health check found it
   * unavailable.
   */
  unavailableError?: DatabaseUnavailable;
  private readonly watchedConnections = new Map<Client, WatchedConnection>();
  private readonly timer: NodeJS.Timeout;
  private isHealthCheckRunning = false;
  private ticksUntilHealthCheckTimeout = 0;
  private abortHealthCheck?: () => void;

  constructor(
    private readonly connection: PoolConfig,
    /** Connection options that bypass a pooler, because a response of the pooler does not show that PostgreSQL works. */
    private readonly directConnection?: PoolConfig,
  ) {
    this.timer = setInterval(() => this.tick(), TICK_MS).unref();
  }

  /** Watches a connection until it ends. `statementTimeoutMs`: its statement_timeout in milliseconds; 0: none. */
  watch(client: Client, statementTimeoutMs = 0): void {
    if (!(client instanceof ObservedClient))
      throw new TypeError('Only an ObservedClient can be watched.');
    this.watchedConnections.set(client, {
      client,
      statementTimeoutMs,
      receivedBytes: 0,
      silentTicks: 0,
      silentTicksAtNextCheck: SILENT_TICKS_UNTIL_CHECK,
    });
    client.once('end', () => this.watchedConnections.delete(client));
  }

  setStatementTimeout(client: Client, timeout: number): void {
    const connection = this.watchedConnections.get(client);
    if (connection) connection.statementTimeoutMs = timeout;
  }

  stop(): void {
    clearInterval(this.timer);
    this.abortHealthCheck?.();
  }

  private tick(): void {
    if ((this.ticksUntilHealthCheckTimeout -= 1) <= 0) this.abortHealthCheck?.();
    const suspectConnections: WatchedConnection[] = [];
    for (const connection of this.watchedConnections.values()) {
      const { runningStatement } = connection.client;
      const bytes = socketOf(connection.client).bytesRead;
      if (
        !runningStatement ||
        runningStatement !== connection.statementAtLastTick ||
        bytes !== connection.receivedBytes
      ) {
        const newObservation: Partial<WatchedConnection> = {
          statementAtLastTick: runningStatement,
          receivedBytes: bytes,
          silentTicks: 0,
          silentTicksAtNextCheck: SILENT_TICKS_UNTIL_CHECK,
        };
        Object.assign(connection, newObservation);
        continue;
      }
      connection.silentTicks += 1;
      if (
        connection.statementTimeoutMs > 0 &&
        connection.silentTicks >
          connection.statementTimeoutMs / TICK_MS + TICKS_FROM_TIMEOUT_TO_CLOSE
      )
        this.closeConnection(connection, 'a statement timed out without a response');
      else if (connection.silentTicks >= connection.silentTicksAtNextCheck)
        suspectConnections.push(connection);
    }
    if (!this.isHealthCheckRunning && (suspectConnections.length || this.unavailableError))
      void this.runHealthCheck(suspectConnections);
  }

  /** Returns the connections whose running statement has received no data for more than one timer tick. */
  private silentConnections(): WatchedConnection[] {
    return [...this.watchedConnections.values()].filter(
      (connection) =>
        connection.statementAtLastTick && connection.silentTicks > 1 && this.isSilent(connection),
    );
  }

  /** Whether the connection runs the same statement as at the last timer tick and has received no data since then. */
  private isSilent({ client, statementAtLastTick, receivedBytes }: WatchedConnection): boolean {
    return (
      client.runningStatement === statementAtLastTick &&
      socketOf(client).bytesRead === receivedBytes
    );
  }

  private closeConnection({ client }: WatchedConnection, reason: string): void {
    socketOf(client).destroy(new Error(reason));
  }

  private async runHealthCheck(suspectConnections: readonly WatchedConnection[]): Promise<void> {
    this.isHealthCheckRunning = true;
    this.ticksUntilHealthCheckTimeout = HEALTH_CHECK_TIMEOUT_TICKS;
    let deadConnections: WatchedConnection[] = [];
    try {
      const idlePids = await this.findIdleBackends(suspectConnections.map(announcedPidOf));
      this.unavailableError = undefined;
      // Waits for one timer tick before a connection counts as dead, because data that PostgreSQL sent during the health check may still arrive.
      await sleep(TICK_MS, undefined, { ref: false });
      deadConnections = suspectConnections.filter(
        (connection) => this.isSilent(connection) && idlePids.has(announcedPidOf(connection)),
      );
    } catch (error) {
      if (!isUnrelatedToAvailability(error as NodeJS.ErrnoException)) {
        this.unavailableError = new DatabaseUnavailable(error);
        deadConnections = this.silentConnections();
      }
    }
    for (const connection of suspectConnections)
      connection.silentTicksAtNextCheck = connection.silentTicks + TIMER_TICKS_UNTIL_RECHECK;
    this.isHealthCheckRunning = false;
    if (!deadConnections.length) return;
    for (const connection of deadConnections)
      this.closeConnection(
        connection,
        this.unavailableError ? 'the database does not respond' : 'the connection is dead',
      );
    // If a connection was dead, closes idle connections too, because they use the same network route. A connection with an open transaction is not idle,
    // even between two statements.
    for (const connection of this.watchedConnections.values())
      if (!connection.client.runningStatement && connection.client.getTransactionStatus() !== 'T')
        this.closeConnection(connection, 'the connection may be dead');
  }

  /** Opens new connections and asks PostgreSQL which of the given backends run no statement. Throws if PostgreSQL does not respond. */
  private async findIdleBackends(pids: readonly number[]): Promise<ReadonlySet<number>> {
    const clients = [this.directConnection, this.connection].flatMap((options) =>
      options ? new ObservedClient({ ...options, application_name: 'fitgraph health check' }) : [],
    );
    for (const client of clients) client.on('error', () => undefined);
    const healthCheckAbortion = new Promise<never>((_resolve, reject) => {
      this.abortHealthCheck = () => reject(new Error('it does not respond'));
    });
    try {
      return await Promise.race([this.queryIdleBackends(clients, pids), healthCheckAbortion]);
    } catch (error) {
      for (const client of clients) socketOf(client).destroy();
      throw error;
    } finally {
      this.abortHealthCheck = undefined;
    }
  }

  private async queryIdleBackends(
    clients: readonly Client[],
    pids: readonly number[],
  ): Promise<ReadonlySet<number>> {
    await Promise.all(clients.map((client) => client.connect()));
    const [client] = clients as [Client];
    const { rows } = await client.query(BACKEND_STATES_SQL, [pids]);
    for (const connection of clients) void connection.end().catch(() => undefined);
    // Behind a pooler, the process ids that clients receive when they connect are not those of the backends, so idle backends cannot be identified.
    if (this.directConnection || rows[0].ownPid !== backendKeyOf(client).processID)
      return new Set();
    const workingPids = rows
      .filter(({ state }) => state !== null && !String(state).startsWith('idle'))
      .map(({ pid }) => pid as number);
    return new Set(pids.filter((pid) => !workingPids.includes(pid)));
  }
}
