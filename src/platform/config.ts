/**
 * The environment, checked once at start; the only file that reads it. A wrong value is one clear line that names the variable and says what it may
 * be, in words of its own, which is most of what is here: a library for schemas would not make it shorter.
 */
import { availableParallelism } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { IANAZone } from 'luxon';
import { bucketOf, type Bucket } from './bucket';

export class ConfigError extends Error {}

/** So many times in so many seconds. */
export interface Rate {
  readonly points: number;
  readonly seconds: number;
}

export interface Config {
  readonly production: boolean;
  readonly port: number;
  readonly host: string;
  /** Processes that answer requests, watched by one more; 0: this process answers them itself, and nobody watches it. */
  readonly workers: number;
  /** Milliseconds of silence after which a worker is replaced; 0: never. */
  readonly workerTimeout: number;
  /** Absent: the embedded PostgreSQL below `dataDir`. */
  readonly databaseUrl?: string;
  /** To the same database around a pooler that gives each transaction another session; absent: `databaseUrl`. */
  readonly listenUrl?: string;
  readonly poolSize: number;
  /** Milliseconds after which a statement that reads is given up; 0: never. */
  readonly statementTimeout: number;
  /** The same for those who are not signed in. */
  readonly anonymousTimeout: number;
  /** Milliseconds for which a statement waits for what another transaction holds; 0: as long as the statement may take. */
  readonly lockTimeout: number;
  /** Milliseconds after which a transaction that does nothing is ended; 0: never. */
  readonly idleTransactionTimeout: number;
  /** Whether PostgreSQL itself shows requests the rows of their viewer alone. `on`: where it can. */
  readonly rowSecurity: 'on' | 'required' | 'off';
  /** Requests that may wait in each lane of the database, and for how many milliseconds. */
  readonly queue: { readonly waiting: number; readonly ms: number };
  /** Milliseconds for which new connections are taken after the server was told to end, while it says that it is not ready. */
  readonly drainNotice: number;
  /** Milliseconds that everything may be late before new requests are refused; 0: however late. */
  readonly maxLag: number;
  readonly dataDir: string;
  /** Of the files of rows. */
  readonly mediaDir: string;
  /** For the files of rows in the place of the folder. */
  readonly bucket?: Bucket;
  /** Whether the operator has named that folder, for several instances perhaps. */
  readonly ownMediaDir: boolean;
  readonly timeZone: string;
  /** Who may read what the server tells of itself; absent: nobody. `port`: on a port of its own. `token`: as a bearer token. */
  readonly metrics?: { readonly port?: number; readonly host: string; readonly token?: string };
  /** Who collects traces for OpenTelemetry, and under which name; absent: nobody. */
  readonly tracing?: { readonly endpoint: string; readonly service: string };
  /** Absent outside production: made at first start and kept in `dataDir`. */
  readonly secretKey?: string;
  readonly loginRate: Rate;
  readonly loginRateAddress: Rate;
  readonly loginRateTotal: Rate;
  readonly serverTiming: boolean;
  readonly logLevel: string;
  /** Bytes. */
  readonly maxBody: number;
  readonly maxUpload: number;
  /** Of all images of one user; Infinity: as many as they like. */
  readonly uploadQuota: number;
  /** Of the answers that are kept for one user's Idempotency-Keys. */
  readonly keptAnswers: number;
  /** Idempotency-Keys of one user. */
  readonly maxKeys: number;
  /** Of a body whose sender is not signed in. */
  readonly maxAnonymousBody: number;
  /** Milliseconds in which a client must send something of its request, or take something of its answer; 0: for ever. */
  readonly clientTimeout: number;
  /** Milliseconds after which work on one image is given up; 0: never. */
  readonly imageTimeout: number;
  /** Scheme and host of every link, e.g. `https://fit.example.com`. */
  readonly publicUrl?: string;
  readonly trustedProxies: readonly string[];
  /** Paths of PEM files. Absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Access tokens of one user. */
  readonly maxTokens: number;
  /** For how long security events are kept. */
  readonly auditDays: number;
  /** Seconds for which browsers that came by https come by nothing else; 0: they are not told to. */
  readonly hsts: number;
  /** Where people who found a hole write to: a URI, for /.well-known/security.txt. Absent: there is none. */
  readonly securityContact?: string;
  /** Who may ask for the schema of GraphQL, and use the playground, which does. */
  readonly introspection: 'anyone' | 'users';
  /** Whether /graphql refuses requests that another site's page can send without asking. */
  readonly graphqlCsrf: boolean;
  /** Whether operations of a proven shape run compiled; else all of them run by graphql-js itself. */
  readonly compileOperations: boolean;
  /** What one operation may cost (`core/cost.ts`). */
  readonly maxCost: number;
  /** What may be spent on operations, in units of cost a second; absent: as much as anybody likes. */
  readonly budget?: { readonly user: number; readonly anonymous: number };
  /** Milliseconds after which a file that is still being sent is given up; 0: never. */
  readonly exportTimeout: number;
  /** Files that are sent at a time. */
  readonly maxExports: number;
  /** Folder with manifests of operations that clients name by an id. */
  readonly persistedOperations?: string;
  /** Whether /graphql runs nothing else. */
  readonly persistedOnly: boolean;
}

/** Characters. */
export const MIN_SECRET_KEY = 32;

type Environment = Record<string, string | undefined>;

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const DURATIONS: Record<string, number> = { ms: 1, s: 1000, min: 60_000 };
const UNITS: Record<string, number> = { s: 1, sec: 1, min: 60, h: 3600, hour: 3600 };
const SECONDS_PER_DAY = 24 * 60 * 60;
/** Of one line, because it becomes one of a file. (https://www.rfc-editor.org/rfc/rfc9116#section-2.5.3) */
const CONTACT = /^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s]+|tel:[+\d-]+)$/;
const SIZES: Record<string, number> = { '': 1, k: 1024, kb: 1024, m: 1024 ** 2, mb: 1024 ** 2, g: 1024 ** 3, gb: 1024 ** 3 };

/** Whether a command shows where an unexpected error comes from; asked when the configuration itself may be wrong. */
export const wantsStacks = (environment: Environment = process.env): boolean => environment.LOG_LEVEL === 'debug';

export function readConfig(environment: Environment = process.env): Config {
  const text = (name: string) => environment[name]?.trim() || undefined;
  const fail = (name: string, expected: string): never => {
    throw new ConfigError(`${name} must be ${expected}, not ${JSON.stringify(environment[name] ?? '')}`);
  };
  const whole = (name: string, fallback: number, min: number, max: number) => {
    const value = text(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    return /^\d+$/.test(value) && number >= min && number <= max ? number : fail(name, `a whole number from ${min} to ${max}`);
  };
  const size = (name: string, fallback: number) => {
    const [, number, unit] = /^(\d+)\s*([a-z]*)$/i.exec(text(name) ?? '') ?? [];
    if (text(name) === undefined) return fallback;
    const factor = SIZES[(unit ?? '?').toLowerCase()];
    return number && factor ? Number(number) * factor : fail(name, 'a size such as 5MB');
  };
  const flag = (name: string, fallback: boolean) => {
    const value = text(name)?.toLowerCase();
    if (value === undefined) return fallback;
    return ['on', 'true'].includes(value) || (['off', 'false'].includes(value) ? false : fail(name, 'on or off'));
  };
  const choice = <T extends string>(name: string, [fallback, ...others]: readonly [T, ...T[]]): T => {
    const value = text(name)?.toLowerCase() ?? fallback;
    return [fallback, ...others].find((one) => one === value) ?? fail(name, [fallback, ...others].join(' or '));
  };
  const duration = (name: string, fallback: number) => {
    const value = text(name);
    if (value === undefined || value === 'off') return value === undefined ? fallback : 0;
    const [, number, unit] = /^(\d{1,6})\s*(ms|s|min)$/.exec(value) ?? fail(name, 'a duration such as 10s, 500ms or 1min, or off');
    return Number(number) * DURATIONS[unit!]!;
  };
  const rate = (name: string, fallback: Rate): Rate => {
    const value = text(name);
    if (value === undefined) return fallback;
    const [, points, times, unit] = /^(\d{1,9})\/(\d{0,4})([a-z]{1,4})$/.exec(value) ?? [];
    const seconds = UNITS[unit ?? ''];
    if (points === undefined || seconds === undefined) return fail(name, 'a rate such as 10/min, 1/s or 100/10min');
    return { points: Math.max(1, Number(points)), seconds: seconds * Math.max(1, Number(times || 1)) };
  };
  const workerTimeout = duration('WORKER_TIMEOUT', 5_000);
  if (workerTimeout > 0 && workerTimeout < 1_000) fail('WORKER_TIMEOUT', 'at least 1s, or off');
  const drainNotice = duration('DRAIN_NOTICE', 1_000);
  if (drainNotice > 5_000) fail('DRAIN_NOTICE', 'at most 5s');
  const url = (name: string, protocols: string[], example: string) => {
    const value = text(name);
    if (value === undefined) return undefined;
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) fail(name, `a URL such as ${example}`);
    return value;
  };

  const environmentName = text('NODE_ENV') ?? 'development';
  if (!['development', 'production', 'test'].includes(environmentName)) fail('NODE_ENV', 'development, production or test');
  const production = environmentName === 'production';
  const timeZone = text('TIME_ZONE') ?? 'UTC';
  if (!IANAZone.isValidZone(timeZone)) fail('TIME_ZONE', 'a zone of the IANA database such as Europe/Berlin');
  const secretKey = text('SECRET_KEY');
  if (secretKey !== undefined && secretKey.length < MIN_SECRET_KEY)
    throw new ConfigError(`SECRET_KEY must have at least ${MIN_SECRET_KEY} characters (for example the output of: openssl rand -hex 32)`);
  if (production && !secretKey) throw new ConfigError('SECRET_KEY is missing: NODE_ENV=production demands it');
  const logLevel = text('LOG_LEVEL') ?? 'info';
  if (!LEVELS.includes(logLevel)) fail('LOG_LEVEL', `one of ${LEVELS.join(', ')}`);
  const loginRate = rate('LOGIN_RATE', { points: 10, seconds: 60 });
  const [statementTimeout, anonymousTimeout] = [duration('STATEMENT_TIMEOUT', 10_000), duration('ANONYMOUS_TIMEOUT', 3_000)];
  const postgres = (name: string) => url(name, ['postgres:', 'postgresql:'], 'postgres://user:password@host:5432/name');
  const [databaseUrl, listenUrl] = [postgres('DATABASE_URL'), postgres('DATABASE_LISTEN_URL')];
  if (listenUrl !== undefined && databaseUrl === undefined)
    throw new ConfigError('DATABASE_URL is missing: DATABASE_LISTEN_URL demands it');
  const dataDir = text('DATA_DIR') ?? '.data';
  const dataFolder = isAbsolute(dataDir) ? dataDir : resolve(dataDir);
  const mediaDir = text('MEDIA_DIR');
  const mediaUrl = url('MEDIA_URL', ['s3:'], 's3://bucket/prefix');
  if (mediaUrl !== undefined && mediaDir !== undefined) throw new ConfigError('MEDIA_URL and MEDIA_DIR cannot both be set');
  const mediaEndpoint = url('MEDIA_ENDPOINT', ['http:', 'https:'], 'https://s3.example.com');
  const bucket = mediaUrl === undefined ? undefined : bucketOf(mediaUrl, mediaEndpoint, text);
  if (bucket === null) fail('MEDIA_URL', 'a URL such as s3://bucket/prefix');
  const publicUrl = url('PUBLIC_URL', ['http:', 'https:'], 'https://fit.example.com');
  const publicOrigin = publicUrl && new URL(publicUrl).origin;
  // A path, a query or a password in it would end up in every link.
  if (publicUrl !== undefined && ![publicOrigin, `${publicOrigin}/`].includes(publicUrl.toLowerCase()))
    fail('PUBLIC_URL', 'a scheme and a host, such as https://fit.example.com');
  const securityContact = text('SECURITY_CONTACT');
  if (securityContact !== undefined && !CONTACT.test(securityContact))
    fail('SECURITY_CONTACT', 'a URI such as mailto:security@example.com or https://example.com/security');
  const [cert, key] = [text('TLS_CERT'), text('TLS_KEY')];
  if ((cert === undefined) !== (key === undefined)) {
    const [missing, given] = cert === undefined ? ['TLS_CERT', 'TLS_KEY'] : ['TLS_KEY', 'TLS_CERT'];
    throw new ConfigError(`${missing} is missing: it is needed with ${given}`);
  }
  const metricsToken = text('METRICS_TOKEN');
  if (metricsToken !== undefined && metricsToken.length < 16)
    throw new ConfigError('METRICS_TOKEN must have at least 16 characters (for example the output of: openssl rand -hex 16)');
  const metricsPort = text('METRICS_PORT') === undefined ? undefined : whole('METRICS_PORT', 0, 0, 65_535);
  const endpoint = url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:'], 'http://localhost:4318');
  const hasMetrics = metricsPort !== undefined || metricsToken !== undefined;
  const persistedOperations = text('PERSISTED_OPERATIONS');
  const persistedOnly = flag('PERSISTED_ONLY', false);
  if (persistedOnly && persistedOperations === undefined)
    throw new ConfigError('PERSISTED_OPERATIONS is missing: PERSISTED_ONLY demands it');

  return Object.freeze({
    production,
    port: whole('PORT', 8000, 0, 65_535),
    host: text('HOST') ?? '0.0.0.0',
    workers: text('WEB_CONCURRENCY') === 'auto' ? availableParallelism() : whole('WEB_CONCURRENCY', 1, 0, 256),
    workerTimeout,
    databaseUrl,
    listenUrl,
    poolSize: whole('DATABASE_POOL', 10, 1, 1000),
    statementTimeout,
    anonymousTimeout:
      statementTimeout && anonymousTimeout ? Math.min(statementTimeout, anonymousTimeout) : statementTimeout || anonymousTimeout,
    lockTimeout: duration('LOCK_TIMEOUT', 2_000),
    idleTransactionTimeout: duration('IDLE_TRANSACTION_TIMEOUT', 10_000),
    rowSecurity: choice('ROW_SECURITY', ['on', 'required', 'off']),
    queue: { waiting: whole('MAX_WAITING', 200, 1, 1_000_000), ms: duration('MAX_WAIT', 1_500) || Infinity },
    drainNotice,
    maxLag: duration('MAX_LAG', 100),
    dataDir: dataFolder,
    mediaDir: mediaDir === undefined ? join(dataFolder, 'media') : resolve(mediaDir),
    bucket: bucket ?? undefined,
    ownMediaDir: mediaDir !== undefined,
    timeZone,
    tracing: endpoint === undefined ? undefined : { endpoint, service: text('OTEL_SERVICE_NAME') ?? 'fitgraph' },
    metrics: hasMetrics ? { port: metricsPort, host: text('METRICS_HOST') ?? '127.0.0.1', token: metricsToken } : undefined,
    secretKey,
    loginRate,
    // An office or a school has one address, and most of those in it know their passwords.
    loginRateAddress: rate('LOGIN_RATE_ADDRESS', { points: 10 * loginRate.points, seconds: 10 * loginRate.seconds }),
    loginRateTotal: rate('LOGIN_RATE_TOTAL', { points: 100 * loginRate.points, seconds: loginRate.seconds }),
    serverTiming: flag('SERVER_TIMING', !production),
    logLevel,
    maxBody: size('MAX_BODY', 5 * SIZES.mb!),
    maxUpload: size('MAX_UPLOAD', 10 * SIZES.mb!),
    uploadQuota: text('UPLOAD_QUOTA') === 'off' ? Infinity : size('UPLOAD_QUOTA', 200 * SIZES.mb!),
    maxKeys: whole('MAX_KEYS', 10_000, 1, 1_000_000),
    keptAnswers: size('KEPT_ANSWERS', 20 * SIZES.mb!),
    maxAnonymousBody: size('MAX_ANONYMOUS_BODY', 256 * SIZES.kb!),
    imageTimeout: duration('IMAGE_TIMEOUT', 10_000),
    clientTimeout: duration('CLIENT_TIMEOUT', 30_000),
    publicUrl: publicOrigin,
    trustedProxies: (text('TRUSTED_PROXIES') ?? '').split(/[\s,]+/).filter(Boolean),
    tls: cert !== undefined && key !== undefined ? { cert: resolve(cert), key: resolve(key) } : undefined,
    maxTokens: whole('MAX_TOKENS', 50, 1, 1000),
    auditDays: whole('AUDIT_DAYS', 180, 30, 3650),
    hsts: SECONDS_PER_DAY * whole('HSTS_DAYS', 365, 0, 3650),
    securityContact,
    introspection: choice('INTROSPECTION', ['anyone', 'users']),
    graphqlCsrf: flag('GRAPHQL_CSRF', true),
    budget: flag('BUDGET', true)
      ? { user: whole('BUDGET_USER', 100_000, 1, 1_000_000_000), anonymous: whole('BUDGET_ANONYMOUS', 20_000, 1, 1_000_000_000) }
      : undefined,
    maxCost: whole('MAX_COST', 500_000, 1000, 1_000_000_000),
    exportTimeout: duration('EXPORT_TIMEOUT', 10 * DURATIONS.min!),
    maxExports: whole('MAX_EXPORTS', 20, 1, 1000),
    compileOperations: flag('COMPILE_OPERATIONS', true),
    persistedOperations: persistedOperations && resolve(persistedOperations),
    persistedOnly,
  });
}
