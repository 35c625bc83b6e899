/**
 * Prometheus metrics of one process. Most values are read from other objects at each scrape; only per-request values are counted here. The
 * cardinality of all labels is bounded, so clients cannot create time series without limit.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Histogram } from 'prom-client';
import type { Context } from '../core/context';
import type { Route } from '../rest/routes';
import type { Services } from '../exchange/services';
import { CollectedMetrics } from './collectedmetrics';
import { routeTemplate } from './routetemplates';

export interface AppGauges {
  /** Requests rejected by admission control, by reason. */
  readonly rejected: Readonly<Record<string, number>>;
  /** Queueing delay in milliseconds of clients with a single queued request. */
  lateness(): number;
  subscriptions(): { running: number; told: number; events: number; sockets: number };
}

export interface CompletedRequest {
  request: Pick<IncomingMessage, 'method' | 'url'>;
  response: ServerResponse;
  context: Context;
  /** Route of a REST request. */
  rest?: Route;
  /** Name of the GraphQL operation; null for an anonymous operation, undefined without one. */
  operation?: string | null;
  ms: number;
}

/** Maximum distinct operation names as labels. Anonymous clients have a limit of their own, because they can invent any number of names. */
const MAX_OPERATION_NAMES = { users: 200, anonymous: 50 };
const UNNAMED = '(none)';
const OTHER = 'other';
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const LAG_RESOLUTION_MS = 10;
const MS_PER_SECOND = 1000;
const NS_PER_SECOND = 1e9;
const DURATION_BUCKETS_SECONDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const COST_BUCKETS = [10, 100, 1_000, 10_000, 100_000];
/** Event streams are excluded from durations: they last as long as the client listens. */
const isEventStream = (response: ServerResponse) => String(response.getHeader('content-type') ?? '').startsWith('text/event-stream');

export class Metrics extends CollectedMetrics {
  private readonly requests = new Map<string, number>();
  private readonly errors = new Map<string, number>();
  private readonly operationNames = { users: new Set<string>(), anonymous: new Set<string>() };
  private statements = 0;
  private milliseconds = 0;
  private readonly durations: Histogram<'route'>;
  private readonly operations: Histogram<'operation'>;
  private readonly costs: Histogram<'api'>;
  private readonly lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });

  constructor(
    private readonly services: Services,
    private readonly app: AppGauges,
  ) {
    super();
    const registers = [this.registry];
    this.durations = new Histogram({
      name: 'fitgraph_http_request_duration_seconds',
      help: 'Duration of HTTP requests by route',
      labelNames: ['route'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers,
    });
    this.operations = new Histogram({
      name: 'fitgraph_graphql_operation_duration_seconds',
      help: 'Duration of GraphQL requests by operation name',
      labelNames: ['operation'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers,
    });
    this.costs = new Histogram({
      name: 'fitgraph_operation_cost',
      help: 'Cost charged to budgets per request',
      labelNames: ['api'],
      buckets: COST_BUCKETS,
      registers,
    });
    this.addRequestMetrics();
    this.addDatabaseMetrics();
    this.addProcessMetrics();
    this.addClientMetrics();
    this.addCacheMetrics();
    this.lag.enable();
  }

  stop(): void {
    this.lag.disable();
  }

  /** Records a request when its response was sent or its client has disconnected. */
  answered({ request, response, context, rest, operation, ms }: CompletedRequest): void {
    const { session, budget: spending, viewer, api } = context;
    const route = routeTemplate(request, rest);
    const status = response.writableFinished ? response.statusCode : 'aborted';
    const method = METHODS.has(request.method!) ? request.method! : OTHER;
    const key = `${method} ${status} ${route}`;
    this.requests.set(key, (this.requests.get(key) ?? 0) + 1);
    this.statements += session.statements;
    this.milliseconds += session.milliseconds;
    const standing = spending?.state;
    if (standing) this.costs.observe({ api }, standing.cost);
    if (isEventStream(response)) return;
    this.durations.observe({ route }, ms / MS_PER_SECOND);
    if (operation !== undefined)
      this.operations.observe({ operation: this.operationLabel(operation, viewer !== null) }, ms / MS_PER_SECOND);
  }

  readonly told = (api: string, code: string): void => {
    const key = `${api} ${code}`;
    this.errors.set(key, (this.errors.get(key) ?? 0) + 1);
  };

  private operationLabel(name: string | null, isSignedIn: boolean): string {
    if (name === null) return UNNAMED;
    const { users, anonymous } = this.operationNames;
    if (users.has(name) || anonymous.has(name)) return name;
    const [names, maxNames] = isSignedIn ? [users, MAX_OPERATION_NAMES.users] : [anonymous, MAX_OPERATION_NAMES.anonymous];
    // Longer names would also be cut in the log.
    if (names.size >= maxNames || name.length > 100) return OTHER;
    names.add(name);
    return name;
  }

  private addRequestMetrics(): void {
    const { requests, errors } = this;
    new Counter({
      name: 'fitgraph_http_requests_total',
      help: 'Requests answered, by method, route and status; "aborted" where the client went away before',
      labelNames: ['method', 'route', 'status'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [key, count] of requests) {
          const [method = '', status = '', ...route] = key.split(' ');
          this.inc({ method, status, route: route.join(' ') }, count);
        }
      },
    });
    new Counter({
      name: 'fitgraph_errors_total',
      help: 'Errors of operations that clients were told of, by interface and code',
      labelNames: ['api', 'code'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [key, count] of errors) {
          const [api = '', code = ''] = key.split(' ');
          this.inc({ api, code }, count);
        }
      },
    });
  }

  private addDatabaseMetrics(): void {
    const { database, listener } = this.services;
    this.addCounter('fitgraph_statements_total', 'SQL statements sent by requests', undefined, () => this.statements);
    const seconds = () => this.milliseconds / MS_PER_SECOND;
    this.addCounter(
      'fitgraph_statement_seconds_total',
      'Database time of requests, including waiting for a connection',
      undefined,
      seconds,
    );
    const connectionsByPool = (state: 'busy' | 'idle' | 'waiting') => () =>
      Object.fromEntries(Object.entries(database.connections()).map(([pool, counts]) => [pool, counts[state]]));
    this.addGauge('fitgraph_database_connections_busy', 'Connections in use, by pool', 'pool', connectionsByPool('busy'));
    this.addGauge('fitgraph_database_connections_idle', 'Idle connections, by pool', 'pool', connectionsByPool('idle'));
    this.addGauge(
      'fitgraph_database_connections_waiting',
      'Clients waiting for a connection, by pool',
      'pool',
      connectionsByPool('waiting'),
    );
    const { replica } = database;
    const isUsed = () => Number(replica?.isUsed ?? false);
    this.addGauge('fitgraph_replica_used', 'Workers that read from the replica', undefined, isUsed);
    this.addGauge(
      'fitgraph_replica_lag_seconds',
      'Replication lag, maximum of all workers',
      undefined,
      () => replica?.secondsBehind,
      'max',
    );
    this.addCounter('fitgraph_replica_statements_total', 'Statements executed on the replica', undefined, () => replica?.answered ?? 0);
    const limiters = Object.entries({
      ...Object.fromEntries(Object.entries(database.reads).map(([name, { limiter }]) => [name, limiter])),
      writes: database.writes,
    });
    const limiterValues = (what: 'busy' | 'queued' | 'rejected' | 'slots') => () =>
      Object.fromEntries(limiters.map(([name, limiter]) => [name, limiter.state[what]]));
    this.addGauge(
      'fitgraph_limiter_slots',
      'Maximum number of concurrent statements or transactions, by limiter',
      'limiter',
      limiterValues('slots'),
    );
    this.addGauge('fitgraph_limiter_busy', 'Running statements or transactions, by limiter', 'limiter', limiterValues('busy'));
    this.addGauge('fitgraph_limiter_queued', 'Queued statements or transactions, by limiter', 'limiter', limiterValues('queued'));
    this.addCounter(
      'fitgraph_limiter_rejections_total',
      'Statements or transactions rejected because the queue was full or slow, by limiter',
      'limiter',
      limiterValues('rejected'),
    );
    this.addGauge('fitgraph_listener_connected', 'Workers that receive change notifications', undefined, () => Number(listener.connected));
    this.addCounter('fitgraph_listener_reconnects_total', 'Lost notification connections', undefined, () => listener.lostConnections);
    this.addCounter('fitgraph_listener_notifications_total', 'Change notifications received', undefined, () => listener.notifications);
    this.addGauge(
      'fitgraph_change_log_rows',
      'Rows of the change log, estimated by PostgreSQL',
      undefined,
      () => this.estimateChanges(),
      'max',
    );
  }

  /** Estimated rows of the change log; undefined if the database does not respond within 500 ms. */
  private async estimateChanges(): Promise<number | undefined> {
    const text = `SELECT greatest(0, "reltuples")::float8 AS "rows" FROM pg_class WHERE "oid" = to_regclass('change')`;
    const estimate = this.services.database.pool.query(text).then(({ rows }) => rows[0]?.rows as number | undefined);
    const timeout = new Promise<undefined>((resolve) => setTimeout(resolve, 500, undefined).unref());
    return Promise.race([estimate, timeout]).catch(() => undefined);
  }

  private addProcessMetrics(): void {
    const { lag } = this;
    const quantiles = () => {
      // The histogram includes the interval of its own timer, which is subtracted.
      const lagSeconds = (ns: number) => Math.max(0, ns / NS_PER_SECOND - LAG_RESOLUTION_MS / MS_PER_SECOND) || 0;
      const values = { '0.5': lagSeconds(lag.percentile(50)), '0.99': lagSeconds(lag.percentile(99)), '1': lagSeconds(lag.max) };
      lag.reset();
      return values;
    };
    this.addGauge(
      'fitgraph_event_loop_lag_seconds',
      'Event-loop lag since the last scrape, maximum of all workers',
      'quantile',
      quantiles,
      'max',
    );
    const cpu = () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
    this.addCounter('process_cpu_seconds_total', 'CPU time of all workers', undefined, cpu);
    this.addGauge('process_resident_memory_bytes', 'Resident memory of all workers', undefined, () => process.memoryUsage.rss());
    this.addGauge('nodejs_heap_used_bytes', 'JavaScript heap in use of all workers', undefined, () => process.memoryUsage().heapUsed);
    const startedAt = Date.now() / MS_PER_SECOND - process.uptime();
    this.addGauge('process_start_time_seconds', 'Start time of the oldest worker', undefined, () => startedAt, 'min');
  }

  private addClientMetrics(): void {
    const { app, services } = this;
    const { limit, budgets, changes } = services;
    const rejections = () => ({ ...app.rejected, login: limit.refused, budget: budgets.rejectedCount });
    this.addCounter('fitgraph_rejections_total', 'Requests rejected to protect the server, by reason', 'reason', rejections);
    this.addGauge(
      'fitgraph_queueing_delay_seconds',
      'Queueing delay of clients with a single request, maximum of all workers',
      undefined,
      () => app.lateness() / MS_PER_SECOND,
      'max',
    );
    this.addGauge('fitgraph_budget_clients', 'Users and addresses with a budget in memory', undefined, () => budgets.bucketCount);
    this.addGauge('fitgraph_subscriptions', 'Active subscriptions', undefined, () => app.subscriptions().running);
    this.addCounter('fitgraph_subscription_events_total', 'Subscription events delivered', undefined, () => app.subscriptions().told);
    const connections = () => ({ sse: app.subscriptions().events, websocket: app.subscriptions().sockets });
    this.addGauge('fitgraph_subscription_connections', 'Connections of subscribers, by transport', 'transport', connections);
    this.addGauge('fitgraph_change_watchers', 'Subscriptions that wait for changes', undefined, () => changes.watcherCount);
  }

  private addCacheMetrics(): void {
    const { memory, names, reference, database } = this.services;
    const entries = () => ({
      user_states: memory.size.states,
      user_values: memory.size.values,
      statement_names: database.prepared.named,
      search_names: names.size,
      reference_rows: reference.size,
    });
    this.addGauge('fitgraph_cache_entries', 'Entries of in-memory caches', 'cache', entries);
  }
}
