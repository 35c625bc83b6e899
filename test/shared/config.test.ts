/** Environment variables: defaults, parsing and error messages. */
import { ConfigError, readConfig } from '../../src/shared/config';
import { ForwardedHeaders } from '../../src/request/forwarded-headers';

const KEY = 'k'.repeat(32);

test('has a default for every environment variable', () => {
  expect(readConfig({})).toMatchObject({
    production: false,
    port: 8000,
    host: '0.0.0.0',
    databaseUrl: undefined,
    timeZone: 'UTC',
    serverTiming: true,
    logLevel: 'info',
    maxBody: 5 * 1024 * 1024,
    statementTimeout: 10_000,
    loginRate: { points: 10, seconds: 60 },
    loginRateAddress: { points: 100, seconds: 600 },
    loginRateTotal: { points: 1000, seconds: 60 },
    trustedProxies: [],
  });
});

test('treats an empty value as missing', () => {
  expect(readConfig({ PORT: '', SECRET_KEY: ' ', TIME_ZONE: '' })).toEqual(readConfig({}));
});

test('limits the timeout of anonymous clients to that of signed-in users', () => {
  const timeouts = (STATEMENT_TIMEOUT: string, ANONYMOUS_TIMEOUT?: string) => {
    const { statementTimeout, anonymousTimeout } = readConfig({
      STATEMENT_TIMEOUT,
      ANONYMOUS_TIMEOUT,
    });

    return [statementTimeout, anonymousTimeout];
  };

  expect(timeouts('1s')).toEqual([1_000, 1_000]);
  expect(timeouts('off')).toEqual([0, 3_000]);
  expect(timeouts('20s', 'off')).toEqual([20_000, 20_000]);
  expect(timeouts('off', 'off')).toEqual([0, 0]);
});

test('parses values with units into a frozen configuration', () => {
  const config = readConfig({
    NODE_ENV: 'production',
    PORT: '9000',
    SECRET_KEY: KEY,
    LOGIN_RATE: '3/h',
    LOGIN_RATE_ADDRESS: '20/10min',
    MAX_BODY: '2 MB',
    STATEMENT_TIMEOUT: '2min',
    MAX_WAITING: '50',
    MAX_WAIT: '2s',
    MAX_LAG: 'off',
    PUBLIC_URL: 'HTTPS://Fit.example.com/',
    TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1',
    DATA_DIR: '/somewhere',
  });

  expect(config).toMatchObject({
    production: true,
    port: 9000,
    secretKey: KEY,
    loginRate: { points: 3, seconds: 3600 },
    loginRateAddress: { points: 20, seconds: 600 },
    loginRateTotal: { points: 300, seconds: 3600 },
    maxBody: 2 * 1024 * 1024,
    statementTimeout: 120_000,
    anonymousTimeout: 3_000,
    queueLimits: { maxQueued: 50, maxWaitMs: 2_000 },
    maxLag: 0,
    publicUrl: 'https://fit.example.com',
    trustedProxies: ['10.0.0.0/8', '127.0.0.1'],
    dataDir: '/somewhere',
    serverTiming: false,
  });
  expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
});

test.each([
  ['https://fit.example.com/', 'https://fit.example.com'],
  ['HTTPS://Example.com:8443/Fitness/', 'https://example.com:8443/Fitness'],
  ['http://example.com/a/b-c', 'http://example.com/a/b-c'],
])('reads PUBLIC_URL=%s as the beginning of links', (value, publicUrl) =>
  expect(readConfig({ PUBLIC_URL: value }).publicUrl).toBe(publicUrl),
);

test.each([
  ['NODE_ENV', 'prod'],
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '80.5'],
  ['DATABASE_URL', 'mysql://localhost/fit'],
  ['DATABASE_URL', 'localhost'],
  ['DATABASE_URL', 'postgres://one:5432,two:port/fit'],
  ['DATABASE_POOL', '0'],
  ['STATEMENT_TIMEOUT', '10'],
  ['ANONYMOUS_TIMEOUT', '3'],
  ['MAX_WAITING', '0'],
  ['MAX_WAIT', 'long'],
  ['MAX_LAG', '100'],
  ['TIME_ZONE', 'Mars/Olympus'],
  ['SECRET_KEY', 'too short'],
  ['LOG_LEVEL', 'loud'],
  ['LOGIN_RATE', 'often'],
  ['LOGIN_RATE', '3/fortnight'],
  ['LOGIN_RATE_ADDRESS', '20/10'],
  ['SERVER_TIMING', 'yes'],
  ['GRAPHQL_CSRF', 'maybe'],
  ['COMPILE_OPERATIONS', 'sometimes'],
  ['INTROSPECTION', 'nobody'],
  ['PERSISTED_ONLY', 'perhaps'],
  ['MAX_BODY', 'big'],
  ['MAX_BODY', '5 furlongs'],
  ['MAX_UPLOAD', '-5'],
  ['MAX_ANONYMOUS_BODY', 'little'],
  ['CLIENT_TIMEOUT', 'soon'],
  ['IMAGE_TIMEOUT', '10 minutes'],
  ['UPLOAD_QUOTA', 'plenty'],
  ['KEPT_ANSWERS', 'some'],
  ['PUBLIC_URL', 'fit.example.com'],
  ['PUBLIC_URL', 'ftp://fit.example.com'],
  ['PUBLIC_URL', 'https://fit.example.com/a%20b'],
  ['PUBLIC_URL', 'https://fit.example.com/a//b'],
  ['PUBLIC_URL', 'https://fit.example.com/a#b'],
  ['MAX_JPEG_MEGAPIXELS', '0'],
])('rejects %s=%s in one line that names the variable', (name, value) => {
  const read = () => readConfig({ [name]: value });

  expect(read).toThrow(ConfigError);
  expect(read).toThrow(new RegExp(`^${name}\\b[^\\n]*$`));
});

test('does not repeat a rejected secret key in the message', () => {
  expect(() => readConfig({ SECRET_KEY: 'hush' })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('hush') }),
  );
});

test('requires a secret key in production', () => {
  expect(() => readConfig({ NODE_ENV: 'production' })).toThrow(/^SECRET_KEY is missing/);
  expect(readConfig({ NODE_ENV: 'production', SECRET_KEY: KEY }).production).toBe(true);
});

test('requires DATABASE_URL when DATABASE_LISTEN_URL is set', () => {
  const url = 'postgres://elsewhere/fit';

  expect(() => readConfig({ DATABASE_LISTEN_URL: url })).toThrow(/^DATABASE_URL is missing/);
  expect(
    readConfig({ DATABASE_LISTEN_URL: url, DATABASE_URL: url, SECRET_KEY: KEY }).databaseUrl,
  ).toBe(url);
});

test('requires PERSISTED_OPERATIONS when PERSISTED_ONLY is on', () => {
  expect(() => readConfig({ PERSISTED_ONLY: 'true' })).toThrow(/^PERSISTED_OPERATIONS is missing/);
  expect(readConfig({ PERSISTED_ONLY: 'true', PERSISTED_OPERATIONS: '/somewhere' })).toMatchObject({
    persistedOnly: true,
    persistedOperations: '/somewhere',
  });
});

describe('a server behind proxies', () => {
  const request = (remoteAddress: string, headers: Record<string, string> = {}) =>
    ({ socket: { remoteAddress }, headers: { host: 'inside:8000', ...headers } }) as never;
  const origin = (environment: Record<string, string>) =>
    new ForwardedHeaders(readConfig(environment));
  const forwarded = {
    'x-forwarded-for': '6.6.6.6, 1.2.3.4, 10.0.0.2',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'fit.example.com',
  };

  test('takes the last forwarded address that is not a trusted proxy as the client address', () => {
    const trusting = origin({ TRUSTED_PROXIES: '10.0.0.0/8' });

    expect(trusting.clientAddress(request('10.0.0.1', forwarded))).toBe('1.2.3.4');
    expect(trusting.clientAddress(request('::ffff:10.0.0.1', forwarded))).toBe('1.2.3.4');
    expect(trusting.clientAddress(request('9.9.9.9', forwarded))).toBe('9.9.9.9');
    expect(trusting.clientAddress(request('10.0.0.1', { 'x-forwarded-for': 'unknown' }))).toBe(
      '10.0.0.1',
    );
    expect(origin({}).clientAddress(request('10.0.0.1', forwarded))).toBe('10.0.0.1');
  });

  test('builds links from the headers of trusted proxies only', () => {
    const trusting = origin({ TRUSTED_PROXIES: '10.0.0.0/8' });

    expect(trusting.baseUrl(request('10.0.0.1', forwarded))).toBe('https://fit.example.com');
    expect(trusting.baseUrl(request('9.9.9.9', forwarded))).toBe('http://inside:8000');
    expect(origin({ PUBLIC_URL: 'https://fit.example.com' }).baseUrl(request('9.9.9.9'))).toBe(
      'https://fit.example.com',
    );
  });

  test('does not use an invalid Host header in links', () => {
    expect(origin({}).baseUrl(request('9.9.9.9', { host: 'evil.example/"><script>' }))).toBe(
      'http://localhost:8000',
    );
  });

  test('rejects a trusted proxy that is not an address', () => {
    expect(() => origin({ TRUSTED_PROXIES: 'proxy.local' })).toThrow(/^TRUSTED_PROXIES/);
    expect(() => origin({ TRUSTED_PROXIES: '10.0.0.0/x' })).toThrow(/^TRUSTED_PROXIES/);
  });
});
