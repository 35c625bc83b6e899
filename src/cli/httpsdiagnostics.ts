/** Diagnostics of the connection to clients: TLS certificate and key, and the public URL compared with TLS and proxies. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { ConfigError, type Config } from '../platform/config';
import { readTls } from '../server/tls';
import type { DiagnosticReporter } from './diagnosticreporter';

const MS_PER_DAY = 24 * 60 * 60 * 1000;
const MIN_CERTIFICATE_VALIDITY_DAYS = 14;

export function examineTls({ tls, publicUrl }: Config, report: DiagnosticReporter): void {
  if (!tls) return;
  const topic = 'TLS';
  try {
    const certificate = new X509Certificate(readTls(tls).cert);
    const days = Math.floor((Date.parse(certificate.validTo) - Date.now()) / MS_PER_DAY);
    const text = `the certificate ${days < 0 ? 'expired' : 'is valid until'} ${certificate.validTo}`;
    if (days < 0) report.fail(topic, text, 'renew the certificate in TLS_CERT');
    else if (days < MIN_CERTIFICATE_VALIDITY_DAYS)
      report.warn(topic, text, 'renew the certificate in TLS_CERT');
    else report.ok(topic, text);
    const host = publicUrl && new URL(publicUrl).hostname.replace(/^\[|\]$/g, '');
    if (host && !(isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)))
      report.fail(
        topic,
        `the certificate does not cover ${host}`,
        'correct PUBLIC_URL or TLS_CERT',
      );
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report.fail(
      topic,
      error.message,
      'correct TLS_CERT and TLS_KEY; the server does not start like this',
    );
  }
}

export function examinePublicUrl(
  { publicUrl, trustedProxies, tls, production }: Config,
  report: DiagnosticReporter,
): void {
  const topic = 'Public URL';
  const protocol = publicUrl && new URL(publicUrl).protocol;
  if (protocol === 'https:' && !tls && !trustedProxies.length)
    report.warn(
      topic,
      `${publicUrl} is HTTPS, but the server has neither TLS_CERT nor TRUSTED_PROXIES: it takes all requests for unencrypted, and all clients for the proxy`,
      'set TRUSTED_PROXIES to the address of the proxy',
    );
  else if (protocol === 'http:' && tls)
    report.warn(
      topic,
      `${publicUrl} is HTTP, but TLS_CERT makes the server speak HTTPS`,
      'correct PUBLIC_URL',
    );
  else if (!publicUrl && trustedProxies.length && production)
    report.warn(
      topic,
      'not set: links depend on X-Forwarded-Host and X-Forwarded-Proto of the proxy',
      'set PUBLIC_URL',
    );
  else report.ok(topic, publicUrl ?? 'that of each request');
}
