/** TLS certificate and key of the HTTPS server. They are validated before the start, and reloaded without a restart when the files change. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext, type Server } from 'node:tls';
import type { Logger } from 'pino';
import { ConfigError, type Config } from '../platform/config';

type TlsPaths = NonNullable<Config['tls']>;

/** Interval at which the certificate and key files are polled. They are not watched, because a renewal may only replace the target of a symbolic link. */
const POLL_INTERVAL_MS = 2_000;

export interface TlsFiles {
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
  if (!certificate.checkPrivateKey(privateKey))
    throw new ConfigError('TLS_KEY does not match the certificate in TLS_CERT');
  try {
    // Creates a TLS context to detect problems that only OpenSSL finds, for example that the key is too short.
    createSecureContext({ cert, key });
  } catch (error) {
    throw new ConfigError(`TLS_CERT: ${(error as Error).message}`);
  }
  return { cert, key };
}

/**
 * Polls the files and uses a renewed certificate for new connections, unless it is invalid. `currentFiles`: the files that the server uses. Returns a function
 * that stops polling.
 */
export function watchTls(
  paths: TlsPaths,
  currentFiles: TlsFiles,
  server: Pick<Server, 'setSecureContext'>,
  log: Logger,
): () => void {
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
  for (const file of files)
    watchFile(file, { interval: POLL_INTERVAL_MS, persistent: false }, reload);
  // The certificate or key may have changed since the server read them, because its start takes some time. Polling reports later changes only.
  if (!isUnchanged(paths, currentFiles)) reload();
  return () => files.forEach((file) => unwatchFile(file, reload));
}

function isUnchanged(paths: TlsPaths, { cert, key }: TlsFiles): boolean {
  try {
    return cert.equals(readFileSync(paths.cert)) && key.equals(readFileSync(paths.key));
  } catch {
    return false;
  }
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
