/** HTTPS with TLS_CERT and TLS_KEY, and the warning when secrets arrive over plain HTTP. */
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { readConfig } from '../../../src/shared/config';
import { ClearTextWarning } from '../../../src/request/clear-text-warning';
import { ForwardedHeaders } from '../../../src/request/forwarded-headers';
import { serve } from '../../../src/server/serve';
import { readTls } from '../../../src/server/tls';
import { Visitor } from '../../setup/visitor';
import { createDatabase, SECRET_KEY } from '../../setup/databases';
import { Fitgraph, PASSWORD } from '../../setup/fitgraph';
import { until } from '../../setup/waits';

const cert = path.join(__dirname, '../../setup/https/cert.pem');
const key = path.join(__dirname, '../../setup/https/key.pem');

const renewedCert = path.join(__dirname, '../../setup/https/renewed-cert.pem');
const renewedKey = path.join(__dirname, '../../setup/https/renewed-key.pem');

/** Runs `work` against an HTTPS server that has its own copies of the certificate and the key. */
async function withHttpsServer(
  work: (
    base: string,
    files: { cert: string; key: string },
    printed: () => string,
  ) => Promise<void>,
  settings: Record<string, string> = {},
) {
  const { url, drop } = await createDatabase('catalogue');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-https-'));
  const files = { cert: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') };

  fs.copyFileSync(cert, files.cert);
  fs.copyFileSync(key, files.key);
  const stdout = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  const environment = {
    DATABASE_URL: url,
    DATA_DIR: path.join(folder, 'data'),
    SECRET_KEY,
    PORT: '0',
    HOST: 'localhost',
    LOG_LEVEL: 'silent',
    ...settings,
  };
  const server = await serve(
    readConfig({ ...environment, TLS_CERT: files.cert, TLS_KEY: files.key }),
  );

  try {
    await work(`https://localhost:${server.port}`, files, () => stdout.mock.calls.join(''));
  } finally {
    stdout.mockRestore();
    await server.stop();
    await drop();
    fs.rmSync(folder, { recursive: true });
  }
}

it('serves HTTPS, links with https URLs and marks cookies Secure', () =>
  withHttpsServer(async (base, _files, printed) => {
    expect(printed()).toContain(`${base}/playground`);
    const [text, cookie] = await read(`${base}/api/v2/`);

    expect(JSON.parse(text).weightentry).toBe(`${base}/api/v2/weightentry/`);
    expect(cookie).toBeUndefined();
    expect((await read(`${base}/login`))[1]?.[0]).toContain('Secure');
  }));

/**
 * Opens a connection that sends nothing. The returned function says whether the server has closed
 * it.
 */
async function silentConnection(base: string): Promise<() => boolean> {
  const socket = net.connect(Number(new URL(base).port), 'localhost');
  let isClosed = false;

  socket.on('close', () => (isClosed = true)).on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  return () => isClosed;
}

it('closes a connection without a TLS handshake after CLIENT_TIMEOUT', () =>
  withHttpsServer(
    async (base) => {
      const isClosed = await silentConnection(base);

      await until('the server has closed the connection', isClosed);
    },
    { CLIENT_TIMEOUT: '1s' },
  ));

it('serves a renewed certificate without a restart once certificate and key match', () =>
  withHttpsServer(async (base, files) => {
    fs.copyFileSync(renewedKey, files.key);
    await sleep(2 * 2_000);
    await read(`${base}/version`, cert);

    fs.copyFileSync(renewedCert, files.cert);
    const waitUntilRenewed = async (): Promise<unknown> =>
      read(`${base}/version`, renewedCert).catch(() => sleep(200).then(waitUntilRenewed));

    await waitUntilRenewed();
    await expect(read(`${base}/version`, cert)).rejects.toThrow(/self-signed certificate/);
  }));

function read(url: string, trusted = cert): Promise<[string, string[] | undefined]> {
  return new Promise((resolve, reject) => {
    get(url, { ca: fs.readFileSync(trusted), agent: false }, async (response) => {
      let text = '';

      for await (const chunk of response) text += chunk;
      resolve([text, response.headers['set-cookie']]);
    }).on('error', reject);
  });
}

describe('readTls', () => {
  let folder: string;

  const write = (name: string, content: string) => {
    const file = path.join(folder, name);

    fs.writeFileSync(file, content);
    return file;
  };

  beforeAll(() => (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-tls-'))));
  afterAll(() => fs.rmSync(folder, { recursive: true }));

  const pem = { type: 'pkcs8', format: 'pem' } as const;
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;

  it.each<[string, () => { cert: string; key: string }, RegExp]>([
    [
      'a missing certificate file',
      () => ({ cert: '/nowhere.pem', key }),
      /^TLS_CERT: ENOENT.*nowhere\.pem/,
    ],
    ['a missing key file', () => ({ cert, key: '/nowhere.pem' }), /^TLS_KEY: ENOENT.*nowhere\.pem/],
    ['a folder as the certificate', () => ({ cert: folder, key }), /^TLS_CERT: EISDIR/],
    [
      'a certificate file without a certificate',
      () => ({ cert: write('a', 'hello'), key }),
      /^TLS_CERT must be the path of a PEM file with a certificate$/,
    ],
    [
      'an empty key file',
      () => ({ cert, key: write('b', '') }),
      /^TLS_KEY must be the path of a PEM file with a private key without a passphrase$/,
    ],
    [
      'a key with a passphrase',
      () => ({
        cert,
        key: write(
          'c',
          pair()
            .export({ ...pem, cipher: 'aes-256-cbc', passphrase: 'x' })
            .toString(),
        ),
      }),
      /^TLS_KEY must be the path of/,
    ],
    [
      'a swapped certificate and key',
      () => ({ cert: key, key: cert }),
      /^TLS_CERT must be the path of/,
    ],
    [
      'the key of another certificate',
      () => ({ cert, key: write('d', pair().export(pem).toString()) }),
      /^TLS_KEY does not match the certificate/,
    ],
  ])('rejects %s with a message that names the variable', (_name, paths, message) =>
    expect(() => readTls(paths())).toThrow(message),
  );
});

describe('the warning about secrets over plain HTTP', () => {
  const logged: string[] = [];
  const log = pino({}, { write: (line) => void logged.push(line) });
  const exposure = (production: boolean) =>
    new ClearTextWarning(
      { production },
      new ForwardedHeaders({
        trustedProxies: ['10.0.0.1'],
        publicUrl: 'https://fit.example',
        port: 8000,
        authProxyHeader: undefined,
      }),
      log,
    );
  const from = (remoteAddress: string, headers = {}) =>
    ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

  beforeEach(() => {
    logged.length = 0;
    jest.useFakeTimers();
  });
  afterEach(() => void jest.useRealTimers());

  it('is logged at most once a minute', () => {
    const watch = exposure(true);

    watch.warnIfClearText(from('192.0.2.7'));
    jest.advanceTimersByTime(59_000);
    watch.warnIfClearText(from('192.0.2.8'));
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0]!)).toMatchObject({
      level: 40,
      address: '192.0.2.7',
      msg: expect.stringContaining('TLS_CERT'),
    });
    jest.advanceTimersByTime(1_000);
    watch.warnIfClearText(from('192.0.2.8'));
    expect(logged).toHaveLength(2);
  });

  it('is not logged for local clients, HTTPS behind a trusted proxy, or outside production', () => {
    exposure(true).warnIfClearText(from('127.0.0.1'));
    exposure(true).warnIfClearText(
      from('10.0.0.1', { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' }),
    );
    exposure(false).warnIfClearText(from('192.0.2.7'));
    expect(logged).toEqual([]);
    exposure(true).warnIfClearText(
      from('10.0.0.1', { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'http' }),
    );
    expect(logged).toHaveLength(1);
  });
});

it.each<[string, (fitgraph: Fitgraph, headers: Record<string, string>) => Promise<unknown>]>([
  [
    'a token',
    async (fitgraph, headers) =>
      (await fitgraph.user('ann')).withHeaders(headers).get('/weightentry/'),
  ],
  [
    'a password sent over REST',
    (fitgraph, headers) =>
      fitgraph.anonymous
        .withHeaders(headers)
        .post('/login/', { username: 'ann', password: PASSWORD }),
  ],
  [
    'a password sent by the login form',
    async ({ url }, headers) => new Visitor(url, headers).signIn('ann'),
  ],
])('logs one warning without the password when %s arrives over plain HTTP', async (_name, send) => {
  const fitgraph = await Fitgraph.start({
    environment: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1, ::1' },
  });
  const warnings = () => fitgraph.logged.filter((line) => line.includes('plain HTTP'));

  try {
    await send(fitgraph, { 'X-Forwarded-For': '192.0.2.7', 'X-Forwarded-Proto': 'https' });
    await fitgraph.anonymous.withHeaders({ 'X-Forwarded-For': '192.0.2.7' }).get('/exercise/');
    expect(warnings()).toEqual([]);
    await send(fitgraph, { 'X-Forwarded-For': '192.0.2.7' });
    await send(fitgraph, { 'X-Forwarded-For': '192.0.2.7' });
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).not.toContain(PASSWORD);
  } finally {
    await fitgraph.stop();
  }
});
