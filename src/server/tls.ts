/**
 * TLS certificate and key of the HTTPS server. They are validated at startup and reloaded when the
 * files change.
 */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext, type Server } from 'node:tls';
import type { Logger } from 'pino';
import { ConfigError, type Config } from '../shared/config';

type TlsPaths = NonNullable<Config['tls']>;

/**
 * Interval at which certificate and key are polled. Watching would miss a renewal that only
 * replaces the target of a symbolic link.
 */
const POLL_INTERVAL_MS = 2_000;

interface TlsFiles {
  cert: Buffer;
  key: Buffer;
}

export function readTls(paths: TlsPaths): TlsFiles {
  const cert = readSettingFile('TLS_CERT', paths.cert);
  const key = readSettingFile('TLS_KEY', paths.key);
  const certificate = parsePemFile('TLS_CERT', 'a certificate', () => new X509Certificate(cert));
  const privateKey: KeyObject = parsePemFile('TLS_KEY', 'a private key without a passphrase', () =>
    createPrivateKey(key),
  );

  if (!certificate.checkPrivateKey(privateKey)) {
    throw new ConfigError('TLS_KEY does not match the certificate in TLS_CERT');
  }

  try {
    // Finds problems that only OpenSSL detects, for example that the key is too short.
    createSecureContext({ cert, key });
  } catch (error) {
    throw new ConfigError(`TLS_CERT: ${(error as Error).message}`);
  }

  return { cert, key };
}

/**
 * Polls the files and uses a renewed certificate for new connections, unless it is invalid. Returns
 * a function that stops polling.
 */
export function watchTls(paths: TlsPaths, server: Server, log: Logger): () => void {
  const reload = () => {
    try {
      server.setSecureContext(readTls(paths));
      log.info('the certificate was renewed');
    } catch (error) {
      log.warn(
        { err: error },
        'the certificate or its key changed but cannot be used; keeping the previous one',
      );
    }
  };

  const files = Object.values(paths);

  for (const file of files) {
    watchFile(file, { interval: POLL_INTERVAL_MS, persistent: false }, reload);
  }

  return () => files.forEach((file) => unwatchFile(file, reload));
}

function readSettingFile(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}`);
  }
}

function parsePemFile<T>(name: string, contentDescription: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new ConfigError(`${name} must be the path of a PEM file with ${contentDescription}`);
  }
}
