/**
 * Metrics of how a process uses the database: statements, connections, limiters and change
 * notifications.
 */
import type { Database } from '../database/connection';
import type { NotificationListener } from '../engine/changes/listener';
import type { CallbackMetrics } from './callback-metrics';

const MS_PER_SECOND = 1000;
const ESTIMATE_TIMEOUT_MS = 500;

/** Number and total duration of the statements of completed requests. */
export interface StatementTotals {
  statementCount: number;
  statementMs: number;
}

export function addDatabaseMetrics(
  metrics: CallbackMetrics,
  database: Database,
  notificationListener: NotificationListener,
  statementTotals: Readonly<StatementTotals>,
): void {
  metrics.addCounter(
    'fitgraph_statements_total',
    'SQL statements sent by requests.',
    () => statementTotals.statementCount,
  );
  const statementSeconds = () => statementTotals.statementMs / MS_PER_SECOND;

  metrics.addCounter(
    'fitgraph_statement_seconds_total',
    'Database time of requests, including waiting for a connection. Divided by `fitgraph_statements_total`: mean time of a statement.',
    statementSeconds,
  );
  const readConnections = (state: 'busy' | 'idle' | 'waiting') => () =>
    Object.fromEntries(
      Object.entries(database.connectionCounts()).map(([pool, counts]) => [pool, counts[state]]),
    );

  metrics.addGauge(
    'fitgraph_database_connections_busy',
    'Connections in use, by `pool`: `anonymous`, `users` (signed-in users and subscriptions), `own` (the server itself), `writes`.',
    readConnections('busy'),
    { label: 'pool' },
  );
  metrics.addGauge(
    'fitgraph_database_connections_idle',
    'Idle connections, by `pool`.',
    readConnections('idle'),
    {
      label: 'pool',
    },
  );
  metrics.addGauge(
    'fitgraph_database_connections_waiting',
    'Clients waiting for a connection, by `pool`. The limiters keep this near 0.',
    readConnections('waiting'),
    { label: 'pool' },
  );
  const limiterEntries = Object.entries({
    ...Object.fromEntries(
      Object.entries(database.statementServices).map(([name, { limiter }]) => [name, limiter]),
    ),
    anonymousWrites: database.writeLimiters.anonymous,
    writes: database.writeLimiters.users,
  });
  const readLimiters = (property: 'busy' | 'queued' | 'rejected' | 'slots') => () =>
    Object.fromEntries(limiterEntries.map(([name, limiter]) => [name, limiter.usage[property]]));

  metrics.addGauge(
    'fitgraph_limiter_slots',
    'Maximum number of concurrent statements or transactions, by `limiter`: reads of `anonymous` clients and `users`, their subscriptions (`anonymousLive`, `live`), their transactions (`anonymousWrites`, `writes`), and the server itself (`own`).',
    readLimiters('slots'),
    { label: 'limiter' },
  );
  metrics.addGauge(
    'fitgraph_limiter_busy',
    'Running statements or transactions.',
    readLimiters('busy'),
    { label: 'limiter' },
  );
  metrics.addGauge(
    'fitgraph_limiter_queued',
    'Queued statements or transactions.',
    readLimiters('queued'),
    {
      label: 'limiter',
    },
  );
  metrics.addCounter(
    'fitgraph_limiter_rejections_total',
    'Statements or transactions rejected because the queue was full (`MAX_WAITING`) or too slow (`MAX_WAIT`).',
    readLimiters('rejected'),
    'limiter',
  );
  metrics.addGauge(
    'fitgraph_listener_connected',
    'Workers that receive change notifications. If fewer than `fitgraph_workers`, some caches and subscriptions are behind.',
    () => Number(notificationListener.isConnected),
  );
  metrics.addCounter(
    'fitgraph_listener_reconnects_total',
    'Lost notification connections.',
    () => notificationListener.lostConnectionCount,
  );
  metrics.addCounter(
    'fitgraph_listener_notifications_total',
    'Change notifications received.',
    () => notificationListener.notificationCount,
  );
  metrics.addGauge(
    'fitgraph_change_log_rows',
    'Rows of the change log, estimated by PostgreSQL. Absent while the database does not respond.',
    () => estimateChangeLogRows(database),
    { aggregator: 'max' },
  );
}

/**
 * Estimates the size of the change log from the planner's statistics, unless the database does not
 * respond in time.
 */
async function estimateChangeLogRows({ pool }: Database): Promise<number | undefined> {
  const estimateSql = `SELECT greatest(0, "reltuples")::float8 AS "rows" FROM pg_class
    WHERE "oid" = to_regclass('change')`;
  const estimate = pool.query(estimateSql).then(({ rows }) => rows[0]?.rows as number | undefined);
  const timeout = new Promise<undefined>((resolve) =>
    setTimeout(resolve, ESTIMATE_TIMEOUT_MS, undefined).unref(),
  );

  return Promise.race([estimate, timeout]).catch(() => undefined);
}
