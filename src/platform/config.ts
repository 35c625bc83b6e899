/** Configuration from environment variables, validated once at start. No other file reads the environment. */
import { join } from 'node:path';
import { parseBucketUrl } from './bucket';
import { ConfigError, throwInvalidSetting } from './settingparsers';
import { EXAMPLE_BUCKET_URL, readSettings, type EnvironmentVariables } from './settings';

export { ConfigError } from './settingparsers';

export type { EnvironmentVariables } from './settings';

export type Config = ReturnType<typeof readConfig>;

export const readEnvironment = (): EnvironmentVariables => process.env;

const SECONDS_PER_DAY = 24 * 60 * 60;

/** Whether unexpected errors are printed with their stack trace. Does not use `readConfig`, because the configuration may be invalid. */
export const showsStackTraces = (variables: EnvironmentVariables = process.env): boolean =>
  variables.LOG_LEVEL === 'debug';

const missingSettingError = (name: string, dependentSetting: string) =>
  new ConfigError(`${name} is missing: ${dependentSetting} requires it`);

function readTlsPaths(cert: string | undefined, key: string | undefined) {
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert === undefined && key === undefined) return undefined;
  const [missingName, presentName] =
    cert === undefined ? ['TLS_CERT', 'TLS_KEY'] : ['TLS_KEY', 'TLS_CERT'];
  throw new ConfigError(`${missingName} is missing: it is required with ${presentName}`);
}

function readBucketLocation(
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
  } = settings;
  const production = nodeEnv === 'production';
  if (production && !settings.secretKey)
    throw missingSettingError('SECRET_KEY', 'NODE_ENV=production');
  if (listenUrl !== undefined && databaseUrl === undefined)
    throw missingSettingError('DATABASE_URL', 'DATABASE_LISTEN_URL');
  if (persistedOnly && persistedOperations === undefined)
    throw missingSettingError('PERSISTED_OPERATIONS', 'PERSISTED_ONLY');
  if (mediaUrl !== undefined && mediaDir !== undefined)
    throw new ConfigError('MEDIA_URL and MEDIA_DIR cannot both be set');
  return Object.freeze({
    ...settings,
    production,
    /** Whether the first start of the server creates the demo account: only with the embedded database, and not in production. */
    createsDemoAccount: databaseUrl === undefined && !production,
    anonymousTimeout:
      statementTimeout && anonymousTimeout
        ? Math.min(statementTimeout, anonymousTimeout)
        : statementTimeout || anonymousTimeout,
    queueLimits: { maxQueued, maxWaitMs: maxWait || Infinity },
    mediaDir: mediaDir ?? join(settings.dataDir, 'media'),
    /** Whether the operator has set `mediaDir`, a folder that several instances may share. */
    ownMediaDir: mediaDir !== undefined,
    bucket: readBucketLocation(mediaUrl, mediaEndpoint, variables),
    // By default, a network address may make ten times as many sign-in attempts in a burst as are allowed for one user name, because an office or a school
    // shares one address.
    loginRateAddress: settings.loginRateAddress ?? {
      points: 10 * loginRate.points,
      seconds: 10 * loginRate.seconds,
    },
    loginRateTotal: settings.loginRateTotal ?? {
      points: 100 * loginRate.points,
      seconds: loginRate.seconds,
    },
    serverTiming: settings.serverTiming ?? !production,
    metrics:
      metricsPort === undefined && metricsToken === undefined
        ? undefined
        : { port: metricsPort, host: metricsHost, token: metricsToken },
    tracing:
      tracesEndpoint === undefined
        ? undefined
        : { endpoint: tracesEndpoint, service: tracesService },
    /** Paths of the TLS certificate and its key; undefined for plain HTTP. */
    tls: readTlsPaths(tlsCert, tlsKey),
    /** `max-age` of Strict-Transport-Security (HSTS) in seconds; 0: header not sent. */
    hsts: SECONDS_PER_DAY * hstsDays,
    /** Rate limit by query cost, in cost units per second. */
    budget: budget ? { user: budgetUser, anonymous: budgetAnonymous } : undefined,
  });
}
