/**
 * The settings: environment variables with their defaults, syntax and meaning, from which `npm run
 * docs` generates the table in docs/configuration.md. Durations are in milliseconds, with 0 for
 * `off`; sizes are in bytes.
 */
import { availableParallelism } from 'node:os';
import {
  choiceParser,
  durationParser,
  filePathParser,
  flagParser,
  listParser,
  parserWithKeyword,
  rateLimitParser,
  throwInvalidSetting,
  secretParser,
  sizeParser,
  textParser,
  urlParser,
  parserWithCheck,
  wholeNumberParser,
  type SettingParser,
} from './setting-parsers';
import { resolveTimeZone } from './time-zones';

export type EnvironmentVariables = Record<string, string | undefined>;

export interface Setting<T> {
  readonly name: string;

  /** Default value for docs/configuration.md, in Markdown. */
  readonly shownDefault: string;

  /** Description for docs/configuration.md, in Markdown. */
  readonly meaning: string;

  /** Reads and parses the environment variable. An empty value counts as absent. */
  readonly read: (variables: EnvironmentVariables) => T;
}

export const MIN_SECRET_KEY_LENGTH = 32;

export const EXAMPLE_BUCKET_URL = 's3://bucket/prefix';
const HTTP_PROTOCOLS = ['http:', 'https:'];
const POSTGRES_URL_PARSER = parserWithCheck(
  textParser,
  (value) => /^postgres(?:ql)?:\/\//.test(value) && URL.canParse(value),
  'a URL such as postgres://user:password@host:5432/name',
);
const WORKER_TIMEOUT_PARSER = parserWithCheck(
  durationParser,
  (ms) => ms === 0 || ms >= 1_000,
  'at least 1s, or off',
);
const DRAIN_NOTICE_PARSER = parserWithCheck(durationParser, (ms) => ms <= 5_000, 'at most 5s');
const NODE_ENV_PARSER = parserWithCheck(
  textParser,
  (mode) => ['development', 'production', 'test'].includes(mode),
  'development, production or test',
);
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const LOG_LEVEL_PARSER = parserWithCheck(
  textParser,
  (level) => LOG_LEVELS.includes(level),
  `one of ${LOG_LEVELS.join(', ')}`,
);

const timeZoneParser: SettingParser<string> = (value, name) =>
  resolveTimeZone(textParser(value, name)) ??
  throwInvalidSetting(name, 'a zone of the IANA database such as Europe/Berlin', value);

/** Parses the name of a header to lower case, as Node.js does. */
const headerNameParser = parserWithCheck<string>(
  (value) => value.toLowerCase(),
  (name) => /^[\w-]+$/.test(name),
  'the name of a header such as Remote-User',
);

/** Parses an origin (scheme and host). */
const originParser: SettingParser<string> = (value, name) => {
  const origin = new URL(urlParser(HTTP_PROTOCOLS, 'https://fit.example.com')(value, name)).origin;

  if ([origin, `${origin}/`].includes(value.toLowerCase())) return origin;

  return throwInvalidSetting(name, 'a scheme and a host, such as https://fit.example.com', value);
};

/** A path whose characters need no escaping in URLs, cookies and HTML. */
const BASE_PATH_PATTERN = /^(?:\/[\w.~-]+)*$/;

/** Parses the URL below which the service is, and removes a slash at the end. */
const publicUrlParser: SettingParser<string> = (value, name) => {
  const url = new URL(urlParser(HTTP_PROTOCOLS, 'https://fit.example.com')(value, name));
  const path = url.pathname.replace(/\/$/, '');
  const publicUrl = url.origin + path;

  if (BASE_PATH_PATTERN.test(path) && [publicUrl, `${publicUrl}/`].includes(url.href)) {
    return publicUrl;
  }

  return throwInvalidSetting(
    name,
    'a URL such as https://fit.example.com or https://example.com/fitness',
    value,
  );
};

const originListParser: SettingParser<readonly string[]> = (value, name) =>
  listParser(value, name).map((item) => originParser(item, name));

const defineSetting = <T>(name: string, shownDefault: string, read: Setting<T>['read']) => ({
  describe: (meaning: string): Setting<T> => ({ name, shownDefault, meaning, read }),
});

const setting = <T>(name: string, parse: SettingParser<T>, fallback: string) =>
  defineSetting(name, fallback && `\`${fallback}\``, (variables) =>
    parse(variables[name]?.trim() || fallback, name),
  );

/** Defines a setting without a default, or whose default depends on other settings. */
const optionalSetting = <T>(name: string, parse: SettingParser<T>, shownDefault = '') =>
  defineSetting(name, shownDefault, (variables) => {
    const value = variables[name]?.trim();

    return value ? parse(value, name) : undefined;
  });

/** The settings in the order of docs/configuration.md. */
export const SETTINGS = {
  port: setting('PORT', wholeNumberParser(0, 65_535), '8000').describe(
    'Port to listen on; `0` selects a free one.',
  ),
  host: setting('HOST', textParser, '0.0.0.0').describe('Address to listen on.'),
  workers: setting(
    'WEB_CONCURRENCY',
    parserWithKeyword('auto', availableParallelism(), wholeNumberParser(0, 256)),
    '1',
  ).describe(
    'Number of worker processes; `auto`: one per core; `0`: one process, for debugging. See docs/operating.md#processes.',
  ),
  workerTimeout: setting('WORKER_TIMEOUT', WORKER_TIMEOUT_PARSER, '5s').describe(
    'A worker whose event loop is blocked for this long is killed and replaced (at least `1s`, or `off`).',
  ),
  databaseUrl: optionalSetting('DATABASE_URL', POSTGRES_URL_PARSER).describe(
    '`postgres://user:password@host:5432/name`, PostgreSQL 14 or newer (docs/scaling.md#failover). Default: the embedded PostgreSQL.',
  ),
  listenUrl: optionalSetting('DATABASE_LISTEN_URL', POSTGRES_URL_PARSER).describe(
    'The same database without the pooler, if `DATABASE_URL` leads to one (docs/scaling.md#connection-poolers). Used for LISTEN/NOTIFY and advisory locks.',
  ),
  poolSize: setting('DATABASE_POOL', wholeNumberParser(1, 1000), '15').describe(
    'Connections per worker for reads by anonymous clients, and as many for signed-in users; half as many for writes, a quarter for subscriptions, and five more.',
  ),
  statementTimeout: setting('STATEMENT_TIMEOUT', durationParser, '10s').describe(
    'Maximum time of a statement that reads (`ms`, `s`, `min`, or `off`): `TIMEOUT`, 503. A connection that has not answered a second later is closed.',
  ),
  anonymousTimeout: setting('ANONYMOUS_TIMEOUT', durationParser, '3s').describe(
    'The same for anonymous clients, if shorter.',
  ),
  lockTimeout: setting('LOCK_TIMEOUT', durationParser, '2s').describe(
    'Maximum time a statement waits for a lock (or `off`): 503, nothing was written.',
  ),
  idleTransactionTimeout: setting('IDLE_TRANSACTION_TIMEOUT', durationParser, '10s').describe(
    'A transaction that is idle for this long is ended and its locks are released (or `off`).',
  ),
  rowSecurity: setting('ROW_SECURITY', choiceParser('on', 'required', 'off'), 'on').describe(
    'Row-level security in PostgreSQL: `on` where possible, `required` (no start without it), `off` (docs/security.md#row-level-security).',
  ),
  maxQueued: setting('MAX_WAITING', wholeNumberParser(1, 1_000_000), '200').describe(
    'Maximum number of queued database requests, each for anonymous clients, signed-in users and writes: `OVERLOADED`, 503.',
  ),
  maxWait: setting('MAX_WAIT', durationParser, '1500ms').describe(
    'Maximum time in that queue; writes wait four times as long (a duration, or `off`).',
  ),
  maxLag: setting('MAX_LAG', durationParser, '100ms').describe(
    'Event-loop lag and queueing delay above which new requests are shed, those from anonymous clients first: 503 (or `off`). With up to 16 open requests none is shed.',
  ),
  drainNotice: setting('DRAIN_NOTICE', DRAIN_NOTICE_PARSER, '1s').describe(
    'How long a server that shuts down still accepts connections while `/health/ready` returns 503, so that load balancers notice (at most `5s`).',
  ),
  dataDir: setting('DATA_DIR', filePathParser, '.data').describe(
    'Folder of the embedded database, its key and the media files. A folder with other contents is rejected.',
  ),
  mediaDir: optionalSetting('MEDIA_DIR', filePathParser, '`media` in `DATA_DIR`').describe(
    'Folder of uploaded files. It must exist; several instances share one.',
  ),
  mediaUrl: optionalSetting('MEDIA_URL', urlParser(['s3:'], EXAMPLE_BUCKET_URL)).describe(
    '`s3://bucket/prefix`: stores uploaded files in a bucket. Credentials: `AWS_REGION`, `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or the role of the machine.',
  ),
  mediaEndpoint: optionalSetting(
    'MEDIA_ENDPOINT',
    urlParser(HTTP_PROTOCOLS, 'https://s3.example.com'),
  ).describe('Endpoint of an S3-compatible server other than Amazon S3, e.g. `http://minio:9000`.'),
  timeZone: setting('TIME_ZONE', timeZoneParser, 'UTC').describe(
    'Time zone of the server (IANA name): determines the current day and the offset of timestamps in REST.',
  ),
  secretKey: optionalSetting(
    'SECRET_KEY',
    secretParser(MIN_SECRET_KEY_LENGTH, 32),
    'generated and stored if embedded',
  ).describe(
    `At least ${MIN_SECRET_KEY_LENGTH} characters. Encrypts API keys and signs forms. Required with \`DATABASE_URL\` and in production.`,
  ),
  nodeEnv: setting('NODE_ENV', NODE_ENV_PARSER, 'development').describe(
    '`production` requires `SECRET_KEY`, creates no demo account, hides timings and warns about secrets over plain HTTP.',
  ),
  loginRate: setting('LOGIN_RATE', rateLimitParser, '10/min').describe(
    'Failed sign-ins per address and user name, over all instances. Units: `s`, `min`, `h`.',
  ),
  loginRateAddress: optionalSetting('LOGIN_RATE_ADDRESS', rateLimitParser, '`100/10min`').describe(
    'Failed sign-ins per address (IPv6: /64). Default: 10 times `LOGIN_RATE` in 10 times the period.',
  ),
  loginRateTotal: optionalSetting('LOGIN_RATE_TOTAL', rateLimitParser, '`1000/min`').describe(
    'Failed sign-ins in total. Default: 100 times `LOGIN_RATE`.',
  ),
  oidcIssuer: optionalSetting(
    'OIDC_ISSUER',
    urlParser(HTTP_PROTOCOLS, 'https://id.example.com'),
  ).describe(
    'Issuer URL of an OpenID Connect provider, at which people may sign in (docs/security.md#single-sign-on). Requires `OIDC_CLIENT_ID` and `OIDC_CLIENT_SECRET`.',
  ),
  oidcClientId: optionalSetting('OIDC_CLIENT_ID', textParser).describe(
    'Client id of this server at the provider. Its redirect URI is `PUBLIC_URL` with `/login/provider/callback`.',
  ),
  oidcClientSecret: optionalSetting('OIDC_CLIENT_SECRET', textParser).describe('Client secret.'),
  oidcLabel: setting('OIDC_LABEL', textParser, 'single sign-on').describe(
    'Name of the provider on the button of the sign-in page.',
  ),
  oidcScopes: setting('OIDC_SCOPES', textParser, 'openid email profile').describe(
    'Requested scopes. Some providers send groups only with another one.',
  ),
  oidcGroupsClaim: setting('OIDC_GROUPS_CLAIM', textParser, 'groups').describe(
    'Claim with the groups of a user.',
  ),
  oidcCuratorGroup: optionalSetting('OIDC_CURATOR_GROUP', textParser).describe(
    'Group whose members are curators, and others not. Checked at every sign-in.',
  ),
  oidcSuperuserGroup: optionalSetting('OIDC_SUPERUSER_GROUP', textParser).describe(
    'The same for superusers.',
  ),
  authProxyHeader: optionalSetting('AUTH_PROXY_HEADER', headerNameParser).describe(
    'Header in which a proxy of `TRUSTED_PROXIES` names the user whom it has authenticated, e.g. `Remote-User` (docs/security.md#authentication-by-a-proxy).',
  ),
  serverTiming: optionalSetting('SERVER_TIMING', flagParser, '`on`, `off` in production').describe(
    'Whether responses carry `Server-Timing` with database time and number of statements.',
  ),
  metricsPort: optionalSetting('METRICS_PORT', wholeNumberParser(0, 65_535)).describe(
    'Serves Prometheus metrics at `/metrics` on a separate port (docs/monitoring.md#metrics). Without it and `METRICS_TOKEN` metrics are disabled.',
  ),
  metricsHost: setting('METRICS_HOST', textParser, '127.0.0.1').describe('Address of that port.'),
  metricsToken: optionalSetting('METRICS_TOKEN', secretParser(16, 16)).describe(
    'At least 16 characters, sent as `Authorization: Bearer`. Without `METRICS_PORT` it enables `/metrics` on the main port.',
  ),
  tracesEndpoint: optionalSetting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    urlParser(HTTP_PROTOCOLS, 'http://localhost:4318'),
  ).describe(
    'Collector that receives traces, e.g. `http://collector:4318`; enables them. Further `OTEL_…` settings: docs/monitoring.md#traces.',
  ),
  tracesService: setting('OTEL_SERVICE_NAME', textParser, 'fitgraph').describe(
    'Service name in traces.',
  ),
  logLevel: setting('LOG_LEVEL', LOG_LEVEL_PARSER, 'info').describe(
    '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. Requests are logged at `info`.',
  ),
  maxBody: setting('MAX_BODY', sizeParser, '5MB').describe(
    'Maximum size of a JSON or form body. A form has at most 20 files and 1,000 parts in all.',
  ),
  maxResponseBytes: setting('MAX_RESPONSE_BYTES', sizeParser, '16MB').describe(
    'Maximum size of a GraphQL or REST response: `RESULT_TOO_LARGE`, 400. Exports (`/graphql/export.csv`) may be larger.',
  ),
  resultCache: setting('RESULT_CACHE', parserWithKeyword('off', 0, sizeParser), '32MB').describe(
    'Memory per worker for finished responses to anonymous reads of public rows (or `off`). They are kept until a public row changes.',
  ),
  maxJson: setting('MAX_JSON', sizeParser, '1MB').describe(
    'Maximum size of a GraphQL request in JSON. JSON of either interface has at most 1,000 top-level members and 20,000 values in all.',
  ),
  maxUpload: setting('MAX_UPLOAD', sizeParser, '10MB').describe(
    'Maximum size of an uploaded file. An image has at most 24 megapixels, all frames together, unless it is a baseline JPEG.',
  ),
  maxJpegMegapixels: setting('MAX_JPEG_MEGAPIXELS', wholeNumberParser(1, 1_000), '50').describe(
    'Maximum size of an uploaded baseline JPEG, such as a photo. Above 24 megapixels it is stored with half the width and height, above 96 with a quarter.',
  ),
  maxAnonymousBody: setting('MAX_ANONYMOUS_BODY', sizeParser, '256KB').describe(
    'Maximum size of a body from an anonymous client.',
  ),
  imageTimeout: setting('IMAGE_TIMEOUT', durationParser, '10s').describe(
    'CPU time after which the process that decodes an image is killed and the image rejected (or `off`). An image waits in the queue for up to 1.5 times as ' +
      'long, at least 15 s.',
  ),
  uploadQuota: setting(
    'UPLOAD_QUOTA',
    parserWithKeyword('off', Infinity, sizeParser),
    '200MB',
  ).describe(
    'Maximum size of all images contributed by one user (or `off`). Superusers have no quota.',
  ),
  keptAnswers: setting('KEPT_ANSWERS', sizeParser, '20MB').describe(
    "Responses stored for one user's Idempotency-Keys, at most 512 KB each. Changes with larger responses are not repeated either.",
  ),
  maxKeys: setting('MAX_KEYS', wholeNumberParser(1, 1_000_000), '10000').describe(
    'Idempotency-Keys of one user within 24 hours; more are 429 with `Retry-After`.',
  ),
  clientTimeout: setting('CLIENT_TIMEOUT', durationParser, '30s').describe(
    'Maximum time in which a client neither sends nor receives data. A whole request has ten times as long. Event streams need more than `12s`.',
  ),
  publicUrl: optionalSetting('PUBLIC_URL', publicUrlParser).describe(
    'URL with which all links begin, e.g. `https://fit.example.com`, or with a path (docs/deploying.md#below-a-path). Default: scheme and host of the request.',
  ),
  corsOrigins: setting(
    'CORS_ORIGINS',
    parserWithKeyword<readonly string[] | undefined>('*', undefined, originListParser),
    '*',
  ).describe(
    'Origins whose pages may use REST and GraphQL from the browser, e.g. `https://app.example.com`; `*`: all. With a list, WebSockets from pages of other origins are rejected.',
  ),
  trustedProxies: setting('TRUSTED_PROXIES', listParser, '').describe(
    'Addresses or networks whose `X-Forwarded-…` and `Forwarded` headers are trusted, e.g. `10.0.0.0/8, ::1`. Required behind a proxy: otherwise all anonymous clients share one budget.',
  ),
  tlsCert: optionalSetting('TLS_CERT', filePathParser).describe(
    'Path of a PEM certificate chain; enables HTTPS. Requires `TLS_KEY`. Reloaded when it changes.',
  ),
  tlsKey: optionalSetting('TLS_KEY', filePathParser).describe(
    "Path of the certificate's private key (PEM, no passphrase).",
  ),
  maxTokens: setting('MAX_TOKENS', wholeNumberParser(1, 1000), '50').describe(
    'Access tokens per user.',
  ),
  auditDays: setting('AUDIT_DAYS', wholeNumberParser(30, 3650), '180').describe(
    'Retention of the audit log, at least 30 days.',
  ),
  hstsDays: setting('HSTS_DAYS', wholeNumberParser(0, 3650), '365').describe(
    '`max-age` of `Strict-Transport-Security` for clients that used HTTPS; `0` disables the header.',
  ),
  graphqlCsrf: setting('GRAPHQL_CSRF', flagParser, 'on').describe(
    '`off`: `/graphql` also accepts simple cross-site requests (plain GET). Cookie sessions still require the CSRF token.',
  ),
  introspection: setting('INTROSPECTION', choiceParser('anyone', 'users'), 'anyone').describe(
    '`users`: introspection (`UNAUTHENTICATED`), the playground and suggestions in errors require signing in. The guides and the REST reference stay public.',
  ),
  maxCost: setting('MAX_COST', wholeNumberParser(1000, 1_000_000_000), '500000').describe(
    'Maximum estimated cost of an operation (docs/graphql.md#limits).',
  ),
  budget: setting('BUDGET', flagParser, 'on').describe('`off`: disables budgets.'),
  budgetUser: setting('BUDGET_USER', wholeNumberParser(1, 1_000_000_000), '100000').describe(
    "Cost per second that a user may spend; bursts of up to 100 seconds' worth.",
  ),
  budgetAnonymous: setting(
    'BUDGET_ANONYMOUS',
    wholeNumberParser(1, 1_000_000_000),
    '20000',
  ).describe('The same per address (IPv6: /64) of anonymous clients.'),
  exportTimeout: setting('EXPORT_TIMEOUT', durationParser, '10min').describe(
    'Maximum duration of an export (`/graphql/export.csv`, docs/analysts.md), or `off`.',
  ),
  maxExports: setting('MAX_EXPORTS', wholeNumberParser(1, 1000), '20').describe(
    'Concurrent exports of signed-in users, and as many of anonymous clients; a quarter of them per user or address.',
  ),
  compileOperations: setting('COMPILE_OPERATIONS', flagParser, 'on').describe(
    '`off`: REST operations are executed by graphql-js instead of compiled. Slower, with the same results.',
  ),
  persistedOperations: optionalSetting('PERSISTED_OPERATIONS', filePathParser).describe(
    'Folder of manifests (`*.json`) with trusted documents; see docs/graphql.md#http.',
  ),
  persistedOnly: setting('PERSISTED_ONLY', flagParser, 'off').describe(
    '`on`: `/graphql` accepts trusted documents only. REST is not affected.',
  ),
};

type SettingValues = { [K in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[K]['read']> };

export const readSettings = (variables: EnvironmentVariables) =>
  Object.fromEntries(
    Object.entries(SETTINGS).map(([key, { read }]) => [key, read(variables)]),
  ) as SettingValues;
