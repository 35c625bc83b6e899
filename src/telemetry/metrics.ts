/**
 * What one process tells of itself, for Prometheus. Most is kept somewhere anyway and read when it is asked for; only what nobody else counts is
 * counted here, once for each request. Names of labels are ours or bounded: no client can make as many series as it likes.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Histogram } from 'prom-client';
import type { Context } from '../core/context';
import type { Route } from '../rest/routes';
import type { Services } from '../exchange/services';
import { Collected } from './collected';
import { routeOf } from './routes';

export interface AppCounts {
  /** Requests turned away at the door, by the reason. */
  readonly turnedAway: Readonly<Record<string, number>>;
  /** Milliseconds that whoever asks for one thing waits at the door. */
  lateness(): number;
  subscriptions(): { running: number; told: number; events: number; sockets: number };
}

export interface Answered {
  request: IncomingMessage;
  response: ServerResponse;
  context: Context;
  /** Where it is one of REST's. */
  rest?: Route;
  /** Where one of GraphQL was found: its name, null without one. */
  operation?: string | null;
  ms: number;
}

/** Of operations that users run, and of strangers', who may think of as many names as they like. */
const MAX_NAMES = { users: 200, strangers: 50 };
const UNNAMED = '(none)';
const OTHER = 'other';
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const LAG_RESOLUTION_MS = 10;
const MS = 1000;
const NS = 1e9;
const DURATIONS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const COSTS = [10, 100, 1_000, 10_000, 100_000];
/** A stream's end says nothing of how fast the server is. */
const isStream = (response: ServerResponse) => String(response.getHeader('content-type') ?? '').startsWith('text/event-stream');

export class Metrics extends Collected {
  private readonly requests = new Map<string, number>();
  private readonly errors = new Map<string, number>();
  private readonly names = { users: new Set<string>(), strangers: new Set<string>() };
  private statements = 0;
  private milliseconds = 0;
  private readonly durations: Histogram<'route'>;
  private readonly operations: Histogram<'operation'>;
  private readonly costs: Histogram<'api'>;
  private readonly lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });

  constructor(
    private readonly services: Services,
    private readonly app: AppCounts,
  ) {
    super();
    const registers = [this.registry];
    this.durations = new Histogram({
      name: 'fitgraph_http_request_duration_seconds',
      help: 'From the first byte of a request to the last of its answer, by route',
      labelNames: ['route'],
      buckets: DURATIONS,
      registers,
    });
    this.operations = new Histogram({
      name: 'fitgraph_graphql_operation_duration_seconds',
      help: 'Requests of GraphQL by the name of their operation',
      labelNames: ['operation'],
      buckets: DURATIONS,
      registers,
    });
    this.costs = new Histogram({
      name: 'fitgraph_operation_cost',
      help: 'What requests have spent of budgets, in units of cost',
      labelNames: ['api'],
      buckets: COSTS,
      registers,
    });
    this.counted();
    this.database();
    this.process();
    this.callers();
    this.caches();
    this.lag.enable();
  }

  stop(): void {
    this.lag.disable();
  }

  /** Once the answer has gone, or its client. */
  answered({ request, response, context, rest, operation, ms }: Answered): void {
    const { session, spending, viewer, api } = context;
    const route = routeOf(request, rest);
    const status = response.writableFinished ? response.statusCode : 'aborted';
    const method = METHODS.has(request.method!) ? request.method! : OTHER;
    const key = `${method} ${status} ${route}`;
    this.requests.set(key, (this.requests.get(key) ?? 0) + 1);
    this.statements += session.statements;
    this.milliseconds += session.milliseconds;
    const standing = spending?.standing;
    if (standing) this.costs.observe({ api }, standing.cost);
    if (isStream(response)) return;
    this.durations.observe({ route }, ms / MS);
    if (operation !== undefined) this.operations.observe({ operation: this.nameOf(operation, viewer !== null) }, ms / MS);
  }

  readonly told = (api: string, code: string): void => {
    const key = `${api} ${code}`;
    this.errors.set(key, (this.errors.get(key) ?? 0) + 1);
  };

  private nameOf(name: string | null, isUsers: boolean): string {
    if (name === null) return UNNAMED;
    const { users, strangers } = this.names;
    if (users.has(name) || strangers.has(name)) return name;
    const [known, most] = isUsers ? [users, MAX_NAMES.users] : [strangers, MAX_NAMES.strangers];
    // Longer ones would be cut in the log too.
    if (known.size >= most || name.length > 100) return OTHER;
    known.add(name);
    return name;
  }

  private counted(): void {
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

  private database(): void {
    const { database, listener } = this.services;
    this.counter('fitgraph_statements_total', 'Statements that requests sent to the database', undefined, () => this.statements);
    const seconds = () => this.milliseconds / MS;
    this.counter('fitgraph_statement_seconds_total', 'Time that requests waited for the database', undefined, seconds);
    const connections = (state: 'busy' | 'idle' | 'waiting') => () =>
      Object.fromEntries(Object.entries(database.connections()).map(([pool, counts]) => [pool, counts[state]]));
    this.gauge('fitgraph_database_connections_busy', 'Connections that are being used, by pool', 'pool', connections('busy'));
    this.gauge('fitgraph_database_connections_idle', 'Connections that are open and free, by pool', 'pool', connections('idle'));
    this.gauge('fitgraph_database_connections_awaited', 'Who waits for a connection, by pool', 'pool', connections('waiting'));
    const { replica } = database;
    const isUsed = () => Number(replica?.isUsed ?? false);
    this.gauge('fitgraph_replica_used', 'Workers that read from the replica what strangers ask for', undefined, isUsed);
    this.gauge(
      'fitgraph_replica_lag_seconds',
      'How far it is behind, of all workers the most',
      undefined,
      () => replica?.secondsBehind,
      'max',
    );
    this.counter('fitgraph_replica_statements_total', 'Statements that it has answered', undefined, () => replica?.answered ?? 0);
    const lanes = Object.entries({
      ...Object.fromEntries(Object.entries(database.lanes).map(([name, { lane }]) => [name, lane])),
      writes: database.writes,
    });
    const ofLanes = (what: 'busy' | 'queued' | 'rejected' | 'slots') => () =>
      Object.fromEntries(lanes.map(([name, lane]) => [name, lane.state[what]]));
    this.gauge(
      'fitgraph_lane_places',
      'How many statements or transactions may run at a time, by kind of caller',
      'lane',
      ofLanes('slots'),
    );
    this.gauge('fitgraph_lane_busy', 'How many run', 'lane', ofLanes('busy'));
    this.gauge('fitgraph_lane_waiting', 'How many wait for their turn', 'lane', ofLanes('queued'));
    this.counter('fitgraph_lane_refusals_total', 'How many were refused because too many waited, or too long', 'lane', ofLanes('rejected'));
    this.gauge('fitgraph_listener_connected', 'Whether the database can tell of changes: workers that hear it', undefined, () =>
      Number(listener.connected),
    );
    this.counter('fitgraph_listener_losses_total', 'How often that connection was lost', undefined, () => listener.losses);
    this.counter('fitgraph_listener_notifications_total', 'Notifications of the database', undefined, () => listener.notifications);
    this.gauge(
      'fitgraph_change_log_rows',
      'Changes kept for clients that ask later, as the planner estimates them',
      undefined,
      () => this.changes(),
      'max',
    );
  }

  /** Absent where the database does not say so soon. */
  private async changes(): Promise<number | undefined> {
    const text = `SELECT greatest(0, "reltuples")::float8 AS "rows" FROM pg_class WHERE "oid" = to_regclass('change')`;
    const asked = this.services.database.pool.query(text).then(({ rows }) => rows[0]?.rows as number | undefined);
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, 500, undefined).unref());
    return Promise.race([asked, late]).catch(() => undefined);
  }

  private process(): void {
    const { lag } = this;
    const quantiles = () => {
      // The timer itself takes so long.
      const late = (ns: number) => Math.max(0, ns / NS - LAG_RESOLUTION_MS / MS) || 0;
      const values = { '0.5': late(lag.percentile(50)), '0.99': late(lag.percentile(99)), '1': late(lag.max) };
      lag.reset();
      return values;
    };
    this.gauge(
      'fitgraph_event_loop_lag_seconds',
      'How late the process was since the last scrape, of all workers the latest',
      'quantile',
      quantiles,
      'max',
    );
    const cpu = () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
    this.counter('process_cpu_seconds_total', 'Time of the processor', undefined, cpu);
    this.gauge('process_resident_memory_bytes', 'Memory of all workers', undefined, () => process.memoryUsage.rss());
    this.gauge('nodejs_heap_used_bytes', 'Memory of JavaScript objects of all workers', undefined, () => process.memoryUsage().heapUsed);
    const started = Date.now() / MS - process.uptime();
    this.gauge('process_start_time_seconds', 'When the oldest worker was started', undefined, () => started, 'min');
  }

  private callers(): void {
    const { app, services } = this;
    const { limit, budgets, changes } = services;
    const refusals = () => ({ ...app.turnedAway, login: limit.refused, budget: budgets.refused });
    this.counter('fitgraph_refusals_total', 'Requests refused to protect the server, by reason', 'reason', refusals);
    this.gauge(
      'fitgraph_door_lateness_seconds',
      'How long a caller waits whose requests come one by one',
      undefined,
      () => app.lateness() / MS,
      'max',
    );
    this.gauge('fitgraph_budget_callers', 'Users and addresses whose spending is known', undefined, () => budgets.known);
    this.gauge('fitgraph_subscriptions', 'Subscriptions that run', undefined, () => app.subscriptions().running);
    this.counter('fitgraph_subscription_events_total', 'Events that subscribers were told', undefined, () => app.subscriptions().told);
    const connections = () => ({ sse: app.subscriptions().events, websocket: app.subscriptions().sockets });
    this.gauge('fitgraph_subscription_connections', 'Connections of subscribers, by transport', 'transport', connections);
    this.gauge('fitgraph_change_watchers', 'Subscriptions and live pages that wait for changes', undefined, () => changes.watching);
  }

  private caches(): void {
    const { memory, names, reference, database } = this.services;
    const entries = () => ({
      user_states: memory.size.states,
      user_values: memory.size.values,
      statement_names: database.prepared.named,
      search_names: names.size,
      reference_rows: reference.size,
    });
    this.gauge('fitgraph_cache_entries', 'What is kept in memory, by cache', 'cache', entries);
  }
}
