/** Configuration from environment variables, validated once at start. The only file that reads the environment. */
import type { Bucket } from './bucket';
import { Environment, type Rate } from './environment';
import * as settings from './settings';

export { ConfigError } from './environment';

export interface Config {
  readonly production: boolean;
  readonly port: number;
  readonly host: string;
  /** Worker processes under a supervisor; 0: this process serves requests itself, without a supervisor. */
  readonly workers: number;
  /** Milliseconds without a heartbeat after which a worker is replaced; 0: never. */
  readonly workerTimeout: number;
  /** Absent: the embedded PostgreSQL below `dataDir`. */
  readonly databaseUrl?: string;
  /** The same database without its transaction pooler, for LISTEN/NOTIFY and advisory locks; absent: `databaseUrl`. */
  readonly listenUrl?: string;
  /** Standby of `databaseUrl` for reads of anonymous clients; absent: they read from the primary. */
  readonly replicaUrl?: string;
  /** Tolerated replication lag of the standby in milliseconds. */
  readonly replicaLag: number;
  readonly poolSize: number;
  /** Milliseconds after which a read statement is cancelled; 0: never. */
  readonly statementTimeout: number;
  /** `statementTimeout` of anonymous clients. */
  readonly anonymousTimeout: number;
  /** Milliseconds that a statement waits for a lock; 0: as long as the statement may take. */
  readonly lockTimeout: number;
  /** Milliseconds after which PostgreSQL ends an idle transaction; 0: never. */
  readonly idleTransactionTimeout: number;
  /** Whether PostgreSQL enforces row-level security; `on`: if the database role permits it. */
  readonly rowSecurity: 'on' | 'required' | 'off';
  /** Queue of each concurrency limiter of the database. */
  readonly queue: { readonly maxQueued: number; readonly maxWaitMs: number };
  /** Milliseconds during shutdown in which new connections are still accepted while the readiness probe already fails. */
  readonly drainNotice: number;
  /** Event-loop lag in milliseconds above which new requests are rejected; 0 disables load shedding. */
  readonly maxLag: number;
  readonly dataDir: string;
  /** Folder of uploaded images. */
  readonly mediaDir: string;
  /** Object storage that replaces `mediaDir`. */
  readonly bucket?: Bucket;
  /** Whether the operator has set `mediaDir`, which several instances may then share. */
  readonly ownMediaDir: boolean;
  readonly timeZone: string;
  /** Prometheus metrics: on a port of their own, or protected by a bearer token; absent: disabled. */
  readonly metrics?: { readonly port?: number; readonly host: string; readonly token?: string };
  /** OpenTelemetry collector and the service name to report; absent: no traces. */
  readonly tracing?: { readonly endpoint: string; readonly service: string };
  /** Absent outside production: generated at the first start and stored in `dataDir`. */
  readonly secretKey?: string;
  readonly loginRate: Rate;
  readonly loginRateAddress: Rate;
  readonly loginRateTotal: Rate;
  readonly serverTiming: boolean;
  readonly logLevel: string;
  /** In bytes, like the following sizes. */
  readonly maxBody: number;
  readonly maxJson: number;
  readonly maxUpload: number;
  readonly maxResponse: number;
  /** Total size of one user's images; Infinity: unlimited. */
  readonly uploadQuota: number;
  /** Total size of responses stored for one user's Idempotency-Keys. */
  readonly keptAnswers: number;
  /** Maximum number of Idempotency-Keys per user. */
  readonly maxKeys: number;
  /** Maximum body of an anonymous client, in bytes. */
  readonly maxAnonymousBody: number;
  /** Milliseconds without progress in sending a request or reading a response after which the connection is closed; 0: never. */
  readonly clientTimeout: number;
  /** Milliseconds after which image processing is aborted; 0: never. */
  readonly imageTimeout: number;
  /** Scheme and host of every link, e.g. `https://fit.example.com`. */
  readonly publicUrl?: string;
  readonly trustedProxies: readonly string[];
  /** Paths of PEM files. Absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Maximum number of access tokens per user. */
  readonly maxTokens: number;
  readonly auditDays: number;
  /** `max-age` of Strict-Transport-Security (HSTS) in seconds; 0: header not sent. */
  readonly hsts: number;
  /** Who may run GraphQL introspection queries, and therefore use the playground. */
  readonly introspection: 'anyone' | 'users';
  /** Whether /graphql rejects requests that browsers send cross-site without a preflight. */
  readonly graphqlCsrf: boolean;
  /** Whether the server's own operations, such as those of REST, run compiled instead of by graphql-js. */
  readonly compileOperations: boolean;
  readonly maxCost: number;
  /** Rate limit by query cost, in cost units per second; absent: unlimited. */
  readonly budget?: { readonly user: number; readonly anonymous: number };
  /** Milliseconds after which an export is aborted; 0: never. */
  readonly exportTimeout: number;
  /** Maximum number of concurrent exports. */
  readonly maxExports: number;
  /** Folder with manifests of trusted documents (persisted operations). */
  readonly persistedOperations?: string;
  readonly persistedOnly: boolean;
}

type Variables = Record<string, string | undefined>;

/** Whether unexpected errors are printed with their stack trace. Independent of `readConfig`, because the configuration may be invalid. */
export const showsStackTraces = (variables: Variables = process.env): boolean => variables.LOG_LEVEL === 'debug';

/**
 * Parses and validates all settings. The first error is thrown; settings with checks beyond the syntax of one value are therefore parsed first.
 */
export function readConfig(variables: Variables = process.env): Config {
  const env = new Environment(variables);
  const waitTimes = settings.waiting(env);
  const installation = settings.installation(env);
  const loginRate = env.rate('LOGIN_RATE', { points: 10, seconds: 60 });
  return Object.freeze({
    ...waitTimes,
    ...installation,
    ...settings.statements(env),
    ...settings.databases(env),
    ...settings.files(env),
    publicUrl: settings.publicOrigin(env),
    tls: settings.tls(env),
    metrics: settings.metrics(env),
    tracing: settings.tracing(env),
    ...settings.trustedDocuments(env),
    ...settings.listening(env),
    ...settings.connections(env),
    maxLag: env.duration('MAX_LAG', 100),
    ...settings.loginRates(env, loginRate),
    serverTiming: env.flag('SERVER_TIMING', !installation.production),
    ...settings.requests(env),
    ...settings.security(env),
    ...settings.operations(env),
    ...settings.exporting(env),
    compileOperations: env.flag('COMPILE_OPERATIONS', true),
  });
}
