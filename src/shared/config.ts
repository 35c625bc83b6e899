/**
 * Configuration from environment variables, validated at start. No other file reads the
 * environment.
 */
import { join } from 'node:path';
import { parseBucketUrl } from './bucket';
import { ConfigError, throwInvalidSetting } from './setting-parsers';
import { EXAMPLE_BUCKET_URL, readSettings, type EnvironmentVariables } from './settings';

export { ConfigError } from './setting-parsers';

export type { EnvironmentVariables } from './settings';

export type Config = ReturnType<typeof readConfig>;

export const readEnvironment = (): EnvironmentVariables => process.env;

const SECONDS_PER_DAY = 24 * 60 * 60;

/**
 * Whether unexpected errors are printed with their stack trace. Independent of `readConfig`,
 * because the configuration may be invalid.
 */
export const printsStackTraces = (): boolean => process.env.LOG_LEVEL === 'debug';

const missingSettingError = (name: string, dependentSetting: string) =>
  new ConfigError(`${name} is missing: ${dependentSetting} requires it`);

/** The shorter of two timeouts, of which 0 means none. */
const shorterTimeout = (a: number, b: number) => (a && b ? Math.min(a, b) : a || b);

function readTlsPaths(cert: string | undefined, key: string | undefined) {
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert === undefined && key === undefined) return undefined;
  const [missingName, presentName] =
    cert === undefined ? ['TLS_CERT', 'TLS_KEY'] : ['TLS_KEY', 'TLS_CERT'];

  throw new ConfigError(`${missingName} is missing: it is required with ${presentName}`);
}

function readBucket(
  mediaUrl: string | undefined,
  endpoint: string | undefined,
  variables: EnvironmentVariables,
) {
  if (mediaUrl === undefined) return undefined;

  return (
    parseBucketUrl(mediaUrl, endpoint, (name) => variables[name]?.trim() || undefined) ??
    throwInvalidSetting('MEDIA_URL', `a URL such as ${EXAMPLE_BUCKET_URL}`, mediaUrl)
  );
}

/** Parses and validates all settings. Throws a ConfigError for the first invalid one. */
export function readConfig(variables: EnvironmentVariables = process.env) {
  const {
    nodeEnv,
    maxQueued,
    maxWait,
    mediaDir,
    mediaUrl,
    mediaEndpoint,
    metricsPort,
    metricsHost,
    metricsToken,
    tracesEndpoint,
    tracesService,
    tlsCert,
    tlsKey,
    hstsDays,
    budget,
    budgetUser,
    budgetAnonymous,
    ...settings
  } = readSettings(variables);
  const {
    databaseUrl,
    listenUrl,
    statementTimeout,
    anonymousTimeout,
    loginRate,
    persistedOperations,
    persistedOnly,
    oidcIssuer,
    oidcClientId,
    oidcClientSecret,
    authProxyHeader,
    trustedProxies,
  } = settings;
  const production = nodeEnv === 'production';
  const metrics = { port: metricsPort, host: metricsHost, token: metricsToken };
  const servesMetrics = metricsPort !== undefined || metricsToken !== undefined;

  if (production && !settings.secretKey) {
    throw missingSettingError('SECRET_KEY', 'NODE_ENV=production');
  }

  if (listenUrl !== undefined && databaseUrl === undefined) {
    throw missingSettingError('DATABASE_URL', 'DATABASE_LISTEN_URL');
  }

  if (persistedOnly && persistedOperations === undefined) {
    throw missingSettingError('PERSISTED_OPERATIONS', 'PERSISTED_ONLY');
  }

  if (oidcIssuer !== undefined && !(oidcClientId && oidcClientSecret)) {
    throw missingSettingError('OIDC_CLIENT_ID or OIDC_CLIENT_SECRET', 'OIDC_ISSUER');
  }

  if (authProxyHeader !== undefined && !trustedProxies.length) {
    throw missingSettingError('TRUSTED_PROXIES', 'AUTH_PROXY_HEADER');
  }

  if (mediaUrl !== undefined && mediaDir !== undefined) {
    throw new ConfigError('MEDIA_URL and MEDIA_DIR cannot both be set');
  }

  return Object.freeze({
    ...settings,
    production,

    /** Name of the OpenID Connect provider, if there is one. */
    oidcLabel: oidcIssuer && settings.oidcLabel,

    /**
     * Whether the first start creates the demo account: only with the embedded database, and not in
     * production.
     */
    createsDemoAccount: databaseUrl === undefined && !production,
    anonymousTimeout: shorterTimeout(statementTimeout, anonymousTimeout),
    queueLimits: { maxQueued, maxWaitMs: maxWait || Infinity },
    mediaDir: mediaDir ?? join(settings.dataDir, 'media'),

    /** Whether the operator has set MEDIA_DIR, a folder that several instances may share. */
    isMediaDirSet: mediaDir !== undefined,
    bucket: readBucket(mediaUrl, mediaEndpoint, variables),
    // By default, an address may make ten times as many sign-in attempts in a burst as one user
    // name, because an office or a school shares one address.
    loginRateAddress: settings.loginRateAddress ?? {
      points: 10 * loginRate.points,
      seconds: 10 * loginRate.seconds,
    },
    loginRateTotal: settings.loginRateTotal ?? {
      points: 100 * loginRate.points,
      seconds: loginRate.seconds,
    },
    serverTiming: settings.serverTiming ?? !production,
    metrics: servesMetrics ? metrics : undefined,
    tracing: tracesEndpoint ? { endpoint: tracesEndpoint, service: tracesService } : undefined,

    /** Paths of the TLS certificate and its key; plain HTTP without them. */
    tls: readTlsPaths(tlsCert, tlsKey),

    /** `max-age` of Strict-Transport-Security (HSTS) in seconds; 0 disables the header. */
    hstsMaxAge: SECONDS_PER_DAY * hstsDays,

    /** Budgets in cost units per second. */
    budget: budget ? { user: budgetUser, anonymous: budgetAnonymous } : undefined,
  });
}
