/**
 * Prometheus metrics of one process. Metrics of requests are counted here; other values are read at
 * each scrape from the objects that hold them. The number of label values is limited, so that
 * clients cannot create an unlimited number of time series.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Histogram, Registry } from 'prom-client';
import type { Context } from '../engine/context';
import type { Route } from '../rest/routes';
import type { LoginRateLimiter } from '../accounts/login-rate-limiter';
import type { CatalogueCache } from '../engine/changes/catalogue-cache';
import type { DerivedValueCache } from '../engine/changes/derived-values';
import type { ChangeLog } from '../engine/changes/change-log';
import type { NotificationListener } from '../engine/changes/listener';
import type { Database } from '../database/connection';
import type { CostRateLimiter } from '../request/cost-rate-limit';
import { CallbackMetrics } from './callback-metrics';
import { isEventStream } from '../request/slow-requests';
import { addDatabaseMetrics, type StatementTotals } from './database-metrics';
import { routeTemplate } from './route-templates';

export interface ServerGauges {
  /** Numbers of rejected requests by reason. */
  readonly rejectedCounts: Readonly<Record<string, number>>;

  /** Longest queueing delay, in milliseconds, of clients with a single queued request. */
  queueingDelay(): number;
  readyFlag(): number;

  /**
   * Flags of known degradations: 1 if the latest check has found the degradation, else 0.
   */
  degradationFlags(): Record<string, number>;

  /** Undefined if the result cache is turned off. */
  resultCache():
    | {
        counts: { hit: number; miss: number };
        size: { entries: number; bytes: number };
      }
    | undefined;
  subscriptionCounts(): {
    running: number;
    deliveredEvents: number;
    eventStreams: number;
    webSockets: number;
  };
}

/** Services whose use is measured. */
interface MeasuredServices {
  database: Database;
  notificationListener: NotificationListener;
  changeLog: ChangeLog;
  catalogue: CatalogueCache;
  derivedValues: DerivedValueCache;
  loginLimiter: LoginRateLimiter;
  costRateLimiter: CostRateLimiter;
}

export interface CompletedRequest {
  request: Pick<IncomingMessage, 'method' | 'url'>;
  response: ServerResponse;
  context: Context;
  restRoute?: Route;

  /** Name of the GraphQL operation; null if the client has given it no name. */
  operationName?: string | null;
  durationMs: number;
}

/**
 * Maximum number of operation names that become label values. Anonymous clients have a separate
 * limit, because they can invent any number of names.
 */
const MAX_OPERATION_NAMES = { users: 200, anonymous: 50 };
const UNNAMED_OPERATION_LABEL = '(none)';
const OTHER_LABEL = 'other';
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const EVENT_LOOP_LAG_RESOLUTION_MS = 10;
const MS_PER_SECOND = 1000;
const NS_PER_SECOND = 1e9;
const DURATION_BUCKETS_SECONDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const COST_BUCKETS = [10, 100, 1_000, 10_000, 100_000];

export class Metrics {
  /** Metrics by section of docs/monitoring.md. */
  readonly metricsByDocsSection = {
    requests: new CallbackMetrics(),
    database: new CallbackMetrics(),
    subscriptions: new CallbackMetrics(),
    processes: new CallbackMetrics(),
  };
  readonly registry: Registry;
  private readonly requests: Counter<'method' | 'route' | 'status'>;
  private readonly errors: Counter<'api' | 'code'>;
  private readonly operationNames = { users: new Set<string>(), anonymous: new Set<string>() };
  private readonly statementTotals: StatementTotals = { statementCount: 0, statementMs: 0 };
  private readonly requestDurations: Histogram<'route'>;
  private readonly operationDurations: Histogram<'operation'>;
  private readonly requestCosts: Histogram<'api'>;
  private readonly eventLoopDelay = monitorEventLoopDelay({
    resolution: EVENT_LOOP_LAG_RESOLUTION_MS,
  });

  constructor(
    private readonly services: MeasuredServices,
    private readonly gauges: ServerGauges,
  ) {
    const registers = [this.metricsByDocsSection.requests.registry];

    this.requests = new Counter({
      name: 'fitgraph_http_requests_total',
      help: 'HTTP requests by `method`, `route` (a pattern such as `/api/v2/workout/{id}/`; `other` for unknown URLs) and `status` (`aborted` if the client disconnected before the response).',
      labelNames: ['method', 'route', 'status'],
      registers,
    });
    this.errors = new Counter({
      name: 'fitgraph_errors_total',
      help: 'Errors reported to clients, by `api` (`graphql`, `rest`) and `code`. `INTERNAL_SERVER_ERROR` is a bug; `TIMEOUT`, `OVERLOADED` and `SERVICE_UNAVAILABLE` come from the database.',
      labelNames: ['api', 'code'],
      registers,
    });
    this.requestDurations = new Histogram({
      name: 'fitgraph_http_request_duration_seconds',
      help: 'Time from the first byte of a request to the last byte of its response, by `route`. Excludes event streams.',
      labelNames: ['route'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers,
    });
    this.operationDurations = new Histogram({
      name: 'fitgraph_graphql_operation_duration_seconds',
      help: `GraphQL requests by \`operation\` name. The first ${MAX_OPERATION_NAMES.users} names of signed-in users and ${MAX_OPERATION_NAMES.anonymous} of anonymous clients have series of their own; others are \`other\`, unnamed operations \`(none)\`.`,
      labelNames: ['operation'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers,
    });
    this.requestCosts = new Histogram({
      name: 'fitgraph_operation_cost',
      help: 'Cost charged to budgets per request, by `api`. Empty with `BUDGET=off`.',
      labelNames: ['api'],
      buckets: COST_BUCKETS,
      registers,
    });
    this.addRejectionMetrics();
    addDatabaseMetrics(
      this.metricsByDocsSection.database,
      services.database,
      services.notificationListener,
      this.statementTotals,
    );
    this.addSubscriptionMetrics();
    this.addCacheMetrics();
    this.addProcessMetrics();
    this.registry = Registry.merge(
      Object.values(this.metricsByDocsSection).map(({ registry }) => registry),
    );
    this.eventLoopDelay.enable();
  }

  stop(): void {
    this.eventLoopDelay.disable();
  }

  recordResponse({
    request,
    response,
    context,
    restRoute,
    operationName,
    durationMs,
  }: CompletedRequest): void {
    const { session, budget, viewer, api } = context;
    const route = routeTemplate(request, restRoute);
    const status = response.writableFinished ? response.statusCode : 'aborted';
    const method = METHODS.has(request.method!) ? request.method! : OTHER_LABEL;

    this.requests.inc({ method, status, route });
    this.statementTotals.statementCount += session.statementCount;
    this.statementTotals.statementMs += session.statementMs;
    const budgetState = budget?.budgetState;

    if (budgetState) this.requestCosts.observe({ api }, budgetState.cost);
    if (isEventStream(response)) return;
    this.requestDurations.observe({ route }, durationMs / MS_PER_SECOND);

    if (operationName !== undefined) {
      this.operationDurations.observe(
        { operation: this.operationLabel(operationName, viewer !== null) },
        durationMs / MS_PER_SECOND,
      );
    }
  }

  countError(api: string, code: string): void {
    this.errors.inc({ api, code });
  }

  private operationLabel(name: string | null, isSignedIn: boolean): string {
    if (name === null) return UNNAMED_OPERATION_LABEL;
    const { users, anonymous } = this.operationNames;

    if (users.has(name) || anonymous.has(name)) return name;
    const names = isSignedIn ? users : anonymous;
    const maxNames = isSignedIn ? MAX_OPERATION_NAMES.users : MAX_OPERATION_NAMES.anonymous;

    // Limits the length of GraphQL operation names in labels, because clients choose the names.
    if (names.size >= maxNames || name.length > 100) return OTHER_LABEL;
    names.add(name);
    return name;
  }

  private addRejectionMetrics(): void {
    const { gauges } = this;
    const { loginLimiter, costRateLimiter } = this.services;
    const metrics = this.metricsByDocsSection.requests;
    const rejectionCounts = () => ({
      ...gauges.rejectedCounts,
      login: loginLimiter.rejectedAttemptCount,
      budget: costRateLimiter.rejectedCount,
    });

    metrics.addCounter(
      'fitgraph_rejections_total',
      'Requests rejected to protect the server, by `reason`: `overload` (load shedding), `queue_timeout` (queued too long), `shutdown`, `login` (too many attempts), `budget` (exhausted).',
      rejectionCounts,
      'reason',
    );
    metrics.addGauge(
      'fitgraph_queueing_delay_seconds',
      'Queueing delay of clients that send one request at a time; maximum of all workers.',
      () => gauges.queueingDelay() / MS_PER_SECOND,
      { aggregator: 'max' },
    );
    metrics.addGauge(
      'fitgraph_budget_clients',
      'Users and addresses with a budget in memory.',
      () => costRateLimiter.bucketCount,
    );
  }

  private addSubscriptionMetrics(): void {
    const { gauges } = this;
    const { changeLog } = this.services;
    const metrics = this.metricsByDocsSection.subscriptions;

    metrics.addGauge(
      'fitgraph_subscriptions',
      'Active subscriptions.',
      () => gauges.subscriptionCounts().running,
    );
    metrics.addCounter(
      'fitgraph_subscription_events_total',
      'Events delivered to subscribers.',
      () => gauges.subscriptionCounts().deliveredEvents,
    );
    const connectionCounts = () => ({
      sse: gauges.subscriptionCounts().eventStreams,
      websocket: gauges.subscriptionCounts().webSockets,
    });

    metrics.addGauge(
      'fitgraph_subscription_connections',
      'Connections of subscribers, by `transport`: `sse`, `websocket`.',
      connectionCounts,
      {
        label: 'transport',
      },
    );
    metrics.addGauge(
      'fitgraph_change_watchers',
      'Subscriptions that wait for a change.',
      () => changeLog.watcherCount,
    );
  }

  private addCacheMetrics(): void {
    const { resultCache } = this.gauges;
    const { derivedValues, catalogue, database } = this.services;
    const metrics = this.metricsByDocsSection.subscriptions;
    const entryCounts = () => ({
      user_states: derivedValues.size.versions,
      user_values: derivedValues.size.values,
      user_objects: derivedValues.size.objects,
      statement_names: database.preparedStatements.nameCount,
      reference_rows: catalogue.rowCount,
      responses: resultCache()?.size.entries ?? 0,
    });

    metrics.addGauge(
      'fitgraph_cache_entries',
      'Entries of in-memory caches, by `cache`: `user_states`, `user_values` and `user_objects` (computed values and their objects), `statement_names`, `reference_rows`, `responses` (anonymous reads of public rows).',
      entryCounts,
      { label: 'cache' },
    );
    metrics.addGauge(
      'fitgraph_response_cache_bytes',
      'Memory of the responses that are kept (`RESULT_CACHE`).',
      () => resultCache()?.size.bytes ?? 0,
    );
    metrics.addCounter(
      'fitgraph_response_cache_requests_total',
      'Anonymous reads of public rows, by `result`: `hit` (answered with a kept response) or `miss`.',
      () => resultCache()?.counts ?? { hit: 0, miss: 0 },
      'result',
    );
  }

  private addProcessMetrics(): void {
    const { gauges, eventLoopDelay } = this;
    const metrics = this.metricsByDocsSection.processes;

    metrics.addGauge(
      'fitgraph_ready',
      'Workers that are ready, as `/health/ready` reports it.',
      () => gauges.readyFlag(),
    );
    metrics.addGauge(
      'fitgraph_degraded',
      'Workers that serve some requests only, by `reason`: `table_missing`, `not_migrated`, `disk_full`, `read_only`, `access_denied`, `slow`, `failing`.',
      () => gauges.degradationFlags(),
      { label: 'reason' },
    );
    // Subtracts the sampling interval, which the values of the event-loop delay histogram include.
    const lagSeconds = (ns: number) =>
      Math.max(0, ns / NS_PER_SECOND - EVENT_LOOP_LAG_RESOLUTION_MS / MS_PER_SECOND) || 0;
    const addLagGauge = (name: string, description: string, value: () => number) =>
      metrics.addGauge(
        `fitgraph_event_loop_lag_${name}_seconds`,
        `${description} event-loop lag since the last scrape; maximum of all workers.`,
        value,
        {
          aggregator: 'max',
        },
      );

    addLagGauge('p50', 'Median', () => lagSeconds(eventLoopDelay.percentile(50)));
    addLagGauge('p99', '99th percentile of the', () => lagSeconds(eventLoopDelay.percentile(99)));
    // Resets the event-loop delay histogram here, because this is the last of the metrics that a
    // scrape reads from it.
    addLagGauge('max', 'Maximum', () => {
      const seconds = lagSeconds(eventLoopDelay.max);

      eventLoopDelay.reset();
      return seconds;
    });
    const cpuSeconds = () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6;

    metrics.addCounter('process_cpu_seconds_total', 'CPU time of all workers.', cpuSeconds);
    metrics.addGauge(
      'process_resident_memory_bytes',
      'Resident memory of all workers; shared pages count for each.',
      () => process.memoryUsage.rss(),
    );
    metrics.addGauge(
      'nodejs_heap_used_bytes',
      'JavaScript heap in use of all workers.',
      () => process.memoryUsage().heapUsed,
    );
    const startedAt = Date.now() / MS_PER_SECOND - process.uptime();

    metrics.addGauge(
      'process_start_time_seconds',
      'Start time of the oldest worker.',
      () => startedAt,
      { aggregator: 'min' },
    );
  }
}
