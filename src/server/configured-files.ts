/**
 * Validates settings that name files (data folder, TLS certificate and key), and the trusted
 * proxies.
 */
import { checkDataDir } from '../database/data-dir';
import { ForwardedHeaders } from '../request/forwarded-headers';
import type { Config } from '../shared/config';
import { readTls } from './tls';

/** Checks configured files and TRUSTED_PROXIES before anything is started. Throws a ConfigError. */
export function validateConfiguredFiles(config: Config): ForwardedHeaders {
  checkDataDir(config.dataDir);
  if (config.tls) readTls(config.tls);

  return new ForwardedHeaders(config);
}
