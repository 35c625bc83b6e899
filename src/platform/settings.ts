/**
 * Settings by subject, parsed from environment variables. Most of the code is specific error messages, so a schema validation library would not
 * make it shorter.
 */
import { availableParallelism } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { IANAZone } from 'luxon';
import { parseBucketUrl } from './bucket';
import type { Config } from './config';
import { ConfigError, type Environment, type Rate } from './environment';

/** Minimum length in characters. */
export const MIN_SECRET_KEY = 32;
const MIN_METRICS_TOKEN_LENGTH = 16;
/** A smaller limit could not be enforced, because replication lag is measured periodically and not before each statement. */
export const MIN_REPLICA_LAG_MS = 2_000;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const SECONDS_PER_DAY = 24 * 60 * 60;
const MINUTE_MS = 60_000;
const KB = 1024;
const MB = 1024 * KB;
const HTTP_PROTOCOLS = ['http:', 'https:'];

export function waiting(env: Environment) {
  const workerTimeout = env.duration('WORKER_TIMEOUT', 5_000);
  if (workerTimeout > 0 && workerTimeout < 1_000) env.fail('WORKER_TIMEOUT', 'at least 1s, or off');
  const drainNotice = env.duration('DRAIN_NOTICE', 1_000);
  if (drainNotice > 5_000) env.fail('DRAIN_NOTICE', 'at most 5s');
  return { workerTimeout, drainNotice } satisfies Partial<Config>;
}

export function installation(env: Environment) {
  const name = env.text('NODE_ENV') ?? 'development';
  if (!['development', 'production', 'test'].includes(name)) env.fail('NODE_ENV', 'development, production or test');
  const production = name === 'production';
  const timeZone = env.text('TIME_ZONE') ?? 'UTC';
  if (!IANAZone.isValidZone(timeZone)) env.fail('TIME_ZONE', 'a zone of the IANA database such as Europe/Berlin');
  const secretKey = env.text('SECRET_KEY');
  if (secretKey !== undefined && secretKey.length < MIN_SECRET_KEY)
    throw new ConfigError(`SECRET_KEY must have at least ${MIN_SECRET_KEY} characters (for example the output of: openssl rand -hex 32)`);
  if (production && !secretKey) throw new ConfigError('SECRET_KEY is missing: NODE_ENV=production demands it');
  const logLevel = env.text('LOG_LEVEL') ?? 'info';
  if (!LOG_LEVELS.includes(logLevel)) env.fail('LOG_LEVEL', `one of ${LOG_LEVELS.join(', ')}`);
  return { production, timeZone, secretKey, logLevel } satisfies Partial<Config>;
}

export function statements(env: Environment) {
  const statementTimeout = env.duration('STATEMENT_TIMEOUT', 10_000);
  const anonymous = env.duration('ANONYMOUS_TIMEOUT', 3_000);
  const anonymousTimeout = statementTimeout && anonymous ? Math.min(statementTimeout, anonymous) : statementTimeout || anonymous;
  return { statementTimeout, anonymousTimeout } satisfies Partial<Config>;
}

export function databases(env: Environment) {
  const postgresUrl = (name: string) => env.url(name, ['postgres:', 'postgresql:'], 'postgres://user:password@host:5432/name');
  const [databaseUrl, listenUrl] = [postgresUrl('DATABASE_URL'), postgresUrl('DATABASE_LISTEN_URL')];
  if (listenUrl !== undefined && databaseUrl === undefined)
    throw new ConfigError('DATABASE_URL is missing: DATABASE_LISTEN_URL demands it');
  const replicaUrl = postgresUrl('DATABASE_REPLICA_URL');
  if (replicaUrl !== undefined && databaseUrl === undefined)
    throw new ConfigError('DATABASE_URL is missing: DATABASE_REPLICA_URL demands it');
  const replicaLag = env.duration('DATABASE_REPLICA_LAG', 5_000);
  if (replicaLag < MIN_REPLICA_LAG_MS) env.fail('DATABASE_REPLICA_LAG', `a duration of ${MIN_REPLICA_LAG_MS / 1_000}s or more`);
  return { databaseUrl, listenUrl, replicaUrl, replicaLag } satisfies Partial<Config>;
}

export function files(env: Environment) {
  const folder = env.text('DATA_DIR') ?? '.data';
  const dataDir = isAbsolute(folder) ? folder : resolve(folder);
  const mediaDir = env.text('MEDIA_DIR');
  const mediaUrl = env.url('MEDIA_URL', ['s3:'], 's3://bucket/prefix');
  if (mediaUrl !== undefined && mediaDir !== undefined) throw new ConfigError('MEDIA_URL and MEDIA_DIR cannot both be set');
  const mediaEndpoint = env.url('MEDIA_ENDPOINT', HTTP_PROTOCOLS, 'https://s3.example.com');
  const bucket = mediaUrl === undefined ? undefined : parseBucketUrl(mediaUrl, mediaEndpoint, (name) => env.text(name));
  return {
    dataDir,
    mediaDir: mediaDir === undefined ? join(dataDir, 'media') : resolve(mediaDir),
    bucket: bucket === null ? env.fail('MEDIA_URL', 'a URL such as s3://bucket/prefix') : bucket,
    ownMediaDir: mediaDir !== undefined,
  } satisfies Partial<Config>;
}

export function publicOrigin(env: Environment): string | undefined {
  const url = env.url('PUBLIC_URL', HTTP_PROTOCOLS, 'https://fit.example.com');
  const origin = url && new URL(url).origin;
  // Only an origin is accepted, because the setting is the prefix of every link.
  if (url !== undefined && ![origin, `${origin}/`].includes(url.toLowerCase()))
    env.fail('PUBLIC_URL', 'a scheme and a host, such as https://fit.example.com');
  return origin;
}

export function tls(env: Environment): Config['tls'] {
  const [cert, key] = [env.text('TLS_CERT'), env.text('TLS_KEY')];
  if (cert !== undefined && key !== undefined) return { cert: resolve(cert), key: resolve(key) };
  if (cert === undefined && key === undefined) return undefined;
  const [missingName, presentName] = cert === undefined ? ['TLS_CERT', 'TLS_KEY'] : ['TLS_KEY', 'TLS_CERT'];
  throw new ConfigError(`${missingName} is missing: it is needed with ${presentName}`);
}

export function metrics(env: Environment): Config['metrics'] {
  const token = env.text('METRICS_TOKEN');
  if (token !== undefined && token.length < MIN_METRICS_TOKEN_LENGTH)
    throw new ConfigError(
      `METRICS_TOKEN must have at least ${MIN_METRICS_TOKEN_LENGTH} characters (for example the output of: openssl rand -hex 16)`,
    );
  const port = env.text('METRICS_PORT') === undefined ? undefined : env.whole('METRICS_PORT', 0, 0, 65_535);
  if (port === undefined && token === undefined) return undefined;
  return { port, host: env.text('METRICS_HOST') ?? '127.0.0.1', token };
}

export function tracing(env: Environment): Config['tracing'] {
  const endpoint = env.url('OTEL_EXPORTER_OTLP_ENDPOINT', HTTP_PROTOCOLS, 'http://localhost:4318');
  return endpoint === undefined ? undefined : { endpoint, service: env.text('OTEL_SERVICE_NAME') ?? 'fitgraph' };
}

export function trustedDocuments(env: Environment) {
  const folder = env.text('PERSISTED_OPERATIONS');
  const persistedOnly = env.flag('PERSISTED_ONLY', false);
  if (persistedOnly && folder === undefined) throw new ConfigError('PERSISTED_OPERATIONS is missing: PERSISTED_ONLY demands it');
  return { persistedOperations: folder && resolve(folder), persistedOnly } satisfies Partial<Config>;
}

export const listening = (env: Environment) =>
  ({
    port: env.whole('PORT', 8000, 0, 65_535),
    host: env.text('HOST') ?? '0.0.0.0',
    workers: env.text('WEB_CONCURRENCY') === 'auto' ? availableParallelism() : env.whole('WEB_CONCURRENCY', 1, 0, 256),
    trustedProxies: (env.text('TRUSTED_PROXIES') ?? '').split(/[\s,]+/).filter(Boolean),
  }) satisfies Partial<Config>;

export const connections = (env: Environment) =>
  ({
    poolSize: env.whole('DATABASE_POOL', 10, 1, 1000),
    lockTimeout: env.duration('LOCK_TIMEOUT', 2_000),
    idleTransactionTimeout: env.duration('IDLE_TRANSACTION_TIMEOUT', 10_000),
    rowSecurity: env.choice('ROW_SECURITY', ['on', 'required', 'off']),
    queue: { maxQueued: env.whole('MAX_WAITING', 200, 1, 1_000_000), maxWaitMs: env.duration('MAX_WAIT', 1_500) || Infinity },
  }) satisfies Partial<Config>;

export const loginRates = (env: Environment, loginRate: Rate) =>
  ({
    loginRate,
    // Higher than LOGIN_RATE, because an office or a school shares one address.
    loginRateAddress: env.rate('LOGIN_RATE_ADDRESS', { points: 10 * loginRate.points, seconds: 10 * loginRate.seconds }),
    loginRateTotal: env.rate('LOGIN_RATE_TOTAL', { points: 100 * loginRate.points, seconds: loginRate.seconds }),
  }) satisfies Partial<Config>;

export const requests = (env: Environment) =>
  ({
    maxBody: env.size('MAX_BODY', 5 * MB),
    maxJson: env.size('MAX_JSON', MB),
    maxUpload: env.size('MAX_UPLOAD', 10 * MB),
    maxResponse: env.size('MAX_RESPONSE_BYTES', 16 * MB),
    uploadQuota: env.text('UPLOAD_QUOTA') === 'off' ? Infinity : env.size('UPLOAD_QUOTA', 200 * MB),
    maxKeys: env.whole('MAX_KEYS', 10_000, 1, 1_000_000),
    keptAnswers: env.size('KEPT_ANSWERS', 20 * MB),
    maxAnonymousBody: env.size('MAX_ANONYMOUS_BODY', 256 * KB),
    imageTimeout: env.duration('IMAGE_TIMEOUT', 10_000),
    clientTimeout: env.duration('CLIENT_TIMEOUT', 30_000),
  }) satisfies Partial<Config>;

export const security = (env: Environment) =>
  ({
    maxTokens: env.whole('MAX_TOKENS', 50, 1, 1000),
    auditDays: env.whole('AUDIT_DAYS', 180, 30, 3650),
    hsts: SECONDS_PER_DAY * env.whole('HSTS_DAYS', 365, 0, 3650),
    introspection: env.choice('INTROSPECTION', ['anyone', 'users']),
    graphqlCsrf: env.flag('GRAPHQL_CSRF', true),
  }) satisfies Partial<Config>;

export const operations = (env: Environment) =>
  ({
    budget: env.flag('BUDGET', true)
      ? {
          user: env.whole('BUDGET_USER', 100_000, 1, 1_000_000_000),
          anonymous: env.whole('BUDGET_ANONYMOUS', 20_000, 1, 1_000_000_000),
        }
      : undefined,
    maxCost: env.whole('MAX_COST', 500_000, 1000, 1_000_000_000),
  }) satisfies Partial<Config>;

export const exporting = (env: Environment) =>
  ({
    exportTimeout: env.duration('EXPORT_TIMEOUT', 10 * MINUTE_MS),
    maxExports: env.whole('MAX_EXPORTS', 20, 1, 1000),
  }) satisfies Partial<Config>;
