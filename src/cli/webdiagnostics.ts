/** Diagnostics of the connection to clients: TLS certificate and key, and the public URL compared with TLS and proxies. */
import { X509Certificate } from 'node:crypto';
import type { Config } from '../platform/config';
import { ConfigError } from '../platform/config';
import { readTls } from '../server/tls';
import type { Note } from './finding';

const MS_PER_DAY = 24 * 60 * 60 * 1000;
const MIN_VALID_DAYS = 14;

export function examineTls({ tls, publicUrl }: Config, note: Note): void {
  if (!tls) return;
  const about = 'TLS';
  try {
    const certificate = new X509Certificate(readTls(tls).cert);
    const days = Math.floor((Date.parse(certificate.validTo) - Date.now()) / MS_PER_DAY);
    const said = `the certificate ${days < 0 ? 'expired' : 'is valid until'} ${certificate.validTo}`;
    if (days < MIN_VALID_DAYS) note({ state: days < 0 ? 'failure' : 'warning', about, said, advice: 'renew the certificate in TLS_CERT' });
    else note({ state: 'ok', about, said });
    const host = publicUrl && new URL(publicUrl).hostname;
    if (host && !certificate.checkHost(host))
      note({ state: 'failure', about, said: `the certificate does not cover ${host}`, advice: 'correct PUBLIC_URL or TLS_CERT' });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    note({ state: 'failure', about, said: error.message, advice: 'correct TLS_CERT and TLS_KEY; the server does not start like this' });
  }
}

/** Compares PUBLIC_URL with the way in which requests arrive. */
export function examineProxies({ publicUrl, trustedProxies, tls, production }: Config, note: Note): void {
  const about = 'Public URL';
  const protocol = publicUrl && new URL(publicUrl).protocol;
  if (protocol === 'https:' && !tls && !trustedProxies.length)
    return note({
      state: 'warning',
      about,
      said: `${publicUrl} is HTTPS, but the server has neither TLS_CERT nor TRUSTED_PROXIES: it takes all requests for unencrypted, and all clients for the proxy`,
      advice: 'set TRUSTED_PROXIES to the address of the proxy',
    });
  if (protocol === 'http:' && tls)
    return note({
      state: 'warning',
      about,
      said: `${publicUrl} is HTTP, but TLS_CERT makes the server speak HTTPS`,
      advice: 'correct PUBLIC_URL',
    });
  if (!publicUrl && trustedProxies.length && production)
    return note({
      state: 'warning',
      about,
      said: 'not set: links depend on X-Forwarded-Host and X-Forwarded-Proto of the proxy',
      advice: 'set PUBLIC_URL',
    });
  note({ state: 'ok', about, said: publicUrl ?? 'that of each request' });
}
