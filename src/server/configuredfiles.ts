/** Validation of the settings that `readConfig` does not check completely: data folder, TLS certificate and key, trusted proxies. */
import { checkDataDir } from '../database/datadir';
import { ForwardedHeaders } from '../request/forwardedheaders';
import type { Config } from '../platform/config';
import { readTls, type TlsFiles } from './tls';

/** Throws a ConfigError if a configured file or folder cannot be used, or if TRUSTED_PROXIES is invalid. Call this before anything is started. */
export function validateConfiguredFiles(config: Config): {
  forwardedHeaders: ForwardedHeaders;
  tls?: TlsFiles;
} {
  checkDataDir(config.dataDir);
  return { forwardedHeaders: new ForwardedHeaders(config), tls: config.tls && readTls(config.tls) };
}
