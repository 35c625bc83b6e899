/** The certificate and key that https is served with, read and tried before anything starts. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ConfigError, type Config } from './config';

export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
}

export function readTls(paths: NonNullable<Config['tls']>): TlsFiles {
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
