/** The certificate and key that https is served with, read and tried before anything starts, and again when they are renewed. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext, type Server } from 'node:tls';
import type { Logger } from 'pino';
import { ConfigError, type Config } from '../platform/config';

type Paths = NonNullable<Config['tls']>;

/** How often the files are looked at. Being asked, they may also be links that lead elsewhere after a renewal. */
const LOOK_MS = 2_000;

export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
}

export function readTls(paths: Paths): TlsFiles {
  const cert = read('TLS_CERT', paths.cert);
  const key = read('TLS_KEY', paths.key);
  const certificate = parse('TLS_CERT', 'a certificate', () => new X509Certificate(cert));
  const privateKey: KeyObject = parse('TLS_KEY', 'a private key without a passphrase', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) throw new ConfigError('TLS_KEY does not belong to the certificate of TLS_CERT');
  try {
    // What else there is to say against them, such as a key too short for today's standards.
    createSecureContext({ cert, key });
  } catch (error) {
    throw new ConfigError(`TLS_CERT: ${(error as Error).message}`);
  }
  return { cert, key };
}

/** New connections get what the files hold once they change. What cannot be used is logged, and what was served before goes on. */
export function followTls(paths: Paths, server: Pick<Server, 'setSecureContext'>, log: Logger): () => void {
  const renew = () => {
    try {
      server.setSecureContext(readTls(paths));
      log.info('the certificate was renewed');
    } catch (error) {
      log.warn({ err: error }, 'the certificate or its key changed and cannot be used; the one before is kept');
    }
  };
  const files = Object.values(paths);
  for (const file of files) watchFile(file, { interval: LOOK_MS, persistent: false }, renew);
  return () => files.forEach((file) => unwatchFile(file, renew));
}

function read(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}`);
  }
}

function parse<T>(name: string, what: string, make: () => T): T {
  try {
    return make();
  } catch {
    throw new ConfigError(`${name} must name a PEM file with ${what}`);
  }
}
